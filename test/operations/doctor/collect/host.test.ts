import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createHostReader, createNameReader, serversAt } from '../../../../src/operations/doctor/collect/host.ts';
import { type Figure, type HostFacts, known, type ServerFacts } from '../../../../src/operations/doctor/facts.ts';
import { systemClock } from '../../../../src/runtime.ts';
import { createFakeClock } from '../../../fakes/clock.ts';
import { temporaryFolder } from '../../../folder.ts';
import { pluck, rowsOf } from '../../../pluck.ts';

const CLOCK = { wallMs: () => 1_700_000_000_000, monotonicMs: () => performance.now() };
const COSTLY = ['qdiscs', 'intrinsic', 'dns', 'servers'] as const;

/** Missing figures with their reasons. */
function missing(host: HostFacts, names: readonly (keyof HostFacts)[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const figure = host[name] as Figure<unknown>;
      return 'skipped' in figure ? [[name, figure.skipped]] : [];
    }),
  );
}

function readerAt(t: TestContext, files: Readonly<Record<string, string>>) {
  return createHostReader({ role: 'service', clock: CLOCK, root: temporaryFolder(t, files), tc: ['no-such-program'] });
}

test('a cheap reading of this machine has every figure that costs only files', async () => {
  const host = await createHostReader({ role: 'service', clock: CLOCK })('cheap', ['localhost']);
  assert.deepEqual([host.name, host.role, host.wallMs], [hostname(), 'service', CLOCK.wallMs()]);
  assert.ok(host.addresses.includes('127.0.0.1'));
  assert.ok((known(host.memory)?.swappedIn ?? -1) >= 0);
  assert.deepEqual(missing(host, COSTLY), Object.fromEntries(COSTLY.map((name) => [name, 'cheap'])));
});

test('a full reading of this machine measures its timers and its names', async () => {
  const host = await createHostReader({ role: 'part', clock: CLOCK })('full', ['localhost']);
  const { qdiscs, intrinsic, ...others } = missing(host, COSTLY);
  assert.ok(qdiscs === undefined || /tc/.test(qdiscs), `${qdiscs}`);
  assert.deepEqual(others, {});
  // A machine with much else to do may be too slow for it.
  if (intrinsic === undefined) {
    const { medianMs = -1, maxMs = -1, samples = 0 } = known(host.intrinsic) ?? {};
    assert.ok(medianMs >= 0 && maxMs >= medianMs && samples >= 50, `${medianMs} ${maxMs} ${samples}`);
  } else {
    assert.equal(intrinsic, 'its thread did not end in time');
  }
  const [localhost] = known(host.dns) ?? [];
  assert.equal(localhost?.name, 'localhost');
  assert.ok(localhost.problem === undefined && localhost.addresses.length > 0);
  assert.doesNotThrow(() => JSON.parse(JSON.stringify(host)));
});

test('a machine without /proc skips each figure with a reason, and its reading does not fail', async (t) => {
  const host = await readerAt(t, {})('full', []);
  assert.deepEqual(missing(host, ['memory', 'qdiscs', 'dns', 'servers']), {
    memory: 'a figure is missing in /proc/vmstat',
    qdiscs: 'the program tc is missing (package iproute2)',
  });
  assert.deepEqual([known(host.dns), known(host.servers)], [[], []]);
});

test('swapped pages are those of /proc/vmstat, and one that is missing is never a 0', async (t) => {
  const whole = await readerAt(t, { 'proc/vmstat': 'xpswpin 1\npswpin 11\npswpout 22\n' })('cheap', []);
  assert.deepEqual(known(whole.memory), { swappedIn: 11, swappedOut: 22 });
  const half = await readerAt(t, { 'proc/vmstat': 'pswpin 11\n' })('cheap', []);
  assert.deepEqual(half.memory, { skipped: 'a figure is missing in /proc/vmstat' });
});

test('a name of this machine resolves as a connection resolves it, and one that is nowhere tells its problem', async () => {
  const read = createNameReader({ clock: systemClock });
  const [here, nowhere] = await read(['localhost', 'no-such-name.invalid']);
  assert.ok(here !== undefined && nowhere !== undefined);
  assert.ok((here.lookupMs ?? -1) >= 0);
  assert.ok(here.addresses.some((address) => address === '127.0.0.1' || address === '::1'));
  assert.equal(here.problem, undefined);
  assert.deepEqual([nowhere.name, nowhere.lookupMs, nowhere.addresses], ['no-such-name.invalid', undefined, []]);
  assert.match(nowhere.problem ?? '', /^(?:E[A-Z_]+|no answer within \d+ ms)$/);
});

test('the time of a look-up is its own: two run at once, and the others wait unmeasured', async () => {
  const clock = createFakeClock();
  const waiting: (() => void)[] = [];
  const read = createNameReader({
    clock,
    lookup: (name) => new Promise((resolve) => waiting.push(() => resolve([`10.0.0.${name}`]))),
  });
  const reading = read(['1', '2', '3', '4']);
  for (let round = 0; round < 2; round += 1) {
    assert.equal(waiting.length, 2);
    clock.advance(40);
    for (const answer of waiting.splice(0)) answer();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(
    rowsOf(await reading, 'name', 'lookupMs', 'addresses'),
    ['1', '2', '3', '4'].map((name) => [name, 40, [`10.0.0.${name}`]]),
  );
});

test('a look-up without an answer is told after its limit, and is not asked again while it runs', async (t) => {
  // The limit keeps no process alive.
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  let asked = 0;
  let answer = (): void => undefined;
  const read = createNameReader({
    clock: systemClock,
    lookup: () => {
      asked += 1;
      return new Promise((resolve) => {
        answer = () => resolve(['10.0.0.1']);
      });
    },
  });
  assert.deepEqual(await read(['slow']), [{ name: 'slow', addresses: [], problem: 'no answer within 1000 ms' }]);
  const [again] = await read(['slow']);
  assert.deepEqual([again?.problem, asked], ['an earlier look-up has no answer yet', 1]);
  answer();
  await new Promise((resolve) => setImmediate(resolve));
  const reading = read(['slow']);
  answer();
  const [found] = await reading;
  assert.deepEqual([found?.addresses, found?.problem, asked], [['10.0.0.1'], undefined, 2]);
});

test('when the first names take the time of all, the others have no facts instead of a wrong time', async () => {
  const clock = createFakeClock();
  const read = createNameReader({
    clock,
    lookup: async () => {
      await Promise.resolve();
      clock.advance(600);
      return ['10.0.0.1'];
    },
  });
  assert.deepEqual(pluck(await read(['a', 'b', 'c', 'd']), 'name'), ['a', 'b']);
});

test('at most sixteen names are looked up', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `node-${at}.shop`);
  const read = createNameReader({ clock: createFakeClock(), lookup: async () => [] });
  assert.equal((await read(names)).length, 16);
  assert.deepEqual(await read([]), []);
});

const NOW_MS = 1_700_000_000_000;

/** As a report has them: members that are not known are absent. */
async function serversIn(root: string): Promise<readonly ServerFacts[]> {
  return JSON.parse(JSON.stringify(await serversAt(root, NOW_MS)));
}

test('servers are found by their programs, with the port of their title, and other processes are not', async (t) => {
  const root = temporaryFolder(t, {
    'proc/7/cmdline': 'redis-server *:6379 [cluster]\0\0\0',
    'proc/8/cmdline': '/usr/bin/valkey-server 127.0.0.1:6380\0',
    'proc/9/cmdline': 'keydb-server ::1:6381\0',
    'proc/10/cmdline': 'redis-server *:26379 [sentinel]\0',
    'proc/11/cmdline': 'vi\0redis-server.conf\0',
    // The child of a save.
    'proc/12/cmdline': 'redis-rdb-bgsave *:6379\0',
    'proc/13/cmdline': '',
    'proc/self/cmdline': 'redis-server *:6379\0',
    'proc/uptime': '1 1\n',
  });
  const servers = await serversIn(root);
  assert.deepEqual(
    servers.toSorted((a, b) => a.pid - b.pid),
    [
      { program: 'redis-server', pid: 7, port: 6379 },
      { program: 'valkey-server', pid: 8, port: 6380 },
      { program: 'keydb-server', pid: 9, port: 6381 },
    ],
  );
});

test('arguments are not kept: no password of a command line is in the facts', async (t) => {
  const secret = 'hunter2:6379';
  const root = temporaryFolder(t, {
    'proc/7/cmdline': `redis-server\0--requirepass\0${secret}\0--masterauth\0${secret}\0--port\x006390\0`,
    'proc/8/cmdline': `/usr/bin/searchd\0--config\0/nowhere/${secret}.conf\0--password=${secret}\0`,
  });
  const servers = await serversIn(root);
  assert.equal(servers.length, 2);
  assert.ok(!JSON.stringify(servers).includes('hunter2'), JSON.stringify(servers));
});

const CONFIGURATION = `
source goods { type = mysql
  sql_pass = hunter2
}
index goods
{
  source = goods
  path = ROOT/data/goods
}
# index old { path = ROOT/data/old }
index cars : goods {
  path = ROOT/data/cars
}
index all
{
  type = distributed
  local = goods
}
searchd
{
  listen = 127.0.0.1:9312
  listen = 9306:mysql41
  max_children = 40
  pid_file = ROOT/searchd.pid
}
`;

/** A searchd with a configuration whose paths are inside the root folder. */
function searchdRoot(t: TestContext, configuration: string, words: readonly string[] = []): string {
  const root = temporaryFolder(t, { 'data/goods.sph': '', 'data/old.sph': '' });
  writeFileSync(join(root, 'sphinx.conf'), configuration.replaceAll('ROOT', root));
  const asked = words.length === 0 ? ['--config', join(root, 'sphinx.conf')] : words;
  mkdirSync(join(root, 'proc/20'), { recursive: true });
  writeFileSync(join(root, 'proc/20/cmdline'), ['/usr/bin/searchd', ...asked, '--nodetach', ''].join('\0'));
  const seconds = NOW_MS / 1000 - 90;
  utimesSync(join(root, 'data/goods.sph'), seconds, seconds);
  return root;
}

test('a searchd has the port, the limit and the ages of the indexes of its configuration', async (t) => {
  const root = searchdRoot(t, CONFIGURATION);
  assert.deepEqual(await serversIn(root), [
    { program: 'searchd', pid: 20, port: 9306, maxChildren: 40, indexAgeSeconds: { goods: 90 } },
  ]);
});

test('a configuration that is named relatively is in the working folder of the process', async (t) => {
  const root = searchdRoot(t, CONFIGURATION, ['-c', 'sphinx.conf']);
  symlinkSync(root, join(root, 'proc/20/cwd'));
  const [server] = await serversIn(root);
  assert.equal(server?.maxChildren, 40);
});

test('max_children 0 is no limit, and an address before the port is no port', async (t) => {
  const root = searchdRoot(
    t,
    CONFIGURATION.replace('max_children = 40', 'max_children = 0').replace('9306:mysql41', '10.0.0.5:9307:mysql41'),
  );
  const [server] = await serversIn(root);
  assert.deepEqual([server?.port, server?.maxChildren], [9307, undefined]);
});

test('a configuration that is missing, too large or no file leaves the figures out', async (t) => {
  for (const words of [
    ['--config', '/nowhere/sphinx.conf'],
    ['--config', '/dev/zero'],
    ['--config', '/tmp'],
    ['--config'],
  ]) {
    const root = searchdRoot(t, CONFIGURATION, words);
    assert.deepEqual(await serversIn(root), [{ program: 'searchd', pid: 20 }]);
  }
  const large = searchdRoot(t, CONFIGURATION + ' '.repeat(2 ** 20));
  assert.deepEqual(await serversIn(large), [{ program: 'searchd', pid: 20 }]);
});

test('of a host with very many servers the first 64 are kept', async (t) => {
  const files = Array.from({ length: 70 }, (_, at) => [`proc/${100 + at}/cmdline`, `redis-server *:${7000 + at}\0`]);
  assert.equal((await serversIn(temporaryFolder(t, Object.fromEntries(files)))).length, 64);
});
