import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  badness,
  limiter as experiment,
  type LimiterRow,
  limiterStateOf,
  VARIANTS,
} from '../../../../loadtest/labs/experiments/limiter.ts';
import { medianRun } from '../../../../loadtest/labs/kit/rounds.ts';
import { cellOf, figureOf } from './harness.ts';

const RATE = 50e6;

const SET = { rateBytesPerSecond: RATE, burstBytes: 800_000, sentBytes: 15e6, drops: 0, overlimits: 0 };
const WELL = {
  seconds: 1,
  p99Ms: 10,
  lateShare: 0,
  limiter: SET,
};

test('all limiters have the same rate: only bursts and queues differ', () => {
  const limiters = VARIANTS.filter(({ kind }) => kind !== 'none');
  assert.ok(limiters.length >= 4);
  const words = ({ discipline = [], classes = [] }: (typeof VARIANTS)[number]) => [discipline, ...classes].join(' ');
  for (const one of limiters) assert.match(words(one), /rate,400mbit\b/, one.name);
  assert.equal(new Set(VARIANTS.map(words)).size, VARIANTS.length);
  for (const kind of ['tbf', 'htb']) {
    const rights = limiters.filter((one) => one.kind === kind).map(({ isRight }) => isRight);
    assert.deepEqual([...new Set(rights)], [true, false], kind);
  }
});

const HTB = `qdisc htb 1: root refcnt 3 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000
 Sent 30247299 bytes 20178 pkt (dropped 0, overlimits 713 requeues 0)
 backlog 0b 0p requeues 0
class htb 1:10 root prio 0 rate 200Mbit ceil 400Mbit burst 781Kb cburst 1600b
 Sent 30247299 bytes 20178 pkt (dropped 0, overlimits 713 requeues 0)
`;

test('the smaller of burst and cburst counts, and the larger of rate and ceil', () => {
  const htb = { rateBytesPerSecond: RATE, burstBytes: 1600, sentBytes: 30_247_299, drops: 0, overlimits: 713 };
  assert.deepEqual(limiterStateOf(HTB), htb);
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
