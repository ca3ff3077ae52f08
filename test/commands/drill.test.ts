import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperationRefused } from '../../src/control/operation-error.ts';
import { type AdminService, adminService } from './admin-service.ts';
import { callCli } from './run.ts';

const run = (url: string, ...more: string[]): string[] => {
  return ['drill', 'run', 'canary', '--domain', 'goods', '--reason', 'rehearsal', '--admin', url, ...more];
};
const only = async ({ operations }: AdminService) => {
  const [summary] = (await operations.drills.list()).drills;
  assert.ok(summary !== undefined);
  return summary;
};

// Each has a service of its own, whose drills take seconds.
describe('the drill command', { concurrency: 3 }, () => {
  test('a person sees the dry run, is asked, follows the drill to its end and reads what was learned', async (t) => {
    const service = await adminService(t);
    const { code, out, err, questions } = await callCli(run(service.url), { answers: ['y'] });
    assert.equal(code, 0);
    assert.deepEqual(questions, ['Run canary on goods? [y/N] ']);
    assert.match(
      err,
      /^canary: One key in a hundred\ngoods: 1 %, at least 10 s\n {2}control .*\n {2}stage 1 .*\ndrop 1 % of goods\n/,
    );
    assert.match(err, /0:03 min {2}goods: stage 1 of 1, 1 % \(1 % of the keys\)\n/);
    assert.match(err, /\[K +0:\d\d min {2}goods stage 1\/1 \w+ {2}hits \d\d.*, control .* {2}engine /);
    assert.match(err, /goods: the cache is restored \(finished\)\n/);
    assert.ok(err.endsWith('\r\u001b[K'), 'the line is wiped');
    assert.match(out, /passed: Every stage held[\s\S]*1 % +89 % +11 % +86 % +89 % +4\.2 s +190\/s\n/);
    assert.deepEqual(service.posted('/admin/drills'), [{ plan: 'canary', domains: ['goods'], reason: 'rehearsal' }]);
  });

  test('a drill that is not agreed to is not started', async (t) => {
    const service = await adminService(t);
    const { code, out } = await callCli(run(service.url), { answers: ['no'] });
    assert.deepEqual([code, out, service.posted('/admin/drills')], [3, '', []]);
    assert.equal((await callCli(run(service.url))).code, 64, 'a script needs --yes');
  });

  test('a script reads one line of JSON for each thing that happens, each sample once, and no terminal codes', async (t) => {
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
    assert.deepEqual(
      marks.map(({ mark }) => mark),
      ['phase', 'phase', 'stage', 'phase', 'phase', 'restored'],
    );
    const { journal } = lines().at(-1) as { journal: { verdict: { kind: string } } };
    assert.equal(journal.verdict.kind, 'passed');
  });

  test('being stopped aborts the drill, waits until it is over, and is exit 2', async (t) => {
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

  test('--detach leaves it running; watch follows the one that runs, and leaves it when stopped', async (t) => {
    const service = await adminService(t);
    const { url } = service;
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
    const ended = await callCli(['drill', 'watch', '--admin', url], { answers: [] });
    assert.deepEqual([ended.code, service.posted(`/admin/drills/${id}/abort`)], [0, []]);
  });

  test('abort ends the one that runs; status, list and report tell how it ended; resume goes on with it', async (t) => {
    const service = await adminService(t);
    const at = ['--admin', service.url];
    const none = await callCli(['drill', 'abort', ...at]);
    assert.deepEqual([none.code, none.err], [3, 'serpcache drill abort: no drill runs now\n']);
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
    const resumed = await callCli(['drill', 'resume', id, '--reason', 'again', '--yes', ...at]);
    assert.equal(resumed.code, 0);
    const again = await callCli([
      'drill',
      'resume',
      id,
      '--reason',
      'again',
      '--yes',
      '--admin',
      service.url,
      '--detach',
    ]);
    assert.equal(again.code, 0);
  });

  test('a drill whose process is gone is told as lost, and is exit 2', async (t) => {
    const service = await adminService(t);
    let nowMs = 0;
    const { code, err, lines } = await callCli(run(service.url, '--yes'), {
      clock: { wallMs: () => 0, monotonicMs: () => (nowMs += 5000) },
      onWrite: (text) => {
        if (text.includes('"started"')) void service.goAway();
      },
    });
    assert.equal(code, 2);
    assert.match(err, /no answer from .*; a drill whose process is gone ends by itself\n/);
    assert.match(err, /is lost: no answer .*every process ends it by itself\n$/);
    assert.equal(lines().at(-1)?.['kind'], 'lost');
  });

  test('a hypothesis that fails already is a refused drill: exit 3, not a request that went wrong', async (t) => {
    const service = await adminService(t);
    const { drills } = service.operations;
    const start = t.mock.method(drills, 'start', async () => {
      throw new OperationRefused('hypothesis-failed', 'p99Ms is 900, above 800.');
    });
    const { code, err } = await callCli(run(service.url, '--yes'));
    assert.equal(code, 3);
    assert.match(err, /^serpcache drill run: refused: Hypothesis fails already: p99Ms is 900, above 800\.\n$/m);
    assert.equal(start.mock.callCount(), 1);
  });

  test('an abort that cannot be done now is asked again until it is', async (t) => {
    const service = await adminService(t);
    const { drills } = service.operations;
    const { abort } = drills;
    let refusals = 2;
    t.mock.method(drills, 'abort', async (...asked: Parameters<typeof abort>) => {
      refusals -= 1;
      if (refusals >= 0) throw new OperationRefused('control-unavailable', 'The control store is away.');
      return abort(...asked);
    });
    const stop = new AbortController();
    const onWrite = (text: string) => text.includes('"started"') && stop.abort(new Error('stopped by SIGINT'));
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
    test(`a drill that ended as ${kind} is exit ${exit}`, async (t) => {
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

  test('the dry run tells what each cohort will be asked, and how long it takes to tell anything', async (t) => {
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
