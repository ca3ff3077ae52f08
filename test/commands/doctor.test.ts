import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { printable } from '../../src/commands/terminal.ts';
import { CHECKS } from '../../src/operations/doctor/checks/checks.ts';
import type { Doctor } from '../../src/operations/doctor/create-doctor.ts';
import type { Examination } from '../../src/operations/doctor/doctor.ts';
import type { Report } from '../../src/operations/doctor/report.ts';
import { FOREIGN_KEY } from '../fakes/operations-doctor.ts';
import { temporaryFolder } from '../folder.ts';
import { hostWith } from '../operations/doctor/harness.ts';
import { pluck } from '../pluck.ts';
import { type AdminService, adminService, callCli } from './harness.ts';

const at = (url: string, words: string): string[] => ['doctor', ...words.split(' ').filter(Boolean), '--admin', url];

/** Files that end with the test. @returns the path of a file with this content. */
function fileIn(t: TestContext, name: string, content: string): string {
  const directory = temporaryFolder(t);
  const file = join(directory, name);
  writeFileSync(file, content);
  return file;
}

/** Changes each examination of the service. */
function examining(
  { operations }: AdminService,
  change: (examination: Examination, look: number) => Examination,
): void {
  const { doctor } = operations;
  const { examine } = doctor;
  let looks = 0;
  const changed: Doctor['examine'] = async (options) => {
    looks += 1;
    return change(await examine(options), looks);
  };
  Object.assign(doctor, { examine: changed });
}

const withoutFindings = ({ report, snapshots }: Examination): Examination => ({
  report: { ...report, findings: [], acknowledged: [] },
  snapshots,
});

describe('the doctor command', { concurrency: 3 }, () => {
  test('it shows findings with evidence, rule and advice, then what it could not see; findings above info exit with 1', async (t) => {
    const { url } = await adminService(t);
    const { code, out, err } = await callCli(at(url, ''), { answers: [] });
    assert.equal(code, 1, err);
    assert.match(
      out,
      /^2 warnings, 1 acknowledged\n\nwarning: very large values, 10\.0\.0\.7:6379 \(store of goods\)\n {2}The /,
    );
    assert.match(
      out,
      /\n {2}seen in 3 of 3 windows of 1\.0 s; fires at: a value of .*\n {2}why: .*\n {2}do: Find all: redis-cli /,
    );
    assert.match(out, /\n {2}source: Redis documentation.* \(store-big-keys\)\n/);
    assert.match(
      out,
      /\nacknowledged:\n {2}warning: a cache is kept on disk, .*; accepted until 2099-12-31: a warm start is/,
    );
    assert.match(
      out,
      /\nskipped:\n {2}\d checks are skipped on 10\.0\.0\.7:6379 \(store of goods\): CLIENT LIST is refused: NOPERM /,
    );
    assert.match(out, /\nlooked at:\n {2}store of goods: standalone, 10\.0\.0\.7:6379\n/);
    assert.match(
      out,
      /\nnot looked at: the kernel, network and disks of 10\.0\.0\.7; there: serpcache doctor --host > /,
    );
    assert.match(out, /\n\d+ checks made, \d+ fine, 3 windows of 1 s, 3 s in all\n$/);
    assert.match(err, /^serpcache doctor: 2 warnings, 1 acknowledged\n$/);
  });

  test('a script gets the report as one line of JSON, and exit status 0 without findings above info', async (t) => {
    const service = await adminService(t);
    examining(service, withoutFindings);
    const { code, lines, err } = await callCli(at(service.url, '--window 250ms'));
    assert.deepEqual([code, err, lines().length], [0, '', 1]);
    assert.deepEqual([lines()[0]?.['windowSeconds'], lines()[0]?.['findings']], [0.25, []]);
  });

  test('--only keeps findings, skipped checks and counts of the named checks and areas, and the exit status follows', async (t) => {
    const { url } = await adminService(t);
    const engine = await callCli(at(url, '--only engine,store-hit-ratio'));
    assert.equal(engine.code, 0, engine.err);
    const report = engine.lines()[0] as unknown as Report;
    assert.deepEqual([report.findings, report.acknowledged], [[], []]);
    assert.ok(report.skipped.length > 0);
    for (const { check } of report.skipped) assert.match(check, /^engine-|^store-hit-ratio$/);
    const wanted = CHECKS.filter(({ id, area }) => area === 'engine' || id === 'store-hit-ratio');
    assert.ok(report.checked > 0 && report.checked < wanted.length);
    assert.equal(report.fine, report.checked);
    const one = await callCli(at(url, '--only store-big-keys,store-persistence'));
    assert.equal(one.code, 1);
    const named = one.lines()[0] as unknown as Report;
    assert.deepEqual([named.findings.length, named.acknowledged.length, named.checked, named.fine], [1, 1, 2, 0]);
    assert.ok(named.findings[0]?.evidence.includes(FOREIGN_KEY), 'the words of the service are kept');
  });

  test('a file of accepted findings is joined to what the service accepts', async (t) => {
    const { url } = await adminService(t);
    const entries = [
      { check: 'store-big-keys', reason: 'known', until: '2099-01-01' },
      { check: 'store-policy', subject: '10.0.0.7', reason: 'wanted', until: '2099-01-01' },
      { check: 'store-evictions', reason: 'old', until: '2001-01-01' },
    ];
    const file = fileIn(t, 'accepted.yaml', JSON.stringify(entries));
    const { code, out } = await callCli(['doctor', '--acknowledged', file, '--admin', url], { answers: [] });
    assert.equal(code, 0);
    assert.match(
      out,
      /^! acknowledgement 3: store-evictions was accepted until 2001-01-01, and that day has passed\nhealthy, 3 ack/,
    );
  });

  test('a part of another host is joined, judged with the rest, and its host is no longer unseen', async (t) => {
    const { url } = await adminService(t);
    const wall = Date.parse('2026-11-21T06:00:00Z');
    const snapshots = [0, 1, 2, 3].map((second) =>
      hostWith({
        name: 'cache-7',
        role: 'part',
        addresses: ['10.0.0.7'],
        wallMs: wall + 1000 * second,
        memory: { known: { swappedIn: 900 * second, swappedOut: 0 } },
      }),
    );
    const file = fileIn(t, 'part.json', JSON.stringify({ version: 1, snapshots }));
    const { code, lines } = await callCli(['doctor', '--merge', file, '--admin', url]);
    assert.equal(code, 1);
    const report = lines()[0] as unknown as Report;
    assert.deepEqual([report.looked.hosts, report.looked.unseen], [['web-1', 'cache-7'], []]);
    const found = report.findings.map(({ check, subject }) => `${check} ${subject}`);
    assert.ok(found.includes('host-swap host cache-7'), found.join());
    assert.ok(found.includes('store-big-keys 10.0.0.7:6379 (store of goods)'), found.join());
    assert.ok(JSON.stringify(report.findings).includes(FOREIGN_KEY), 'the words of the service are kept');
  });

  test('--host prints four snapshots of this machine that --merge accepts, and asks nobody', async (t) => {
    const { url, requests } = await adminService(t);
    const part = await callCli(['doctor', '--host', '--window', '200ms'], {
      answers: [],
      env: { SERPCACHE_CONFIG: 'missing' },
    });
    assert.equal(part.code, 0, part.err);
    const [{ version, snapshots }] = part.lines() as unknown as [{ version: number; snapshots: { role: string }[] }];
    assert.deepEqual([version, snapshots.map(({ role }) => role)], [1, ['part', 'part', 'part', 'part']]);
    const file = fileIn(t, 'part.json', part.out);
    assert.equal((await callCli(['doctor', '--merge', file, file, '--admin', url])).code, 1);
    assert.deepEqual(requests(), ['GET /admin/doctor/examination']);
  });

  test('a file that is no part of a host is named, and nothing is asked', async (t) => {
    const { url, requests } = await adminService(t);
    for (const content of ['{}', 'no json', '{"version":2,"snapshots":[]}']) {
      const { code, err } = await callCli(['doctor', '--merge', fileIn(t, 'part.json', content), '--admin', url]);
      assert.equal(code, 64);
      assert.match(err, /^serpcache doctor: --merge \S+part\.json: \S/);
    }
    assert.deepEqual(requests(), []);
  });

  test('--watch looks again until it is stopped, and tells what was raised and cleared', async (t) => {
    const service = await adminService(t);
    examining(service, (examination, look) => (look === 2 ? withoutFindings(examination) : examination));
    const stop = new AbortController();
    let frames = 0;
    const { code, out, err } = await callCli(at(service.url, '--watch'), {
      answers: [],
      signal: stop.signal,
      onWrite: (text) => {
        if (text.startsWith('\u001b[H')) frames += 1;
        if (frames === 3) stop.abort(new Error('stopped by SIGINT'));
      },
    });
    assert.deepEqual([code, frames], [3, 3]);
    assert.match(err, /stopped by SIGINT/);
    const [, , second = '', third = ''] = out.split('\u001b[H\u001b[J');
    assert.match(second, /^healthy\n[\s\S]*\n\S+Z cleared: warning store-big-keys at 10\.0\.0\.7:6379 /);
    assert.match(
      third,
      /\n\S+Z raised: warning store-big-keys at 10\.0\.0\.7:6379 \(store of goods\): The largest values/,
    );
  });

  test('a watching script gets one report per look, and the changes as remarks', async (t) => {
    const service = await adminService(t);
    examining(service, (examination, look) => (look === 1 ? withoutFindings(examination) : examination));
    const stop = new AbortController();
    const { lines, err } = await callCli(at(service.url, '--watch --json'), {
      signal: stop.signal,
      onWrite: (text) => {
        if (text.includes('raised: ')) stop.abort(new Error('stopped by SIGINT'));
      },
    });
    assert.deepEqual(
      lines().map((report) => (report['findings'] as unknown[]).length),
      [0, 2],
    );
    assert.match(err, / raised: warning store-big-keys at /);
  });

  test('--enable shows the commands, asks, and tells what each node did; a refusal exits with 3', async (t) => {
    const { url, posted, audit } = await adminService(t);
    const no = await callCli(at(url, '--enable slowlog'), { answers: ['n'] });
    assert.deepEqual([no.code, posted('/admin/doctor/enable')], [3, []]);
    assert.match(
      no.questions[0] ?? '',
      /^Send to every store node: CONFIG SET slowlog-log-slower-than 10000; CONFIG SET /,
    );
    const yes = await callCli(at(url, '--enable slowlog --reason noon'), { answers: ['y'] });
    assert.equal(yes.code, 3);
    assert.match(yes.out, /^slowlog:\n {2}10\.0\.0\.7:6379: CONFIG SET .*\n {2}10\.0\.0\.8:6379: refused: NOPERM /);
    assert.match(yes.err, /1 of 2 nodes refused/);
    assert.deepEqual(posted('/admin/doctor/enable'), [{ name: 'slowlog', reason: 'noon' }]);
    assert.deepEqual([audit.at(-1)?.action, audit.at(-1)?.reason], ['doctor-enable', 'noon']);
    const unasked = await callCli(at(url, '--enable reset'));
    assert.equal(unasked.code, 64, 'without a terminal it needs --yes');
    assert.equal(posted('/admin/doctor/enable').length, 1);
  });

  test('--list shows every check with its rule and source, and needs neither a service nor a configuration', async () => {
    const env = { SERPCACHE_CONFIG: 'missing.yaml' };
    const { code, out } = await callCli(['doctor', '--list'], { answers: [], env });
    assert.equal(code, 0);
    for (const { id, severity, source } of CHECKS) {
      assert.ok(out.includes(`${id}  ${severity}: `), id);
      assert.ok(out.includes(printable(source)), id);
    }
    const some = await callCli(['doctor', '--list', '--only', 'engine'], { env });
    const [{ checks }] = some.lines() as unknown as [{ checks: { id: string; raises: string }[] }];
    assert.deepEqual(
      pluck(checks, 'id'),
      CHECKS.filter(({ area }) => area === 'engine').map(({ id }) => id),
    );
  });

  test('wrong arguments are told with a name that is near, and exit with 64 before anything is asked', async (t) => {
    const { url, requests } = await adminService(t);
    for (const [words, told] of [
      ['--only stoer', /no check and no area "stoer"; did you mean store\?/],
      ['--only store-eviction', /did you mean store-evictions\?/],
      ['--only qqqqqqqqqqqq', /serpcache doctor --list shows them/],
      ['--only ,', /--only needs a check or an area/],
      ['--enable slow-log', /did you mean slowlog\?/],
      ['--window 100ms', /--window takes a duration such as 500ms or 1s, from 200ms to 15s, not "100ms"/],
      ['--host --merge a', /--host takes no --merge/],
      ['--list --direct', /--list takes no --direct/],
      ['--enable reset --direct', /--enable takes no --direct/],
      ['--watch --bundle a.tar.gz', /--watch takes no --bundle/],
      ['--bundle a.zip', /--bundle takes a name that ends with \.tar\.gz/],
      ['extra', /an argument too many: "extra"/],
    ] as const) {
      const { code, err } = await callCli(at(url, words));
      assert.equal(code, 64, words);
      assert.match(err, told);
    }
    assert.deepEqual(requests(), []);
  });
});

describe('where the doctor looks', { concurrency: 3 }, () => {
  const closed = 'http://127.0.0.1:1';

  test('without a service at the configured address it looks from this machine, and says so', async () => {
    const env = { ADMIN_PORT: '1' };
    // The demo's index need not be built: the swap of this host can be judged everywhere.
    const { code, out } = await callCli(['doctor', '--window', '200ms', '--only', 'service,engine,host-swap'], {
      answers: [],
      env,
    });
    assert.equal(code, 0);
    assert.match(
      out,
      /^! no answer from http:\/\/127\.0\.0\.1:1 \(.*\); .* This machine looked instead, with its own configuration\.\nhealthy\n/,
    );
    assert.match(out, /\n {2}no store is configured: .*\n {2}engine of goods: embedded, SQLite .*\n/);
    assert.match(out, /\n {2}serpcache: no running process, so its own figures were not looked at\n/);
  });

  test('--direct asks no service', async (t) => {
    const { url, requests } = await adminService(t);
    const env = { ADMIN_PORT: new URL(url).port };
    const { code, lines } = await callCli(['doctor', '--direct', '--window', '200ms', '--only', 'host-swap'], {
      env,
    });
    const [report] = lines() as unknown as [Report];
    assert.deepEqual([code, report.looked.service, report.remarks, requests()], [0, false, [], []]);
  });

  test('a service that refuses the token, and one that --admin names and that does not answer, are not replaced', async (t) => {
    const { url } = await adminService(t);
    const refused = await callCli(['doctor'], { env: { ADMIN_PORT: new URL(url).port } });
    assert.deepEqual([refused.code, refused.out], [3, '']);
    assert.match(refused.err, /ADMIN_TOKEN/);
    const named = await callCli(['doctor', '--admin', closed]);
    assert.deepEqual([named.code, named.out], [3, '']);
    assert.match(named.err, /^serpcache doctor: no answer from http:\/\/127\.0\.0\.1:1 /);
  });

  test('when neither a store nor an engine answers, the report is shown and the exit status is 3', async (t) => {
    const file = fileIn(t, 'serpcache.yaml', UNREACHABLE);
    const { code, out, err } = await callCli(['doctor', '--direct', '--window', '200ms'], {
      answers: [],
      env: { SERPCACHE_CONFIG: file },
    });
    assert.equal(code, 3, err);
    assert.match(err, /it could not look: neither a store nor an engine answered/);
    assert.match(out, /\ncritical: a store node does not answer, /);
  });

  test('a wrong configuration is told as such, with its own exit status', async (t) => {
    const file = fileIn(t, 'serpcache.yaml', 'domains: 7');
    const { code, err } = await callCli(['doctor', '--direct'], { env: { SERPCACHE_CONFIG: file } });
    assert.equal(code, 78);
    assert.match(err, /domains/);
  });
});

const UNREACHABLE = `
domains:
  goods:
    store: { kind: standalone, nodes: ["127.0.0.1:1"] }
    engine: { kind: sphinx, host: 127.0.0.1, port: 2, index: goods, idAttribute: doc_id, maxConcurrent: 4 }
`;
