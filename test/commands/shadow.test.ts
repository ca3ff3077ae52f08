import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../folder.ts';
import { adminService, callCli } from './harness.ts';

const at = (url: string, words: string): string[] => [...words.split(' '), '--admin', url];
const cutOver = (url: string, ...more: string[]): string[] => {
  return ['shadow', 'cut-over', 'goods', '--reason', 'Valkey is ready', '--admin', url, ...more];
};

describe('the shadow command', { concurrency: 3 }, () => {
  test('start sends the defaults and tells how to watch and end the shadow', async (t) => {
    const { url, posted } = await adminService(t);
    const { code, out } = await callCli(at(url, 'shadow start auto --candidate valkey'), { answers: [] });
    assert.equal(code, 0);
    assert.match(out, /^auto: 10 % of the keys are copied to valkey, reads ×1, until 2026-11-22T06:/);
    assert.match(out, /watch it: serpcache shadow status auto --watch\nend it: serpcache shadow stop auto\n$/);
    assert.deepEqual(posted('/admin/shadow'), [
      { domain: 'auto', candidate: 'valkey', fraction: 0.1, reads: 1, hours: 24 },
    ]);
  });

  test('start and set send what is given, in the units of the admin API', async (t) => {
    const { url, posted } = await adminService(t);
    const start = 'shadow start auto --candidate valkey --fraction 0.5 --reads 3 --expires 90m --reason trial';
    assert.equal((await callCli(at(url, start))).code, 0);
    assert.deepEqual(posted('/admin/shadow'), [
      { domain: 'auto', candidate: 'valkey', fraction: 0.5, reads: 3, hours: 1.5, reason: 'trial' },
    ]);
    const set = await callCli(at(url, 'shadow set auto --reads 5'), { answers: [] });
    assert.match(set.out, /^auto: 50 % of the keys are copied to valkey, reads ×5, until /);
    assert.deepEqual(posted('/admin/shadow/change'), [{ domain: 'auto', reads: 5 }]);
    assert.equal((await callCli(at(url, 'shadow start auto --candidate valkey --expires 1m'))).code, 3);
  });

  test('status shows both stores side by side and each criterion; its exit status is the verdict', async (t) => {
    const { url } = await adminService(t);
    const passed = await callCli(at(url, 'shadow status'), { answers: [] });
    assert.equal(passed.code, 0, passed.err);
    assert.match(
      passed.out,
      /^goods: store main\n2 live processes\n\S+-goods-valkey-\S+: 10 % of the keys to valkey, /,
    );
    assert.match(
      passed.out,
      /\n {2}over 10 min 00 s in 2 processes +main +valkey\n {2}Reads per second +[\d.]+\/s +[\d.]+\/s\n {2}Hit ratio /,
    );
    assert.match(
      passed.out,
      /\n {2}values: [\d,]+ compared, .* equal, .* older, .*0 wrong; remaining lives differ by /,
    );
    assert.match(
      passed.out,
      /\ncut over: For 10.min.00.s: the hit ratio .*\n {2}met +Recorded time .*\n {2}met +Compared reads .*\n/,
    );
    const undecided = await callCli(at(url, 'shadow status goods --for 1d'), { answers: [] });
    assert.equal(undecided.code, 2);
    assert.match(undecided.out, /\nundecided: .*\n {2}not measured +Recorded time /);
    assert.match(undecided.err, /^serpcache shadow status: undecided: /);
    await callCli(at(url, 'shadow start auto --candidate keydb --fraction 1 --reason slow'));
    const several = await callCli(at(url, 'shadow status'));
    assert.deepEqual([several.code, several.out], [64, '']);
    assert.match(several.err, /which domain\? shadows run in goods, auto\n/);
  });

  test('status of a slow candidate is negative, with exit status 1 and the body as JSON', async (t) => {
    const service = await adminService(t);
    const { shadows } = service.operations;
    const { status } = shadows;
    const lying: typeof status = async (domain, forMs) => ({
      ...(await status(domain, forMs)),
      verdict: { kind: 'do-not', why: '3 values are wrong.', criteria: [] },
      wrongKeys: ['sc1:goods:{aaa\u001b[2J}'],
    });
    Object.assign(shadows, { status: lying });
    const { code, lines } = await callCli(at(service.url, 'shadow status goods'));
    assert.equal(code, 1);
    assert.deepEqual(lines()[0]?.['verdict'], { kind: 'do-not', why: '3 values are wrong.', criteria: [] });
    const read = await callCli(at(service.url, 'shadow status goods'), { answers: [] });
    assert.match(
      read.out,
      /! wrong values in the candidate:\n {2}sc1:goods:\{aaa·\[2J\}\ndo not cut over: 3 values are/,
    );
  });

  test('without a shadow, status lists the stores of each domain, with exit status 0', async (t) => {
    const { url } = await adminService(t);
    await callCli(at(url, 'shadow stop goods'));
    const { code, out } = await callCli(at(url, 'shadow status'), { answers: [] });
    assert.equal(code, 0);
    assert.match(out, /^domain +store .*\ngoods +main .*valkey, keydb\nauto +main .*\nno shadow runs\n$/);
    const one = await callCli(at(url, 'shadow status auto'), { answers: [] });
    assert.deepEqual([one.code, one.out], [0, 'auto: store main\n2 live processes\nno shadow runs\n']);
  });

  test('a watched status is shown until the shadow ends', async (t) => {
    const { url, requests } = await adminService(t);
    let shown = 0;
    const { code, out, err } = await callCli(at(url, 'shadow status goods --watch'), {
      answers: [],
      onWrite: (text) => {
        if (!text.includes('cut over: ')) return;
        shown += 1;
        if (shown === 1) void callCli(at(url, 'shadow stop goods'));
      },
    });
    assert.equal(code, 0);
    assert.ok(shown >= 1);
    assert.ok(err.startsWith('\u001b[H\u001b[Jgoods: store main\n'));
    assert.match(out, /no shadow runs\n$/);
    const asked = requests().filter((what) => what === 'GET /admin/shadow/status');
    assert.equal(asked.length, shown + 1, 'it ends with the first status without a shadow');
  });

  test('a watch that is stopped leaves the shadow running, and exits with 3', async (t) => {
    const { url, operations } = await adminService(t);
    const stop = new AbortController();
    const { code, err } = await callCli(at(url, 'shadow status goods --watch'), {
      answers: [],
      signal: stop.signal,
      onWrite: () => stop.abort(new Error('stopped by SIGINT')),
    });
    assert.equal(code, 3);
    assert.match(err, /stopped by SIGINT\n$/);
    assert.notEqual(operations.shadows.list()[0]?.shadow, undefined);
  });

  test('a cut-over shows the verdict, wants the name of the domain, and prints the configuration to change', async (t) => {
    const { url, posted } = await adminService(t);
    const { code, out, err, questions } = await callCli(cutOver(url), { answers: ['goods'] });
    assert.equal(code, 0, err);
    assert.deepEqual(questions, ['Cut goods over from main to valkey? Type goods to go on: ']);
    assert.match(err, /cut over: For 10.min.00.s: the hit ratio /);
    assert.match(
      out,
      /^goods: valkey is the store, main is still read and written; prepared for 480 ms\n2 live processes\n/,
    );
    assert.match(
      out,
      /change the configuration of every process:\n {2}domains:\n {4}- name: goods\n {6}store: valkey\n/,
    );
    assert.match(out, /the way back: serpcache shadow back goods --reason …\n/);
    assert.deepEqual(posted('/admin/shadow/cut-over'), [{ domain: 'goods', force: false, reason: 'Valkey is ready' }]);
  });

  test('a cut-over that is not confirmed, or whose verdict is not favourable, is not sent', async (t) => {
    const { url, posted } = await adminService(t);
    assert.equal((await callCli(cutOver(url), { answers: ['y'] })).code, 3);
    assert.equal((await callCli(cutOver(url))).code, 64, 'a script needs --yes');
    const early = await callCli(cutOver(url, '--for', '1d'), { answers: ['goods'] });
    assert.deepEqual([early.code, early.questions], [3, []]);
    assert.match(early.err, /the verdict is not favourable, nothing was done; --force cuts over all the same\n$/);
    const none = await callCli(cutOver(url).with(2, 'auto'), { answers: ['auto'] });
    assert.match(none.err, /no shadow runs in auto, nothing was done\n$/);
    assert.deepEqual(posted('/admin/shadow/cut-over'), []);
    const script = await callCli(cutOver(url, '--for', '1d', '--yes'));
    assert.equal(script.code, 3);
    assert.match(script.err, /The verdict is not favourable: /);
    const forced = await callCli(cutOver(url, '--for', '1d', '--yes', '--force'));
    assert.equal(forced.code, 0);
    assert.deepEqual(posted('/admin/shadow/cut-over').at(-1), {
      ...{ domain: 'goods', force: true, for: 86_400, reason: 'Valkey is ready' },
    });
  });

  test('back returns to the old store; stop asks only when the way back ends with it', async (t) => {
    const { url, posted } = await adminService(t);
    await callCli(cutOver(url, '--yes'));
    const refused = await callCli(at(url, 'shadow stop goods'), { answers: ['no'] });
    assert.deepEqual([refused.code, posted('/admin/shadow/stop')], [3, []]);
    assert.deepEqual(refused.questions, ['Use main no longer? goods stays on valkey, and the way back ends. [y/N] ']);
    const back = await callCli(at(url, 'shadow back goods --reason slower'), { answers: ['y'] });
    assert.match(back.out, /^goods: main is the store, valkey is still read and written; /);
    const settled = await callCli(at(url, 'shadow stop goods --yes'), { answers: [] });
    assert.match(settled.out, /^goods: the old store is no longer used\n/);
    await callCli(at(url, 'shadow start auto --candidate valkey'));
    const ended = await callCli(at(url, 'shadow stop auto'), { answers: [] });
    assert.deepEqual([ended.code, ended.questions], [0, []]);
    assert.match(ended.out, /^auto: the shadow has ended\nits report: serpcache shadow report (\S+) --out \1\.html\n$/);
  });

  test('reports are listed, shown and written to a file', async (t) => {
    const { url } = await adminService(t);
    const listed = await callCli(at(url, 'shadow report'), { answers: [] });
    const [, id = ''] = /^id .*verdict\n(\S+) +goods +main → keydb .* do not cut over\n$/.exec(listed.out) ?? [];
    assert.notEqual(id, '', listed.out);
    const shown = await callCli(at(url, `shadow report ${id}`), { answers: [] });
    assert.match(
      shown.out,
      /goods: main → keydb\nstarted .* by ana from 127\.0\.0\.1; took 30 min 00 s; stopped by ana/,
    );
    assert.match(shown.out, / {2}missed +p99 of reads /);
    const [report] = (await callCli(at(url, `shadow report ${id}`))).lines();
    assert.ok(Array.isArray(report?.['samples']));
    const directory = temporaryFolder(t);
    const file = join(directory, 'report.html');
    assert.equal((await callCli(at(url, `shadow report ${id} --out ${file}`))).code, 0);
    assert.match(readFileSync(file, 'utf8'), /^<!doctype html>/);
    const unknown = await callCli(at(url, 'shadow report nope'));
    assert.equal(unknown.code, 3);
    assert.match(unknown.err, /Unknown report: /);
  });
});

test('wrong arguments of the shadow command are refused before any request is sent', async (t) => {
  const { url, requests } = await adminService(t);
  for (const [words, said] of [
    ['shadow', /shadow what\? start, set, status, report, cut-over, back, stop/],
    ['shadow strat', /did you mean start\?/],
    ['shadow start auto', /a shadow needs a candidate: --candidate NAME/],
    ['shadow start auto --candidate v --reads 6', /--reads takes a whole number from 1 to 5, not "6"/],
    [
      'shadow start auto --candidate v --expires 5',
      /--expires takes a duration such as 90s, .* from 1m to 30d, not "5"/,
    ],
    ['shadow start auto --candidate v --expires 31d', /--expires takes a duration/],
    ['shadow set auto', /what changes\? --fraction or --reads/],
    ['shadow status goods --for 9s', /--for takes a duration .* from 10s to 1d in whole seconds, not "9s"/],
    ['shadow status goods --for 10500ms', /--for takes a duration/],
    ['shadow report --out x.html', /which report goes into the file\? name its id/],
    ['shadow cut-over goods --yes', /a cut-over needs a reason: --reason TEXT/],
    ['shadow cut-over goods --yes --force', /a cut-over needs a reason/],
    ['shadow back goods --yes', /the way back needs a reason/],
    ['shadow back goods --reason x', /this needs --yes/],
    ['shadow stop', /an argument is missing/],
  ] as const) {
    const { code, out, err } = await callCli(
      words === 'shadow' || words === 'shadow strat' ? words.split(' ') : at(url, words),
    );
    assert.deepEqual([code, out], [64, ''], `${words}: ${err}`);
    assert.match(err, said, words);
  }
  assert.deepEqual(requests(), []);
});
