import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { cpus, totalmem } from 'node:os';
import { test } from 'node:test';
import {
  createHostReader,
  disksOf,
  type HostTexts,
  hostSampleOf,
  limitersOf,
  readProcess,
} from '../../../loadtest/sample/host.ts';

const LIMIT_MS = 10_000;

test('processor use and loopback traffic of this machine are visible', async () => {
  const read = createHostReader();
  const before = await read(LIMIT_MS);
  const burnt = burn();
  await overLoopback(5_000_000);
  const after = await read(LIMIT_MS);
  if (before === undefined || after === undefined) assert.fail('no sample');

  assert.equal(after.cores, cpus().length);
  assert.ok(after.busySeconds - before.busySeconds > burnt / 2);
  assert.ok(after.idleSeconds >= before.idleSeconds);
  assert.equal(after.totalBytes, totalmem());
  assert.ok(after.availableBytes > 0 && after.availableBytes < after.totalBytes);
  assert.ok(after.loopbackBytes - before.loopbackBytes >= 5_000_000);
  for (const [name, value] of Object.entries(after))
    assert.ok(Number.isFinite(value) && value >= 0, `${name}: ${value}`);
});

for (const tc of ['no-such-program', 'false']) {
  test(`without an answer from tc (${tc}) only the figures of tc are absent`, async () => {
    const read = createHostReader(tc);
    await read(LIMIT_MS);
    const sample = await read(LIMIT_MS);
    assert.deepEqual([sample?.limiterDrops, sample?.limiterOverlimits], [undefined, undefined]);
    assert.ok((sample?.totalBytes ?? 0) > 0);
  });
}

const TEXTS: HostTexts = {
  stat: 'cpu  1000 200 300 5000 70 40 60 80 90 9\ncpu0 1 1 1 1 1 1 1 1 1 1\ncpu1 1 1 1 1 1 1 1 1 1 1\nintr 5\nctxt 9\n',
  meminfo: 'MemTotal:       24684096 kB\nMemFree:            5 kB\nMemAvailable:       2000 kB\n',
  dev: `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
    lo:290218959250 120675415    0 1196    0     0          0         0 290218959250 120675415    0    0    0     0       0          0
`,
  snmp: 'Ip: Forwarding InReceives\nIp: 1 500\nTcp: RtoMin MaxConn RetransSegs InErrs\nTcp: 200 -1 206929 2592\n',
  netstat: 'TcpExt: TW ListenOverflows ListenDrops\nTcpExt: 5 70 74\nIpExt: InOctets\nIpExt: 9\n',
  sockstat: 'sockets: used 14\nTCP: inuse 12 orphan 3 tw 6 alloc 1 mem 104\nUDP: inuse 7 mem 0\n',
};

test('each figure has the value that belongs to its name', () => {
  assert.deepEqual(hostSampleOf(TEXTS), {
    cores: 2,
    busySeconds: 16,
    idleSeconds: 50.7,
    stolenSeconds: 0.8,
    availableBytes: 2_048_000,
    totalBytes: 25_276_514_304,
    loopbackBytes: 290_218_959_250,
    loopbackDrops: 1196,
    retransmits: 206_929,
    listenDrops: 74,
    tcpInUse: 12,
  });
});

const disk = (name: string, writtenSectors: number, busyMs: number): string =>
  ` 254       0 ${name} 1853669 92449 91331290 2628873 1026350 1254781 ${writtenSectors} 558919 0 ${busyMs} 3288168 942340 245 75265952 78915`;

test('disks are whole disks: no partitions, no memory disks, no device that another line already counts', () => {
  const lines = [
    ['loop0', 1, 1],
    ['zram0', 1, 1],
    ['ram0', 1, 1],
    ['sda', 10, 100],
    ['sda1', 1, 1],
    ['sda12', 1, 1],
    ['nvme0n1', 20, 200],
    ['nvme0n1p1', 1, 1],
    ['nvme0n12', 30, 300],
    ['xvda1', 40, 400],
    ['dm-0', 1, 1],
    ['md127', 1, 1],
    ['mmcblk0', 50, 500],
    ['mmcblk0p2', 1, 1],
  ] as const;
  const disks = disksOf(`${lines.map(([name, sectors, ms]) => disk(name, sectors, ms)).join('\n')}\n`);
  assert.deepEqual(Object.fromEntries(disks), {
    sda: { busyMs: 100, writtenBytes: 5120 },
    nvme0n1: { busyMs: 200, writtenBytes: 10_240 },
    nvme0n12: { busyMs: 300, writtenBytes: 15_360 },
    xvda1: { busyMs: 400, writtenBytes: 20_480 },
    mmcblk0: { busyMs: 500, writtenBytes: 25_600 },
  });
});

const qdisc = (head: string, dropped: number, overlimits: number): string =>
  `qdisc ${head} \n Sent 18095760 bytes 168210 pkt (dropped ${dropped}, overlimits ${overlimits} requeues 2) \n backlog 0b 0p requeues 2\n`;

test('drops are counted at the outermost disciplines only; overlimits at every discipline except mq', () => {
  const shown = [
    qdisc('noqueue 0: dev lo root refcnt 2', 0, 0),
    qdisc('mq 0: dev eth0 root', 7, 500),
    qdisc('fq_codel 0: dev eth0 parent :2 limit 10240p flows 1024', 4, 300),
    qdisc('fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024', 3, 200),
    qdisc('tbf 1: dev eth1 root refcnt 2 rate 1Mbit burst 10Kb lat 81.9ms', 20, 1000),
    qdisc('netem 10: dev eth1 parent 1:1 limit 1000 delay 1ms', 20, 0),
    qdisc('ingress ffff: dev eth1 parent ffff:fff1 ----------------', 100, 0),
  ].join('');
  assert.deepEqual(limitersOf(shown), { drops: 127, overlimits: 1500 });
});

/** Uses the processor. @returns seconds of it */
function burn(): number {
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user < 300_000) for (let turn = 0; turn < 1e6; turn += 1);
  return process.cpuUsage(before).user / 1e6;
}

async function overLoopback(bytes: number): Promise<void> {
  const server = createServer((socket) => socket.end(Buffer.alloc(bytes)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const socket = connect({
    port: typeof address === 'object' && address !== null ? address.port : 0,
    host: '127.0.0.1',
  });
  await once(socket.resume(), 'end');
  socket.end();
  server.close();
}

test('processor time grows while a process computes, and its memory is that of the whole process', () => {
  const own = { name: 'me', pid: process.pid };
  const before = readProcess(own);
  const burnt = burn();
  const usedSeconds = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
  const leastSeconds = usedSeconds();
  const after = readProcess(own);
  const mostSeconds = usedSeconds();
  if (before === undefined || after === undefined) assert.fail('no sample');

  assert.equal(after.name, 'me');
  // The kernel rounds the time.
  const { cpuSeconds } = after;
  const said = `${leastSeconds} to ${mostSeconds}, not ${cpuSeconds}`;
  assert.ok(cpuSeconds > 0.9 * leastSeconds && cpuSeconds < 1.1 * mostSeconds, said);
  assert.ok(after.cpuSeconds - before.cpuSeconds > burnt / 2);
  const rss = process.memoryUsage.rss();
  assert.ok(after.residentBytes > rss / 2 && after.residentBytes < rss * 2, `${after.residentBytes} of ${rss}`);
});
