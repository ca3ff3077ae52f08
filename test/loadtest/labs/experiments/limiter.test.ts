import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  diagnose,
  limiterStateOf,
  rightBurstBytes,
  type Symptoms,
  usedShare,
} from '../../../../loadtest/labs/experiments/limiter/diagnosis.ts';
import {
  badness,
  limiter as experiment,
  type LimiterRow,
  retransmitsOf,
  slowMsOf,
  tcCommand,
  VARIANTS,
} from '../../../../loadtest/labs/experiments/limiter.ts';
import { medianRun } from '../../../../loadtest/labs/kit/rounds.ts';
import { cellOf, figureOf } from './harness.ts';

const RATE = 50e6;
const LARGEST = 600_000;

const SET = { rateBytesPerSecond: RATE, burstBytes: 800_000, sentBytes: 15e6, drops: 0, overlimits: 0 };
const WELL: Symptoms = {
  seconds: 1,
  deadlineMs: 50,
  p99Ms: 10,
  lateShare: 0,
  largestBytes: LARGEST,
  store: { cores: 0.05, slowMs: 0, readMs: 0.004 },
  retransmits: 0,
  limiter: SET,
};

test('the right burst is four ticks of the rate, or the size of the largest request if that is more', () => {
  assert.equal(rightBurstBytes(RATE, 600_000), 800_000);
  assert.equal(rightBurstBytes(RATE, 2_000_000), 2_000_000);
});

test('all limiters have the same rate: only bursts and queues differ', () => {
  const limiters = VARIANTS.filter(({ kind }) => kind !== 'none');
  assert.ok(limiters.length >= 4);
  for (const one of limiters) assert.match(tcCommand(one), / rate 400mbit\b/, one.name);
  assert.equal(new Set(VARIANTS.map(tcCommand)).size, VARIANTS.length);
  for (const kind of ['tbf', 'htb']) {
    const rights = limiters.filter((one) => one.kind === kind).map(({ isRight }) => isRight);
    assert.deepEqual([...new Set(rights)], [true, false], kind);
  }
});

const TBF = `qdisc tbf 1: root refcnt 3 rate 400Mbit burst 4600b lat 1ms
 Sent 18518506 bytes 12417 pkt (dropped 6332, overlimits 19382 requeues 0)
 backlog 0b 0p requeues 0
`;
const HTB = `qdisc htb 1: root refcnt 3 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000
 Sent 30247299 bytes 20178 pkt (dropped 0, overlimits 713 requeues 0)
 backlog 0b 0p requeues 0
class htb 1:10 root prio 0 rate 200Mbit ceil 400Mbit burst 781Kb cburst 1600b
 Sent 30247299 bytes 20178 pkt (dropped 0, overlimits 713 requeues 0)
`;

test('the output of tc is parsed: sizes by 1024, rates by 1000', () => {
  const tbf = { rateBytesPerSecond: RATE, burstBytes: 4600, sentBytes: 18_518_506, drops: 6332, overlimits: 19_382 };
  assert.deepEqual(limiterStateOf(TBF), tbf);
  assert.equal(limiterStateOf(TBF.replace('4600b', '800Kb'))?.burstBytes, 819_200);
});

test('the smaller of burst and cburst counts, and the larger of rate and ceil', () => {
  const htb = { rateBytesPerSecond: RATE, burstBytes: 1600, sentBytes: 30_247_299, drops: 0, overlimits: 713 };
  assert.deepEqual(limiterStateOf(HTB), htb);
});

test('a discipline without a rate is not a limiter', () => {
  assert.equal(
    limiterStateOf('qdisc noqueue 0: root refcnt 2\n Sent 0 bytes 0 pkt (dropped 0, overlimits 0)\n'),
    undefined,
  );
});

test('retransmitted segments are read by name', () => {
  assert.equal(retransmitsOf('Ip: A\nIp: 7\nTcp: InSegs OutSegs RetransSegs\nTcp: 10 20 3\n'), 3);
});

test('late reads behind a small burst, with free bandwidth and a free store, blame the limiter and name the right burst', () => {
  const limiter = { ...SET, burstBytes: 4600, drops: 900, overlimits: 20_000 };
  const told = diagnose({ ...WELL, lateShare: 0.05, p99Ms: 200, limiter });
  assert.equal(told.cause, 'burst');
  assert.equal(told.enoughBytes, 800_000);
  assert.equal(usedShare({ ...WELL, limiter })?.toFixed(6), '0.300000');
});

test('a burst smaller than the largest request is reported when pages take half of their deadline, not before', () => {
  const limiter = { ...SET, burstBytes: 300_000, overlimits: 500 };
  assert.equal(diagnose({ ...WELL, p99Ms: 26, limiter }).cause, 'burst');
  assert.equal(diagnose({ ...WELL, p99Ms: 24, limiter }).cause, 'nothing');
});

test('a burst below rate ÷ HZ is reported before it causes late reads, and a right one never is', () => {
  assert.equal(diagnose({ ...WELL, limiter: { ...SET, burstBytes: 1600 } }).cause, 'burst');
  assert.equal(diagnose({ ...WELL, limiter: { ...SET, overlimits: 500 } }).cause, 'nothing');
});

test('a burst of rate ÷ HZ with drops needs a longer queue', () => {
  const limiter = { ...SET, burstBytes: 200_000, drops: 300, overlimits: 1400 };
  assert.equal(diagnose({ ...WELL, lateShare: 0.1, limiter }).cause, 'queue');
});

test('drops without late reads are not reported', () => {
  assert.equal(diagnose({ ...WELL, limiter: { ...SET, drops: 3 } }).cause, 'nothing');
});

test('a rate that is used up is not reported as a burst that is too small', () => {
  const limiter = { ...SET, burstBytes: 1600, sentBytes: 48e6, drops: 900, overlimits: 20_000 };
  const told = diagnose({ ...WELL, lateShare: 0.5, limiter });
  assert.deepEqual(told, { cause: 'full' }, 'a larger burst is no help');
});

test('a slow store is examined before any limiter', () => {
  const limiter = { ...SET, burstBytes: 1600, drops: 10, overlimits: 100 };
  const late = { ...WELL, lateShare: 0.2, limiter };
  assert.equal(diagnose({ ...late, store: { ...WELL.store, slowMs: 100 } }).cause, 'store');
  assert.equal(diagnose({ ...late, store: { ...WELL.store, cores: 0.97 } }).cause, 'store');
});

test('one or two slow commands do not explain a fifth of the reads', () => {
  const limiter = { ...SET, burstBytes: 1600, drops: 10, overlimits: 100 };
  const store = { ...WELL.store, slowMs: 30 };
  assert.equal(diagnose({ ...WELL, lateShare: 0.2, limiter, store }).cause, 'burst');
  const rows = rowsWith({}).map((row) => ({ ...row, lateShare: 0.2, limiter, store }));
  const told = (column: RegExp) => cellOf(experiment.findingOf(rows), /^How a doctor/, /^tbf, burst of 3/, column);
  // 3 % of the row's second.
  assert.equal(told(/^slowlog/), 30);
  assert.equal(told(/^cause/), 'burst');
});

test('the slowlog total is the sum of its command times, in microseconds', () => {
  const entries = [
    [1, 1795268635, 12_000, ['KEYS', '*']],
    [0, 1795268634, 30_500, ['GET', 'page']],
  ];
  assert.equal(slowMsOf(entries), 42.5);
  assert.equal(slowMsOf([]), 0);
});

test('without a visible limiter, retransmits point to one on the path; without retransmits there is no suspect', () => {
  const { limiter: _, ...unseen } = { ...WELL, lateShare: 0.05 };
  assert.equal(diagnose({ ...unseen, retransmits: 40 }).cause, 'unseen');
  assert.equal(diagnose(unseen).cause, 'unknown');
  assert.equal(diagnose({ ...unseen, lateShare: 0 }).cause, 'nothing');
});

test('late reads behind a limiter with a sufficient burst and no drops are not blamed on it', () => {
  assert.equal(diagnose({ ...WELL, lateShare: 0.05, limiter: { ...SET, overlimits: 500 } }).cause, 'unknown');
});

const FIGURES = {
  pagesPerSecond: 1500,
  bytesPerSecond: 15e6,
  refusedShare: 0,
  latencyMs: { p50: 2, p99: 10, max: 20 },
  limit: 'neither' as const,
};

/** @param wrong the figures of every wrong variant of a kind; the right ones take 10 ms. */
function rowsWith(
  wrong: Partial<Record<'tbf' | 'htb', { p99Ms?: number; lateShare?: number; drops?: number }>>,
): LimiterRow[] {
  const { limiter: _, ...unlimited } = { ...WELL, ...FIGURES };
  return VARIANTS.map((variant) => {
    const {
      p99Ms = 10,
      lateShare = 0,
      drops = 0,
    } = variant.isRight ? {} : (wrong[variant.kind as 'tbf' | 'htb'] ?? {});
    const limited = variant.kind !== 'none' && { limiter: { ...SET, drops } };
    return { ...unlimited, variant, p99Ms, latencyMs: { ...FIGURES.latencyMs, p99: p99Ms }, lateShare, ...limited };
  });
}

test('stalls of both kinds, and drops with free bandwidth: it holds', () => {
  const found = experiment.findingOf(rowsWith({ tbf: { p99Ms: 150, lateShare: 0.1, drops: 300 }, htb: { p99Ms: 30 } }));
  assert.equal(found.verdict, 'yes');
  const cell = (row: RegExp, column: RegExp) => cellOf(found, /service sees/, row, column);
  assert.equal(cell(/^tbf, right/, /^p99/), 10);
  assert.equal(cell(/^tbf, right/, /^late/), 0);
  assert.equal(cell(/^tbf, burst of 3 packets$/, /^p99/), 150);
  assert.equal(cell(/^tbf, burst of 3 packets$/, /^late/), 0.1);
  assert.equal(figureOf(found, /packets dropped/), 300);
  assert.equal(figureOf(found, /used share of the rate/)?.toFixed(6), '0.300000');
  const dropped = found.tables[1]?.rows.filter(({ name }) => name.startsWith('htb')).map(({ values }) => values[0]);
  assert.deepEqual(dropped, [0, 0, 0, 0]);
});

test('the median of three runs is kept, by late reads, and by p99 where these are equal', () => {
  const times = (...each: readonly (readonly [number, number])[]) =>
    medianRun(
      each.map(([lateShare, p99Ms]) => ({ lateShare, p99Ms })),
      badness,
    );
  assert.deepEqual(times([0, 30], [0, 10], [0, 20]), { lateShare: 0, p99Ms: 20 });
  assert.deepEqual(times([0.1, 12], [0, 49], [0.2, 14]), { lateShare: 0.1, p99Ms: 12 });
});

test('a share of late reads is a stall even when the p99 hides it', () => {
  const found = experiment.findingOf(rowsWith({ tbf: { lateShare: 0.02, drops: 1 }, htb: { lateShare: 0.02 } }));
  assert.equal(found.verdict, 'yes');
});

test('without drops, or with stalls of only one kind, it holds in part', () => {
  const noDrops = experiment.findingOf(rowsWith({ tbf: { p99Ms: 40 }, htb: { p99Ms: 30 } }));
  assert.equal(noDrops.verdict, 'partly');
  assert.equal(figureOf(noDrops, /packets dropped/), 0);
  const oneKind = experiment.findingOf(rowsWith({ tbf: { p99Ms: 40, drops: 5 } }));
  assert.equal(oneKind.verdict, 'partly');
  assert.equal(figureOf(oneKind, /share of all kinds/), 0.5);
  assert.equal(cellOf(oneKind, /service sees/, /^tbf, burst of 3 packets$/, /^p99/), 40);
});

test('with drops but no stalls it does not hold', () => {
  const rows = rowsWith({ tbf: { drops: 50, p99Ms: 19 }, htb: { p99Ms: 12 } });
  assert.equal(experiment.findingOf(rows).verdict, 'no');
});

test('stalls at a rate that is used up prove nothing about bursts', () => {
  const rows = rowsWith({ tbf: { p99Ms: 150, drops: 300 }, htb: { p99Ms: 30 } });
  const full = rows.map((row) => (row.limiter ? { ...row, limiter: { ...row.limiter, sentBytes: 40e6 } } : row));
  assert.equal(experiment.findingOf(full).verdict, 'partly');
});

test('rows have a value for every column, and correct diagnoses are counted', () => {
  const measured = VARIANTS.map((variant) => {
    const limiter = { ...SET, burstBytes: variant.isRight ? 800_000 : 1600 };
    return { ...WELL, ...FIGURES, variant, limiter };
  });
  const found = experiment.findingOf(measured);
  for (const { columns, rows } of found.tables) {
    assert.equal(rows.length, VARIANTS.length);
    for (const row of rows) assert.equal(row.values.length, columns.length);
  }
  assert.equal(VARIANTS.filter(({ isRight }) => isRight).length, 3);
  assert.equal(figureOf(found, /^wrong limiters that/), 1);
  assert.equal(figureOf(found, /^right limiters/), 0);

  const alarmed = measured.map((row) => {
    const { limiter: _, ...unseen } = { ...row, lateShare: 0.05, retransmits: 12 };
    return row.variant.kind === 'none' ? unseen : row;
  });
  assert.equal(figureOf(experiment.findingOf(alarmed), /^right limiters/), 1 / 3);
});

test('a p99 beyond the deadline, while no read was late by its own timing, is the service and not a limiter on the path', () => {
  const { limiter: _, ...unseen } = { ...WELL, p99Ms: 147, retransmits: 12 };
  assert.equal(diagnose(unseen).cause, 'service');
  assert.equal(diagnose({ ...unseen, lateShare: 0.02 }).cause, 'unseen');
});

test('a command limits the bandwidth for its own benchmark, and can follow any other command', () => {
  const commands = experiment.findingOf(rowsWith({})).tables[0]?.rows.map(({ command }) => command ?? '') ?? [];
  assert.equal(commands.length, VARIANTS.length);
  for (const [at, command] of commands.entries()) {
    assert.match(command, /redis-benchmark -h 198\.18\.0\.2 .*GET page:__rand_int__/);
    assert.equal(/ qdisc del .* root 2>&-/.test(command), true, 'the limiter of the row before is removed');
    assert.equal(command.includes('ip netns add'), at === 0);
    assert.equal(command.includes('ip netns del'), at === VARIANTS.length - 1);
  }
});
