import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { hostname, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createHostReader } from '../../../../src/operations/doctor/collect/host.ts';
import { type Figure, type HostFacts, known } from '../../../../src/operations/doctor/facts.ts';

const CLOCK = { wallMs: () => 1_700_000_000_000, monotonicMs: () => performance.now() };
const CHEAP_PARTS = ['cpu', 'throttling', 'memory', 'tcp', 'interfaces', 'descriptors', 'kernel'] as const;
const COSTLY_PARTS = ['qdiscs', 'sockets', 'intrinsic', 'dns', 'servers'] as const;

/** Paths of missing parts with their reasons. */
function missing(host: HostFacts, names: readonly (keyof HostFacts)[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const part = host[name] as Figure<unknown>;
      return 'skipped' in part ? [[name, part.skipped]] : [];
    }),
  );
}

function readerAt(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'serpcache-host-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return createHostReader({ role: 'service', clock: CLOCK, root, tc: ['no-such-program'] });
}

test('a cheap reading of this machine has every part that costs only files', async () => {
  const host = await createHostReader({ role: 'service', clock: CLOCK })('cheap', ['localhost']);
  assert.deepEqual([host.name, host.role, host.wallMs], [hostname(), 'service', CLOCK.wallMs()]);
  assert.ok(host.addresses.includes('127.0.0.1'));
  const { throttling, ...others } = missing(host, CHEAP_PARTS);
  assert.ok(throttling === undefined || throttling === 'no CPU limit is set', `${throttling}`);
  assert.deepEqual(others, {});
  assert.equal(known(host.memory)?.totalBytes, totalmem());
  assert.ok((known(host.cpu)?.busySeconds ?? 0) > 0);
  assert.ok(known(host.interfaces)?.some(({ name, speedMbit }) => name === 'lo' && speedMbit === undefined));
  const { open = 0, limit = 0 } = known(host.descriptors) ?? {};
  assert.ok(open > 0 && open < limit, `${open} of ${limit}`);
  assert.deepEqual(missing(host, COSTLY_PARTS), Object.fromEntries(COSTLY_PARTS.map((name) => [name, 'cheap'])));
});

test('a full reading of this machine measures its timers, its names and its sockets', async (t) => {
  const server = createServer((socket) => socket.resume());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  t.after(() => socket.destroy());

  const host = await createHostReader({ role: 'part', clock: CLOCK })('full', ['localhost']);
  const { qdiscs, intrinsic, ...others } = missing(host, COSTLY_PARTS);
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

test('a machine without /proc and /sys skips each part with a reason, and its reading does not fail', async (t) => {
  const host = await readerAt(t, {})('full', []);
  const reasons = missing(host, [...CHEAP_PARTS, ...COSTLY_PARTS]);
  assert.deepEqual(reasons, {
    cpu: 'there is no /proc/stat',
    throttling: 'no CPU limit is set',
    memory: reasons['memory'],
    tcp: reasons['tcp'],
    interfaces: 'there is no /proc/net/dev',
    descriptors: 'there is no /proc/self',
    kernel: 'there is no /proc/sys',
    qdiscs: 'the program tc is missing (package iproute2)',
    sockets: 'there is no /proc/net/tcp',
  });
  for (const name of ['memory', 'tcp']) assert.match(reasons[name] ?? '', /\/proc\//);
  assert.deepEqual([known(host.dns), known(host.servers)], [[], []]);
});

const FILES: Readonly<Record<string, string>> = {
  'proc/stat': 'cpu  1000 200 300 5000 70 40 60 80 90 9\n',
  'proc/meminfo': 'MemTotal: 1000 kB\nMemAvailable: 500 kB\nSwapTotal: 100 kB\nSwapFree: 50 kB\n',
  'proc/vmstat': 'pswpin 11\npswpout 22\n',
  'proc/net/snmp': 'Tcp: OutSegs RetransSegs\nTcp: 900 9\n',
  'proc/net/netstat': 'TcpExt: ListenOverflows ListenDrops TCPTimeouts\nTcpExt: 1 2 3\n',
  'proc/net/dev': 'eth0: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\nveth0: 3 0 0 0 0 0 0 0 4 0 0 5 0 0 0 0\n',
  'sys/class/net/eth0/speed': '10000\n',
  'sys/class/net/eth0/device/vendor': '0x1af4\n',
  'sys/class/net/veth0/speed': '10000\n',
  'proc/self/limits': 'Max open files            1024                 4096                 files\n',
  'proc/self/fd/0': '',
  'proc/self/cgroup': '0::/shop.slice/serpcache.service\n',
  'sys/fs/cgroup/shop.slice/serpcache.service/cpu.max': 'max 100000\n',
  'sys/fs/cgroup/shop.slice/cpu.max': '150000 100000\n',
  'sys/fs/cgroup/shop.slice/cpu.stat': 'nr_periods 10\nnr_throttled 2\nthrottled_usec 5000\n',
  'proc/sys/vm/overcommit_memory': '1\n',
  'proc/sys/net/core/somaxconn': '4096\n',
  'sys/kernel/mm/transparent_hugepage/enabled': 'always [madvise] never\n',
};

test('each file becomes the figure of its name', async (t) => {
  const host = await readerAt(t, FILES)('cheap', []);
  assert.deepEqual(known(host.cpu), { busySeconds: 16, idleSeconds: 50.7, stolenSeconds: 0.8 });
  assert.deepEqual(known(host.memory), {
    ...{ totalBytes: 1_024_000, availableBytes: 512_000, swapTotalBytes: 102_400, swapFreeBytes: 51_200 },
    ...{ swappedIn: 11, swappedOut: 22 },
  });
  assert.deepEqual(known(host.tcp), {
    ...{ segmentsOut: 900, retransmits: 9, listenOverflows: 1, listenDrops: 2, timeouts: 3 },
  });
  assert.deepEqual(known(host.descriptors), { open: 1, limit: 1024 });
  assert.deepEqual(known(host.kernel), {
    ...{ 'vm.overcommit_memory': '1', 'net.core.somaxconn': '4096', transparent_hugepage: 'madvise' },
  });
});

test('a virtual interface has no speed, although the kernel tells one', async (t) => {
  const { interfaces } = await readerAt(t, FILES)('cheap', []);
  assert.deepEqual(known(interfaces), [
    { name: 'eth0', receivedBytes: 1, sentBytes: 2, dropped: 0, speedMbit: 10_000 },
    { name: 'veth0', receivedBytes: 3, sentBytes: 4, dropped: 5 },
  ]);
});

test('the CPU limit of a parent group holds for the process too', async (t) => {
  const { throttling } = await readerAt(t, FILES)('cheap', []);
  assert.deepEqual(known(throttling), { periods: 10, throttled: 2, throttledSeconds: 0.005, limitCores: 1.5 });
});

test('a part with one missing figure is missing, and never has a 0 in its place', async (t) => {
  const { 'proc/vmstat': _, ...without } = FILES;
  const host = await readerAt(t, {
    ...without,
    'proc/net/netstat': 'TcpExt: ListenDrops\nTcpExt: 2\n',
    'sys/fs/cgroup/shop.slice/cpu.stat': 'usage_usec 5\n',
  })('cheap', []);
  assert.deepEqual(Object.keys(missing(host, CHEAP_PARTS)).toSorted(), ['memory', 'tcp', 'throttling']);
});

const TABLE_HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const line = (state: string): string =>
  `   0: 0100007F:BE36 0100007F:18EB ${state} 00000002:00000001 00:00000000 00000000     0        0 1058 1 0 100 0\n`;

test('established sockets are found among very many that are closed', async (t) => {
  const closed = line('06').repeat(30_000);
  const table = `${TABLE_HEAD}${line('01')}${closed}${line('01')}${closed}${line('01')}`;
  const { sockets } = await readerAt(t, { 'proc/net/tcp': table, 'proc/net/tcp6': TABLE_HEAD })('full', []);
  assert.deepEqual(known(sockets), [{ remote: '127.0.0.1:6379', count: 3, sendBytes: 6, receiveBytes: 3 }]);
});

test('a table of sockets above the limit is skipped', async (t) => {
  const reader = readerAt(t, { 'proc/net/tcp': TABLE_HEAD + line('06').repeat(2 ** 24 / 100), 'proc/net/tcp6': '' });
  const { sockets } = await reader('full', []);
  assert.deepEqual(sockets, { skipped: 'the table of sockets is longer than 16 MiB' });
});
