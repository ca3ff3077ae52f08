import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accepts, freePorts, type RunningProcess, startProcess } from '../../loadtest/stack/process.ts';
import { sampleGoods } from '../../loadtest/stack/sphinx.ts';
import { queriesOf } from '../../loadtest/traffic/queries.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';
import { until } from '../until.ts';
import { createOperator, type Operator, startTraffic, type Traffic } from './operator-harness.ts';
import { ask, demoDomains } from './service-harness.ts';

const TOKEN = 'a-token-for-newcomers';
const PLAN = `name: rehearsal
title: Half of the keys, then nearly all
baseline: 1s
holdout: 0.2
stages:
  - { fraction: 0.5, hold: 2s }
  - { fraction: 1, hold: 1s }
guards:
  - { figure: errorRate, max: 0.2, for: 1s, then: rollback }
  - { figure: shedRate, max: 0.5, for: 1s, then: rollback }
recovery: { withinPoints: 40, timeout: 20s }
after: 1s
minSearches: 20
`;

/**
 * One process without a store, with the demo's goods; `first-drill.slow.test.ts` has the whole demo. The tests depend on each
 * other, in order.
 */
describe('a newcomer’s drills', () => {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-newcomer-'));
  const plan = join(directory, 'rehearsal.yaml');
  const endless = join(directory, 'endless.yaml');
  const service = { url: '', adminUrl: '' };
  const texts = queriesOf(sampleGoods(1000).documents, 60).repeated;
  let running: RunningProcess;
  let operator: Operator;
  let traffic: Traffic | undefined;

  before(async () => {
    const [port = 0, adminPort = 0] = await freePorts(2);
    // On a busy machine a late event loop is no reason to shed.
    const config = `public: { maxLoopDelay: 1m }\ndomains:\n${demoDomains('data')}`;
    writeFileSync(join(directory, 'serpcache.yaml'), config);
    Object.assign(service, { url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` });
    running = await startProcess({
      name: 'serpcache',
      command: process.execPath,
      args: [join(import.meta.dirname, '../../src/main.ts')],
      cwd: directory,
      env: { SERPCACHE_CONFIG: 'serpcache.yaml', PORT: `${port}`, ADMIN_PORT: `${adminPort}`, ADMIN_TOKEN: TOKEN },
      logFile: join(directory, 'serpcache.log'),
      ready: () => accepts(port),
    });
    operator = createOperator({ adminUrl: service.adminUrl, token: TOKEN });
    writeFileSync(plan, PLAN);
    writeFileSync(endless, PLAN.replace('name: rehearsal', 'name: endless').replaceAll(/hold: \ds/g, 'hold: 60s'));
  });
  after(async () => {
    await traffic?.stop();
    await running?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const auditFile = (): readonly string[] =>
    readFileSync(join(directory, 'data/audit.ndjson'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');

  test('a refused operation has one clear problem and one audit line, and changes nothing', async () => {
    const other = createOperator({ adminUrl: service.adminUrl, token: 'not-the-token' });
    const none = createOperator({ adminUrl: service.adminUrl, token: undefined });
    const goods = { domain: 'goods' };
    const drill = (change: object): object => ({
      plan: { name: 'own', title: 'Own', stages: [{ kind: 'fraction', fraction: 0.5, holdMs: 1000 }], ...change },
      domains: ['goods'],
      reason: 'test',
    });
    const stage = (fraction: number): object => ({ kind: 'fraction', fraction, holdMs: 1000 });
    const cases: readonly [who: Operator, path: string, body: object, status: number, code: string][] = [
      [operator, '/admin/flush', { domain: 'goods2', mode: 'drop' }, 404, 'unknown-domain'],
      [operator, '/admin/flush', { ...goods, mode: 'drop', fraction: 0 }, 400, 'invalid-fraction'],
      [operator, '/admin/flush', { ...goods, mode: 'drop', fraction: 1.5 }, 400, 'invalid-fraction'],
      [operator, '/admin/flush', { ...goods, mode: 'erase' }, 400, 'reason-required'],
      [operator, '/admin/flush', { ...goods, mode: 'erase', by: 'flushall', reason: 'x' }, 409, 'no-store'],
      [operator, '/admin/drills', { plan: 'no-such', domains: ['goods'], reason: 'x' }, 404, 'unknown-plan'],
      [operator, '/admin/drills', { plan: 'canary', domains: ['goods2'], reason: 'x' }, 404, 'unknown-domain'],
      [operator, '/admin/drills', { plan: 'canary', domains: ['goods'] }, 400, 'reason-required'],
      [operator, '/admin/drills', drill({ stages: [stage(0.5), stage(0.25)] }), 400, 'invalid-plan'],
      [operator, '/admin/drills', drill({ mode: 'erase', eraseBy: 'flushall', stages: [stage(1)] }), 409, 'no-store'],
      [operator, '/admin/suppress', { ...goods, ids: [] }, 400, 'invalid-body'],
      [operator, '/admin/drills/20260101-000000-goods-none-xxxx/abort', {}, 404, 'unknown-drill'],
      [none, '/admin/flush', { ...goods, mode: 'drop' }, 401, 'unauthorized'],
      [other, '/admin/halt', { reason: 'x' }, 401, 'wrong-token'],
    ];
    const before = await operator.control('goods');
    for (const [who, path, body, status, code] of cases) {
      const { length } = auditFileOrNothing();
      const answer = await who.post(path, body);
      const said = `${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`;
      assert.deepEqual([answer.status, answer.body['code']], [status, code], said);
      assert.ok(String(answer.body['detail']).length > 10, said);
      await until(`one line of ${path}`, () => auditFileOrNothing().length > length);
      const added = auditFile()
        .slice(length)
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        added.map(({ result }) => result),
        [code],
        said,
      );
      const [newest] = await operator.audit();
      assert.equal(newest?.result, code, said);
    }
    const { heardMsAgo: _, ...left } = await operator.control('goods');
    assert.deepEqual({ ...left, heardMsAgo: before.heardMsAgo }, before);
    assert.deepEqual((await operator.get<{ drills: unknown[] }>('/admin/drills')).drills, []);
  });

  test('the CLI says what was wrong, and its exit status says the kind of fault', async () => {
    const other = createOperator({ adminUrl: service.adminUrl, token: 'not-the-token' });
    const ends = await Promise.all([
      operator.cli('flush', 'gods', '--mode', 'drop', '--yes'),
      other.cli('halt', '--reason', 'x', '--yes'),
      operator.cli('flush', 'goods', '--mode', 'dorp'),
      operator.cli('drill', 'run', 'canary', '--domain', 'goods', '--yes'),
    ]);
    assert.deepEqual(
      ends.map(({ code }) => code),
      [3, 3, 64, 64],
      JSON.stringify(ends),
    );
    const [unknown, wrong, mode, reason] = ends;
    assert.match(unknown?.err ?? '', /goods/);
    assert.match(wrong?.err ?? '', /token/i);
    assert.match(mode?.err ?? '', /drop/);
    assert.match(reason?.err ?? '', /--reason/);
    assert.ok(
      ends.every(({ err }) => !err.includes('    at ')),
      'no stack is shown',
    );
  });

  test('without traffic the hypothesis refuses the drill before anything is flushed', async () => {
    const end = await operator.cli('drill', 'run', plan, '--domain', 'goods', '--reason', 'no traffic', '--yes');
    assert.equal(end.code, 3, end.err);
    assert.match(end.err, /refused/);
    assert.deepEqual(
      marksOf(end.lines).filter((mark) => mark === 'stage'),
      [],
    );
  });

  test('under load a drill passes, a second one is refused while it runs, and its report can be read', async () => {
    traffic = await startTraffic({ urls: [service.url], domain: 'goods', texts, ratePerSecond: 100 });
    const first = operator.start('drill', 'run', plan, '--domain', 'goods', '--reason', 'rehearsal', '--yes');
    await until('the drill to begin', () => first.lines().some(({ kind }) => kind === 'started'));
    const second = await operator.cli('drill', 'run', 'canary', '--domain', 'goods', '--reason', 'too', '--yes');
    assert.equal(second.code, 3, second.err);
    assert.match(second.err, /A drill is running/);

    const end = await first.ended;
    const over = end.lines.find(({ kind }) => kind === 'over')?.['journal'] as Journal | undefined;
    assert.equal(end.code, 0, `${end.err} ${JSON.stringify(over?.verdict)}`);
    assert.equal(over?.verdict?.kind, 'passed');
    const kinds = new Set(end.lines.map(({ kind }) => kind));
    assert.deepEqual(kinds, new Set(['preview', 'started', 'mark', 'sample', 'over']));
    assert.equal(marksOf(end.lines).filter((mark) => mark === 'stage').length, 2);
    const [learned] = over?.learned ?? [];
    const [half] = learned?.stages ?? [];
    // The size of the loss is random, as the searches are.
    assert.ok((half?.lowest ?? 1) < (half?.before ?? 0), JSON.stringify(learned));

    const id = over?.id ?? '';
    const { drills } = await operator.get<{ drills: readonly { id: string; running: boolean }[] }>('/admin/drills');
    assert.ok(
      drills.some((drill) => drill.id === id && !drill.running),
      JSON.stringify(drills),
    );
    const page = await operator.page(`/admin/drills/${id}/report`);
    const html = await page.text();
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.ok(html.startsWith('<!DOCTYPE html>') && html.includes('<svg') && html.includes('rehearsal'));
    assert.doesNotMatch(html, /(?:src|href)="?https?:/);
    const lines = (await operator.audit()).filter(({ action }) => action.startsWith('drill-'));
    const shown = lines.map(({ action, result }) => `${action} ${result}`);
    assert.deepEqual(shown.slice(0, 3), ['drill-ended passed', 'drill-start drill-running', 'drill-start done']);
    assert.equal(lines[2]?.reason, 'rehearsal');
  });

  test('Ctrl-C while following aborts the drill, and pages that were cached before it are hits at the first request', async () => {
    const planted = texts.slice(0, 20);
    const at = async (text: string): Promise<string> => (await ask(service, text, '&domain=goods&limit=7')).cacheStatus;
    for (const text of planted) await at(text);
    const follow = operator.start('drill', 'run', endless, '--domain', 'goods', '--reason', 'stop me', '--yes');
    await until('the first stage', () => marksOf(follow.lines()).includes('stage'));
    const gone = await Promise.all(planted.slice(0, 10).map(at));
    assert.ok(
      gone.some((status) => status.includes('detail=flushed')),
      gone.join('\n'),
    );
    follow.signal('SIGINT');
    const end = await follow.ended;
    assert.equal(end.code, 2, end.err);
    assert.match(end.err, /aborted/);
    const back = await Promise.all(planted.map(at));
    assert.deepEqual(
      back.filter((status) => !/hit/.test(status)),
      [],
    );
    const refused = traffic?.answers.filter(({ result }) => result === 'broken') ?? [];
    assert.deepEqual(refused, [], 'no search was cut off');
  });

  function auditFileOrNothing(): readonly string[] {
    try {
      return auditFile();
    } catch {
      return [];
    }
  }
});

function marksOf(lines: readonly { readonly [name: string]: unknown }[]): readonly unknown[] {
  return lines.filter(({ kind }) => kind === 'mark').map(({ mark }) => mark);
}
