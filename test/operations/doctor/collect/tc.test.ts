import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { leaveHome, namespacesProblem } from '../../../../loadtest/labs/kit/namespace.ts';
import { systemProgram } from '../../../../loadtest/labs/kit/programs.ts';
import { disciplinesOf, readQdiscs } from '../../../../src/operations/doctor/collect/host.ts';
import type { QdiscFacts } from '../../../../src/operations/doctor/facts.ts';
import { rowsOf } from '../../../pluck.ts';

/** As a report has them: members that are not known are absent. */
function shownIn(text: string, device?: string): readonly QdiscFacts[] {
  return JSON.parse(JSON.stringify(disciplinesOf(text, device)));
}

const SENT = ` Sent 18095760 bytes 168210 pkt (dropped 7, overlimits 300 requeues 2) 
 backlog 12Kb 8p requeues 2\n`;
const COUNTED = { sentBytes: 18_095_760, dropped: 7, overlimits: 300 };
const QUIET = ` Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) 
 backlog 0b 0p requeues 0\n`;

/** Recorded heads of iproute2 6.1 and 5.10, each with the facts beside its counters. */
const RECORDED: Readonly<Record<string, readonly [string, Partial<QdiscFacts>]>> = {
  'tbf with a latency': [
    'qdisc tbf 1: dev eth0 root refcnt 3 rate 50Mbit burst 1600b/1 mpu 0b lat 50ms linklayer ethernet ',
    { kind: 'tbf', handle: '1:', parent: 'root', rateBits: 50e6, burstBytes: 1600 },
  ],
  'tbf with a limit': [
    'qdisc tbf 8001: dev eth0 parent 1:10 rate 800Kbit burst 64Kb limit 100Kb ',
    { kind: 'tbf', handle: '8001:', parent: '1:10', rateBits: 800e3, burstBytes: 65_536 },
  ],
  'tbf with a peak rate': [
    'qdisc tbf 1: dev eth0 root refcnt 3 rate 1Gbit burst 1048500b/1 mpu 0b peakrate 2Gbit mtu 1500b/1 mpu 0b lat 400ms linklayer ethernet ',
    { kind: 'tbf', handle: '1:', parent: 'root', rateBits: 1e9, burstBytes: 1_048_500 },
  ],
  htb: [
    'qdisc htb 1: dev eth0 root refcnt 3 r2q 10 default 0x10 direct_packets_stat 0 ver 3.17 direct_qlen 1000',
    { kind: 'htb', handle: '1:', parent: 'root' },
  ],
  fq_codel: [
    'qdisc fq_codel 0: dev eth0 parent :2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64 ',
    { kind: 'fq_codel', handle: '0:', parent: ':2' },
  ],
  'netem with delay and loss': [
    'qdisc netem 10: dev eth0 root refcnt 2 limit 1000 delay 100ms  10ms loss 1%',
    { kind: 'netem', handle: '10:', parent: 'root' },
  ],
  mq: ['qdisc mq 0: dev eth0 root ', { kind: 'mq', handle: '0:', parent: 'root' }],
  ingress: [
    'qdisc ingress ffff: dev eth0 parent ffff:fff1 ---------------- ',
    { kind: 'ingress', handle: 'ffff:', parent: 'ffff:fff1' },
  ],
};

for (const [name, [head, facts]] of Object.entries(RECORDED)) {
  test(`${name} is read with its counters`, () => {
    assert.deepEqual(shownIn(`${head}\n${SENT}`), [{ device: 'eth0', ...facts, ...COUNTED }]);
  });
}

test('each discipline of an output is one, with counters of its own', () => {
  const heads = Object.values(RECORDED).map(([head]) => head);
  const read = disciplinesOf(heads.map((head, at) => `${head}\n${at === 2 ? SENT : QUIET}`).join(''));
  assert.deepEqual(
    rowsOf(read, 'kind', 'dropped'),
    Object.values(RECORDED).map(([, { kind }], at) => [kind, at === 2 ? 7 : 0]),
  );
  assert.deepEqual(disciplinesOf(''), []);
});

test('a class of htb has its ceiling as its rate, and the smaller one of its bursts', () => {
  const shown = `class htb 1:10 parent 1:1 leaf 10: prio 0 quantum 62500 rate 5Mbit ceil 10Mbit linklayer ethernet burst 15Kb/1 mpu 0b cburst 1600b/1 mpu 0b level 0 
${SENT} lended: 12 borrowed: 6 giants: 0
 tokens: 35592 ctokens: -622

class htb 1:1 root rate 10Mbit ceil 10Mbit linklayer ethernet burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 7 
${QUIET} lended: 6 borrowed: 0 giants: 0
 tokens: -622 ctokens: -622

`;
  const [leaf, top] = shownIn(shown, 'eth0');
  assert.deepEqual(leaf, {
    device: 'eth0',
    kind: 'htb',
    handle: '1:10',
    parent: '1:1',
    rateBits: 10e6,
    guaranteedBits: 5e6,
    burstBytes: 1600,
    ...COUNTED,
  });
  assert.deepEqual([top?.handle, top?.parent, top?.rateBits, top?.dropped], ['1:1', 'root', 10e6, 0]);
});

test('a program that is missing is told as such, and the next one is tried', async () => {
  assert.deepEqual(await readQdiscs(['no-such-program']), {
    skipped: 'the program tc is missing (package iproute2)',
  });
  assert.deepEqual(await readQdiscs(['no-such-program', 'true']), { known: [] });
});

test('a program that fails is told with its complaint', async () => {
  const read = await readQdiscs(['false']);
  assert.match('skipped' in read ? read.skipped : '', /^tc does not show the disciplines: \S/);
});

const TBF = ['tbf', 'rate', '20mbit', 'burst', '2kb', 'latency', '40ms'];

test('the disciplines that this kernel makes are read as they were made', {
  skip: (await namespacesProblem([TBF])) ?? false,
}, async (t) => {
  const name = `spc-${process.pid}-${randomBytes(2).toString('hex')}`;
  const within = (...words: string[]) => systemProgram('nsenter', [`--net=/run/netns/${name}`, ...words]);
  await systemProgram('ip', ['netns', 'add', name]);
  t.after(async () => {
    await systemProgram('ip', ['netns', 'del', name]);
    await leaveHome();
  });
  await within('ip', 'link', 'add', 'spc0', 'type', 'veth', 'peer', 'name', 'spc1');
  await within('tc', 'qdisc', 'add', 'dev', 'spc0', 'root', 'handle', '1:', ...TBF);
  await within('tc', 'qdisc', 'add', 'dev', 'spc1', 'root', 'handle', '2:', 'htb', 'default', '10');
  const rates = ['rate', '5mbit', 'ceil', '10mbit', 'burst', '15kb', 'cburst', '4kb', 'quantum', '60000'];
  await within('tc', 'class', 'add', 'dev', 'spc1', 'parent', '2:', 'classid', '2:10', 'htb', ...rates);

  const shown = shownIn(await within('tc', '-s', '-d', 'qdisc', 'show'));
  assert.deepEqual(shown.find(({ kind }) => kind === 'tbf') ?? assert.fail('no tbf'), {
    device: 'spc0',
    kind: 'tbf',
    handle: '1:',
    parent: 'root',
    rateBits: 20e6,
    burstBytes: 2048,
    sentBytes: 0,
    dropped: 0,
    overlimits: 0,
  });
  const [top] = disciplinesOf(await within('tc', '-s', '-d', 'class', 'show', 'dev', 'spc1'), 'spc1');
  const { kind, device, handle, parent, rateBits, guaranteedBits, burstBytes } = top ?? assert.fail('no class');
  assert.deepEqual(
    { kind, device, handle, parent, rateBits, guaranteedBits },
    { kind: 'htb', device: 'spc1', handle: '2:10', parent: 'root', rateBits: 10e6, guaranteedBits: 5e6 },
  );
  // The kernel counts a burst as a time at the rate.
  assert.ok(burstBytes !== undefined && Math.abs(burstBytes - 4096) < 10, `${burstBytes}`);
});
