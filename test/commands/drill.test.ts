import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { OperationError } from '../../src/control/operation-error.ts';
import { temporaryFolder } from '../folder.ts';
import { pluck } from '../pluck.ts';
import { type AdminService, adminService, callCli, SPEED } from './harness.ts';

const run = (url: string, ...more: string[]): string[] => {
  return ['drill', 'run', 'canary', '--domain', 'goods', '--reason', 'rehearsal', '--admin', url, ...more];
};
const only = async ({ operations }: AdminService) => {
  const [summary] = (await operations.drills.list()).drills;
  assert.ok(summary !== undefined);
  return summary;
};

// Concurrent, because each test has its own service and its drills take seconds.
describe('the drill command', { concurrency: 3 }, () => {
  test('at a terminal the operator sees the dry run, is asked, follows the drill to its end and reads its result', async (t) => {
    const service = await adminService(t);
    const { code, out, err, questions } = await callCli(run(service.url), { answers: ['y'] });
    assert.equal(code, 0);
    assert.deepEqual(questions, ['Run canary on goods? [y/N] ']);
    assert.match(
      err,
      /^canary: One key in a hundred\ngoods: 1 %, at least 10 s\n {2}control .*\n {2}stage 1 .*\ndrop 1 % of goods\n/,
    );
    assert.match(err, /0:03 min {2}goods: Stage 1: 1 % \(stage 1 of 1; 100 of 10,000 buckets, 1 % of the keys\)\n/);
    assert.match(err, /\[K +0:\d\d min {2}goods stage 1\/1 \w+ {2}hits \d\d.*, control .* {2}engine /);
    assert.match(err, /goods: ◆ Cache restored: The cache has recovered\.\n/);
    assert.ok(err.endsWith('\r\u001b[K'), 'the line is wiped');
    assert.match(out, /passed: Every stage held[\s\S]*1 % +82\.6 % +10 % +72 % +87\.9 % +3 s +20\/s\n/);
    assert.deepEqual(service.posted('/admin/drills'), [{ plan: 'canary', domains: ['goods'], reason: 'rehearsal' }]);
  });

  test('a drill that is not confirmed is not started', async (t) => {
    const service = await adminService(t);
    const { code, out } = await callCli(run(service.url), { answers: ['no'] });
    assert.deepEqual([code, out, service.posted('/admin/drills')], [3, '', []]);
    assert.equal((await callCli(run(service.url))).code, 64, 'a script needs --yes');
  });

  test('a script reads one line of JSON per event, each sample once, and no terminal codes', async (t) => {
    const { url } = await adminService(t);
    const { code, lines, err } = await callCli(run(url, '--yes'));
    assert.deepEqual([code, err], [0, '']);
    const kinds = lines().map(({ kind }) => String(kind));
    assert.deepEqual([...new Set(kinds)], ['preview', 'started', 'mark', 'sample', 'over']);
    const samples = lines().filter(({ kind }) => kind === 'sample');
    const times = samples.map(({ atMs }) => Number(atMs));
    assert.ok(times.length >= 20, `${times.length}`);
    assert.deepEqual(
      times,
      [...new Set(times)].sort((a, b) => a - b),
    );
    const marks = lines().filter(({ kind }) => kind === 'mark');
    assert.deepEqual(pluck(marks, 'mark'), ['phase', 'phase', 'stage', 'recovered', 'phase', 'restored', 'phase']);
    const { journal } = lines().at(-1) as { journal: { verdict: { kind: string } } };
    assert.equal(journal.verdict.kind, 'passed');
  });

  test('a stopped command aborts the drill, waits until it is over, and exits with 2', async (t) => {
    const service = await adminService(t);
    const stop = new AbortController();
    const words = run(service.url).with(2, '1-5-25-100');
    const { code, out, err } = await callCli(words, {
      answers: ['y'],
      signal: stop.signal,
      onWrite: (text) => {
        if (text.includes('stage 1 of 4')) stop.abort(new Error('stopped by SIGINT'));
      },
    });
    assert.equal(code, 2);
    assert.match(
      err,
      /aborting the drill; the cache is being restored\n[\s\S]*the cache is restored; waiting for the last/,
    );
    assert.match(
      out,
      /aborted: It was aborted by ana@desk from 127\.0\.0\.1\.[\s\S]*go on with it: serpcache drill resume/,
    );
    const { id, running } = await only(service);
    assert.equal(running, false);
    assert.deepEqual(service.posted(`/admin/drills/${id}/abort`).length, 1);
  });

  test('--detach leaves the drill running; watch follows the running drill, and leaves it running when stopped', async (t) => {
    const service = await adminService(t);
    const { url } = service;
    // Its clock stands until the first watcher has left.
    service.runAt(0);
    const started = (await callCli(run(url, '--yes', '--detach'))).lines().at(-1);
    assert.equal(started?.['kind'], 'started');
    assert.equal((await only(service)).running, true);
    const stop = new AbortController();
    const stopAtOnce = () => stop.abort(new Error('stopped by SIGINT'));
    const watched = await callCli(['drill', 'watch', '--admin', url], {
      answers: [],
      signal: stop.signal,
      onWrite: stopAtOnce,
    });
    assert.equal(watched.code, 3);
    const { id, running } = await only(service);
    assert.equal(running, true);
    assert.match(watched.err, new RegExp(`${id} goes on; end it: serpcache drill abort ${id}`));
    service.runAt(SPEED);
    const ended = await callCli(['drill', 'watch', '--admin', url], { answers: [] });
    assert.deepEqual([ended.code, service.posted(`/admin/drills/${id}/abort`)], [0, []]);
  });

  test('abort ends the running drill; status, list and report show its end; resume continues it', async (t) => {
    const service = await adminService(t);
    const at = ['--admin', service.url];
    const none = await callCli(['drill', 'abort', ...at]);
    assert.deepEqual([none.code, none.err], [3, 'serpcache drill abort: no drill runs now\n']);
    // Its clock stands until the drill is aborted.
    service.runAt(0);
    await callCli(run(service.url, '--yes', '--detach'));
    const { id } = await only(service);
    const running = await callCli(['drill', 'status', ...at], { answers: [] });
    assert.match(running.out, /goods: \w+, stage 1 of 1/);
    const aborted = await callCli(['drill', 'abort', ...at], { answers: [] });
    assert.equal(aborted.out, `${id} is aborted, and the cache restored\n`);
    const list = await callCli(['drill', 'list', ...at], { answers: [] });
    assert.match(list.out, new RegExp(`^id .*verdict\n${id} .* aborted\n$`));
    const unreadable = [{ id: 'bad', where: '/var/drills/bad.json', why: '/marks/0 must be object' }];
    const { drills } = service.operations;
    const listDrills = drills.list;
    Object.assign(drills, { list: async () => ({ ...(await listDrills()), unreadable }) });
    const damaged = await callCli(['drill', 'list', ...at], { answers: [] });
    assert.match(damaged.out, / aborted\nunreadable bad, in \/var\/drills\/bad.json: \/marks\/0 must be object\n$/);
    const report = await callCli(['drill', 'report', ...at], { answers: [] });
    assert.match(report.out, /aborted: It was aborted by ana@desk/);
    const [journal] = (await callCli(['drill', 'report', id, ...at])).lines();
    assert.ok(Array.isArray(journal?.['samples']));
    service.runAt(SPEED);
    const resumed = await callCli(['drill', 'resume', id, '--reason', 'again', '--yes', ...at]);
    assert.equal(resumed.code, 0);
    const again = await callCli(['drill', 'resume', id, '--reason', 'again', '--yes', '--detach', ...at]);
    assert.equal(again.code, 0);
  });

  test('a drill whose process is gone is reported as lost, with exit status 2', async (t) => {
    const service = await adminService(t);
    let nowMs = 0;
    const { code, err, lines } = await callCli(run(service.url, '--yes'), {
      clock: { wallMs: () => 0, monotonicMs: () => (nowMs += 5000) },
      onWrite: (text) => {
        if (text.includes('"started"')) void service.closeListener();
      },
    });
    assert.equal(code, 2);
    assert.match(err, /no answer from .*; a drill whose process is gone ends by itself\n/);
    assert.match(err, /is lost: no answer .*every process ends it by itself\n$/);
    assert.equal(lines().at(-1)?.['kind'], 'lost');
  });

  test('a drill whose hypothesis already fails is refused, with exit status 3', async (t) => {
    const service = await adminService(t);
    const { drills } = service.operations;
    const start = t.mock.method(drills, 'start', async () => {
      throw new OperationError('hypothesis-failed', 'p99Ms is 900, above 800.');
    });
    const { code, err } = await callCli(run(service.url, '--yes'));
    assert.equal(code, 3);
    assert.match(err, /^serpcache drill run: refused: Hypothesis fails already: p99Ms is 900, above 800\.\n$/m);
    assert.equal(start.mock.callCount(), 1);
  });

  test('an abort that fails is repeated until it succeeds', async (t) => {
    const service = await adminService(t);
    const { drills } = service.operations;
    const { abort } = drills;
    let refusals = 2;
    t.mock.method(drills, 'abort', async (...asked: Parameters<typeof abort>) => {
      refusals -= 1;
      if (refusals >= 0) throw new OperationError('control-unavailable', 'The control store is away.');
      service.runAt(SPEED);
      return abort(...asked);
    });
    const stop = new AbortController();
    const onWrite = (text: string): void => {
      if (!text.includes('"started"')) return;
      // On a busy machine the drill would end before the third try.
      service.runAt(0);
      stop.abort(new Error('stopped by SIGINT'));
    };
    const words = run(service.url, '--yes').with(2, '1-5-25-100');
    const { code, err } = await callCli(words, { signal: stop.signal, onWrite });
    assert.equal(code, 2);
    assert.match(err, /out of reach: The control store is away\.[\s\S]*the cache is restored/);
    assert.equal((await only(service)).verdict?.kind, 'aborted');
  });

  for (const [kind, exit] of [
    ['failed', 1],
    ['not-measured', 2],
    ['refused', 3],
  ] as const) {
    test(`a drill that ended as ${kind} gives exit status ${exit}`, async (t) => {
      const service = await adminService(t);
      const { drills } = service.operations;
      const { journal } = drills;
      const verdict = { kind, detail: 'It was so.' };
      t.mock.method(drills, 'journal', async (id: string) => {
        return { ...(await journal(id)), state: { kind: 'over' as const }, verdict };
      });
      const { code, err } = await callCli(run(service.url, '--yes'));
      assert.equal(code, exit);
      const words = `${kind.replace('-', ' ')}: It was so\\.`;
      assert.match(err, new RegExp(`^serpcache drill run: ${words}\n$`, 'm'));
      const status = await callCli(['drill', 'status', '--admin', service.url], { answers: [] });
      assert.match(status.out, new RegExp(`^${words}$`, 'm'));
    });
  }

  test('the dry run shows the expected searches of each cohort, and the time until there are enough of them', async (t) => {
    const service = await adminService(t);
    const words = ['drill', 'preview', '1-5-25-100', '--domain', 'goods', '--admin', service.url];
    const { code, out } = await callCli(words, { answers: [] });
    assert.equal(code, 0);
    assert.match(out, /^ {2}control +1 % of the keys +about 2\.4 searches\/s +tells something after 8\.3 s$/m);
    assert.match(
      out,
      /^ {2}stage 3 +20 % of the keys +about 48 searches\/s, 240 while it is held +tells something after/m,
    );
  });
});

const PLAN = `name: my-own
title: Half of it
stages:
  - { fraction: 0.5, hold: 5s }
`;

test('a plan in a file is sent whole; its faults are reported with their lines', async (t) => {
  const { url, posted } = await adminService(t);
  const directory = temporaryFolder(t);
  const file = join(directory, 'plan.yaml');
  writeFileSync(file, PLAN);
  const words = ['drill', 'preview', file, '--domain', 'goods', '--admin', url];
  const { code, out, err } = await callCli(words, { answers: [] });
  assert.equal(code, 0, err);
  assert.match(out, /^my-own: Half of it\n[\s\S]*drop 50 % of goods\n/);
  const [{ plan }] = posted('/admin/drills/preview') as [{ plan: { name: string; stages: unknown[] } }];
  assert.equal(plan.name, 'my-own');
  assert.deepEqual(plan.stages, [{ kind: 'fraction', fraction: 0.5, holdMs: 5000 }]);
  writeFileSync(file, PLAN.replace('0.5', '7'));
  const wrong = await callCli(words, { answers: [] });
  assert.equal(wrong.code, 64);
  assert.match(wrong.err, /is not a plan:\n.*fraction \(line 4\): 7; allowed: /);
  assert.equal(posted('/admin/drills/preview').length, 1);
});

test('the ready-made plans are listed with their stages and guards, and a report is written as a page', async (t) => {
  const { url, operations } = await adminService(t);
  const plans = await callCli(['drill', 'plans', '--admin', url], { answers: [] });
  assert.match(plans.out, /^1-5-25-100: In four stages\n {2}baseline .*\n {2}stage 1 +5 s {2}drop 1 % of the keys$/m);
  assert.match(plans.out, /guard {2}p99Ms > 800 ms +for 4 s: rollback/);
  assert.match(plans.out, /the engine is taken for dead/);
  const asked = { plan: 'canary', domains: ['goods'], by: 'test', reason: 'r' };
  const { id } = await operations.drills.start(asked);
  const directory = temporaryFolder(t);
  const file = join(directory, 'report.html');
  const written = await callCli(['drill', 'report', '--out', file, '--admin', url], { answers: [] });
  assert.equal(written.out, `the report of ${id} is in ${file}\n`);
  assert.ok(readFileSync(file, 'utf8').startsWith('<!doctype html>'));
});
