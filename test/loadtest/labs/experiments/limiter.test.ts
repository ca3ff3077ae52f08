import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  limiter as experiment,
  type LimiterRow,
  limiterStateOf,
  VARIANTS,
} from '../../../../loadtest/labs/experiments/limiter.ts';
import { type Found, figureOf } from './harness.ts';

const RATE = 50e6;

test('the smaller of burst and cburst counts, and the larger of rate and ceil', () => {
  const shown = `qdisc htb 1: root refcnt 3 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000
 Sent 30247299 bytes 20178 pkt (dropped 0, overlimits 713 requeues 0)
 backlog 0b 0p requeues 0
class htb 1:10 root prio 0 rate 200Mbit ceil 400Mbit burst 781Kb cburst 1600b
 Sent 30247299 bytes 20178 pkt (dropped 0, overlimits 713 requeues 0)
`;
  const htb = { rateBytesPerSecond: RATE, burstBytes: 1600, sentBytes: 30_247_299, drops: 0, overlimits: 713 };
  assert.deepEqual(limiterStateOf(shown), htb);
});

interface Wrong {
  readonly p99Ms?: number;
  readonly lateShare?: number;
  readonly drops?: number;
}

/** @param wrong the figures of every wrong variant of a kind; the right ones take 10 ms. */
function findingOf(wrong: Readonly<Partial<Record<string, Wrong>>>, sentBytes = 15e6): Found {
  return experiment.findingOf(
    VARIANTS.map((variant): LimiterRow => {
      const { p99Ms = 10, lateShare = 0, drops = 0 } = (variant.isRight ? undefined : wrong[variant.kind]) ?? {};
      const limiter = { rateBytesPerSecond: RATE, burstBytes: 800_000, sentBytes, drops, overlimits: 0 };
      return {
        variant,
        seconds: 1,
        p99Ms,
        lateShare,
        limiter: variant.kind === 'none' ? undefined : limiter,
        refusedShare: 0,
        pagesPerSecond: 1500,
        bytesPerSecond: 15e6,
        p50Ms: 2,
        maxMs: 20,
        limit: 'neither',
      };
    }),
  );
}

const BOTH = { tbf: { p99Ms: 150, lateShare: 0.1, drops: 300 }, htb: { p99Ms: 30 } };
for (const [name, found, verdict, share, drops] of [
  ['stalls of both kinds, and drops with free bandwidth: it holds', findingOf(BOTH), 'yes', 1, 300],
  ['without drops it holds in part', findingOf({ ...BOTH, tbf: { p99Ms: 40 } }), 'partly', 1, 0],
  ['with stalls of one kind it holds in part', findingOf({ tbf: { p99Ms: 40, drops: 5 } }), 'partly', 0.5, 5],
  [
    'drops without stalls are not enough',
    findingOf({ tbf: { drops: 50, p99Ms: 19 }, htb: { p99Ms: 12 } }),
    'no',
    0,
    50,
  ],
  ['stalls at a rate that is used up prove nothing about bursts', findingOf(BOTH, 40e6), 'partly', 1, 300],
] as const)
  test(name, () => {
    assert.equal(found.verdict, verdict);
    assert.equal(figureOf(found, /share of all kinds/), share);
    assert.equal(figureOf(found, /packets dropped/), drops);
  });
