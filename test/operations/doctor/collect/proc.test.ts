import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CpuGroup,
  chosenWord,
  column,
  cpuGroupsOf,
  cpuOf,
  createSocketSums,
  interfacesOf,
  memoryBytes,
  named,
  numbersAfter,
  throttlingOf,
} from '../../../../src/operations/doctor/collect/proc.ts';

test('processor times are of all processors; guests are counted once, and waiting for a disk is idle', () => {
  const stat = 'cpu  1000 200 300 5000 70 40 60 80 90 9\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n';
  assert.deepEqual(cpuOf(stat), { busySeconds: 16, idleSeconds: 50.7, stolenSeconds: 0.8 });
});

test('a figure that is missing is no number, and never 0', () => {
  for (const value of [
    ...Object.values(cpuOf('')),
    cpuOf('cpu  1000 200 300 5000 70 40 60\n').stolenSeconds,
    column('Tcp', 'OutSegs', ''),
    column('Tcp', 'OutSegs', 'Tcp: RtoMin InSegs\nTcp: 200 5\n'),
    memoryBytes('MemTotal', 'MemFree: 5 kB\n'),
    named('pswpin', 'pswpout 3\n'),
  ]) {
    assert.ok(Number.isNaN(value), String(value));
  }
  assert.deepEqual(numbersAfter(/^cpu +/m, 'intr 5\n'), []);
});

test('figures of protocols are found by their names', () => {
  const netstat = 'TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 5 70 74\nIpExt: InOctets\nIpExt: 9\n';
  assert.equal(column('TcpExt', 'ListenDrops', netstat), 74);
  assert.equal(column('IpExt', 'InOctets', netstat), 9);
  // Its name ends in that of another protocol.
  assert.equal(column('TcpExt', 'Lost', 'MPTcpExt: Lost\nMPTcpExt: 3\nTcpExt: Lost\nTcpExt: 4\n'), 4);
});

test('memory is in bytes, and a name is a whole one', () => {
  const meminfo = 'MemTotal:       24684096 kB\nSwapCached:            5 kB\nSwapFree:           2000 kB\n';
  assert.equal(memoryBytes('MemTotal', meminfo), 25_276_514_304);
  assert.equal(memoryBytes('SwapFree', meminfo), 2_048_000);
  assert.ok(Number.isNaN(memoryBytes('Swap', meminfo)));
  assert.equal(named('pswpout', 'pswpin 10\npswpout 20\nxpswpout 1\n'), 20);
});

test('an interface has the bytes and the drops of both directions', () => {
  const dev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:290218959250 120675415    0 1196    0     0          0         0 290218959250 120675415    0    0    0     0       0          0
  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
eth0.7: 100 0 0 0 0 0 0 0 200 0 0 0 0 0 0 0
`;
  assert.deepEqual(interfacesOf(dev), [
    { name: 'lo', receivedBytes: 290_218_959_250, sentBytes: 290_218_959_250, dropped: 1196 },
    { name: 'eth0', receivedBytes: 1, sentBytes: 9, dropped: 16 },
    { name: 'eth0.7', receivedBytes: 100, sentBytes: 200, dropped: 0 },
  ]);
  assert.deepEqual(interfacesOf(''), []);
});

// --- sockets ----------------------------------------------------------------------------------------------------------

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const socket = (remote: string, state: string, queues: string): string =>
  `   0: 0100007F:BE36 ${remote} ${state} ${queues} 00:00000000 00000000     0        0 1058 1 000000006eb7d4fa 100 0\n`;

function socketsOf(...tables: readonly string[]) {
  const sums = createSocketSums();
  for (const table of tables) for (const line of table.split('\n')) sums.add(line);
  return sums.fullest();
}

test('queues of established sockets are summed by their remote address, the fullest first', () => {
  const table = [
    HEAD,
    socket('0100007F:18EB', '01', '00000010:00000000'),
    socket('0500000A:18EB', '01', '00100000:00000000'),
    socket('0500000A:18EB', '01', '00000001:0000000F'),
    // A listening one, whose queues are something else, and one that is closed.
    socket('00000000:0000', '0A', '00000080:00000080'),
    socket('0500000A:18EB', '06', '00000009:00000009'),
  ].join('');
  assert.deepEqual(socketsOf(table), [
    { remote: '10.0.0.5:6379', count: 2, sendBytes: 1_048_577, receiveBytes: 15 },
    { remote: '127.0.0.1:6379', count: 1, sendBytes: 16, receiveBytes: 0 },
  ]);
});

test('addresses of IPv6 are written as in configurations; a mapped one is that of IPv4', () => {
  const table = [
    HEAD,
    socket('000080FE00000000FF00FC00010000FE:18EB', '01', '00000003:00000000'),
    socket('00000000000000000000000001000000:18EB', '01', '00000002:00000000'),
    socket('0000000000000000FFFF00000500000A:18EB', '01', '00000001:00000000'),
  ].join('');
  assert.deepEqual(
    socketsOf(HEAD + socket('0500000A:18EB', '01', '00000010:00000000'), table).map(({ remote, count }) => [
      remote,
      count,
    ]),
    [
      ['10.0.0.5:6379', 2],
      ['[fe80::fc:ff:fe00:1]:6379', 1],
      ['[::1]:6379', 1],
    ],
  );
});

test('of many remote addresses the twenty fullest are kept', () => {
  const lines = Array.from({ length: 300 }, (_, at) =>
    socket(`0100007F:${(1000 + at).toString(16)}`, '01', `${at.toString(16).padStart(8, '0')}:00000000`),
  );
  const kept = socketsOf(HEAD + lines.join(''));
  assert.equal(kept.length, 20);
  assert.equal(kept[0]?.sendBytes, 299);
});

test('an empty table has no sockets', () => {
  assert.deepEqual(socketsOf('', HEAD), []);
});

// --- limits -----------------------------------------------------------------------------------------------------------

const NO_FILES: CpuGroup = { stat: '', max: '', quota: '', period: '' };

test('a limit of cgroup v2 is in cores, and its times are in seconds', () => {
  const stat = 'usage_usec 900\nnr_periods 1000\nnr_throttled 50\nthrottled_usec 2500000\nnr_bursts 0\n';
  assert.deepEqual(throttlingOf({ ...NO_FILES, stat, max: '150000 100000\n' }), {
    ...{ periods: 1000, throttled: 50, throttledSeconds: 2.5, limitCores: 1.5 },
  });
});

test('a limit of cgroup v1 has files of its own', () => {
  const stat = 'nr_periods 1000\nnr_throttled 50\nthrottled_time 2500000000\n';
  assert.deepEqual(throttlingOf({ ...NO_FILES, stat, quota: '50000\n', period: '100000\n' }), {
    ...{ periods: 1000, throttled: 50, throttledSeconds: 2.5, limitCores: 0.5 },
  });
});

test('without a limit there is no throttling', () => {
  assert.equal(throttlingOf({ ...NO_FILES, max: 'max 100000\n' }), undefined);
  assert.equal(throttlingOf({ ...NO_FILES, quota: '-1\n', period: '100000\n' }), undefined);
  assert.equal(throttlingOf(NO_FILES), undefined);
});

test('a limit of a parent group counts after that of the own one', () => {
  assert.deepEqual(cpuGroupsOf('0::/system.slice/serpcache.service\n'), [
    'sys/fs/cgroup/system.slice/serpcache.service',
    'sys/fs/cgroup/system.slice',
    'sys/fs/cgroup',
  ]);
  assert.deepEqual(cpuGroupsOf('9:name=systemd:/a\n4:memory:/b\n2:cpu,cpuacct:/c\n3:cpuset:/d\n'), [
    'sys/fs/cgroup/cpu,cpuacct/c',
    'sys/fs/cgroup/cpu,cpuacct',
  ]);
  assert.deepEqual(cpuGroupsOf(''), []);
});

test('of a choice the chosen word counts, and a file without brackets is its text', () => {
  assert.equal(chosenWord('always [madvise] never\n'), 'madvise');
  assert.equal(chosenWord('1\n'), '1');
});
