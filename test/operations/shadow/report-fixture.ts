import { seededRandom } from '../../../loadtest/random.ts';
import {
  type Agreement,
  type Copying,
  FAULTS,
  type Servers,
  type ShadowFigures,
  type ShadowSample,
  type Side,
  type SideName,
} from '../../../src/operations/shadow/figures.ts';
import type { ShadowReport } from '../../../src/operations/shadow/shadow.ts';
import { judge } from '../../../src/operations/shadow/verdict.ts';

const INTERVAL_MS = 2000;
const STARTED_AT_MS = Date.parse('2026-11-21T06:43:48.317Z');

/** The copied traffic from a moment on. */
export interface Copied {
  readonly atMs: number;
  readonly fraction: number;
  readonly reads: number;
}

/** The behaviour of a modelled shadow. Functions get the time since its start. */
export interface Modelled {
  readonly lengthMs?: number;
  /** Reads of the primary in all, sampled or not. */
  readonly readsPerSecond?: number;
  readonly changes?: readonly Copied[];
  /** How full the candidate is, 0–1. */
  readonly fullAt?: (atMs: number) => number;
  readonly p99Ms?: Readonly<Record<SideName, number>>;
  /** Share of the candidate's reads that fail. */
  readonly errorsAt?: (atMs: number) => number;
  /** Wrong values per interval. */
  readonly wrongAt?: (atMs: number) => number;
  /** Without it samples are exactly as modelled. */
  readonly noise?: number;
  readonly seed?: number;
}

const CHANGES: readonly Copied[] = [
  { atMs: 0, fraction: 0.05, reads: 1 },
  { atMs: 90_000, fraction: 0.25, reads: 1 },
  { atMs: 420_000, fraction: 0.25, reads: 3 },
];

/** A candidate that is full after two minutes and a half, and as fast as the primary. */
export const GOOD: Modelled = { fullAt: (atMs) => 1 - Math.exp(-(atMs % 90_001) / 20_000) * (atMs < 180_000 ? 1 : 0) };

export function samplesOf(modelled: Modelled = {}): readonly ShadowSample[] {
  const { lengthMs = 720_000, seed = 7 } = modelled;
  const random = seededRandom(seed);
  return Array.from({ length: Math.floor(lengthMs / INTERVAL_MS) }, (_, i) => {
    const atMs = (i + 1) * INTERVAL_MS;
    return { atMs, figures: intervalAt(atMs, modelled, random) };
  });
}

function intervalAt(atMs: number, modelled: Modelled, random: () => number): ShadowFigures {
  const { readsPerSecond = 420, changes = CHANGES, fullAt = () => 1, noise = 0 } = modelled;
  const { p99Ms = { primary: 1.4, candidate: 1.5 }, errorsAt = () => 0, wrongAt = () => 0 } = modelled;
  const about = (value: number, part = 1): number => value * (1 + (random() - 0.5) * 2 * noise * part);
  const seconds = INTERVAL_MS / 1000;
  const { fraction, reads } = changes.findLast((one) => one.atMs < atMs) ?? { fraction: 0, reads: 1 };
  const sampled = Math.round(about(readsPerSecond * fraction * seconds));
  const hits = Math.round(sampled * Math.min(0.99, about(0.9, 0.2)));
  const failed = Math.round(sampled * errorsAt(atMs));
  const compared = sampled - failed;
  const theirs = Math.round(hits * fullAt(atMs) * (1 - errorsAt(atMs)));
  const writes = sampled - hits;
  const side = (name: SideName, copies: number, found: number, errors: number): Side => ({
    reads: sampled * copies,
    readsPerSecond: (sampled * copies) / seconds,
    compared: sampled - errors,
    hits: found,
    hitRatio: ratio(found, sampled - errors),
    writes,
    errors: { ...noErrors(), 'store-slow': errors },
    errorRate: ratio(errors, sampled * copies + writes),
    p50Ms: about(0.3),
    p95Ms: about(0.7),
    p99Ms: about(p99Ms[name]),
    servers: serversAt(sampled * copies, name === 'primary' ? 1 : fullAt(atMs) * fraction, about),
  });
  const wrong = wrongAt(atMs);
  const missing = Math.max(0, hits - failed - theirs);
  const older = Math.round(compared * about(0.008));
  return {
    seconds,
    processes: 2,
    primary: side('primary', 1, hits, 0),
    candidate: side('candidate', reads, theirs, failed),
    agreement: {
      compared,
      equal: Math.max(0, compared - missing - older - wrong),
      older,
      newer: 0,
      wrong,
      missing,
      surplus: 0,
      lifeSamples: Math.round(compared / 32),
      lifeDriftMs: about(12),
      lifeDriftMaxMs: about(80),
    },
    copying: {
      sampled: sampled + writes,
      sent: sampled * reads + writes,
      dropped: 0,
      paused: atMs % 240_000 === 0 ? 12 : 0,
      filled: missing,
    },
  };
}

function serversAt(reads: number, full: number, about: (value: number, part?: number) => number): Servers {
  return {
    nodes: 3,
    missing: 0,
    connections: 18,
    memoryBytes: about(9e6 + 640e6 * full, 0.1),
    maxMemoryBytes: 3 * 2 ** 30,
    evictedPerSecond: about(full > 0.9 ? 2 : 0),
    expiredPerSecond: about(1.5),
    bytesInPerSecond: about(reads * 80),
    bytesOutPerSecond: about(reads * 1700),
    cpu: about(0.02 + reads / 9e3),
  };
}

function ratio(part: number, all: number): number | undefined {
  return all > 0 ? part / all : undefined;
}

function noErrors(): Side['errors'] {
  return Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Side['errors'];
}

/** The figures of the samples that end in the time. Percentiles are means, which is enough for a model. */
export function betweenOf(samples: readonly ShadowSample[]): (fromMs: number, toMs: number) => ShadowFigures {
  return (fromMs, toMs) =>
    joined(samples.filter(({ atMs }) => atMs > fromMs && atMs <= toMs).map((one) => one.figures));
}

export function joined(some: readonly ShadowFigures[]): ShadowFigures {
  const seconds = sum(some.map((one) => one.seconds));
  const sides = (name: SideName): readonly Side[] => some.map((one) => one[name]);
  const none: Copying = { sampled: 0, sent: 0, dropped: 0, paused: 0, filled: 0 };
  return {
    seconds,
    processes: some.at(-1)?.processes ?? 0,
    primary: joinedSide(sides('primary'), seconds),
    candidate: joinedSide(sides('candidate'), seconds),
    agreement: {
      ...summed(
        some.map(({ agreement }) => agreement),
        noAgreement(),
      ),
      lifeDriftMs: 11.4,
      lifeDriftMaxMs: 93,
    },
    copying: summed(
      some.map(({ copying }) => copying),
      none,
    ),
  };
}

function joinedSide(some: readonly Side[], seconds: number): Side {
  const total = (name: 'reads' | 'compared' | 'hits' | 'writes'): number => sum(some.map((one) => one[name]));
  const mean = (name: 'p50Ms' | 'p95Ms' | 'p99Ms') => ratio(sum(some.map((one) => one[name] ?? 0)), some.length);
  const errors = summed(
    some.map((one) => one.errors),
    noErrors(),
  );
  const [reads, compared, hits, writes] = [total('reads'), total('compared'), total('hits'), total('writes')];
  return {
    reads,
    readsPerSecond: seconds > 0 ? reads / seconds : 0,
    compared,
    hits,
    hitRatio: ratio(hits, compared),
    writes,
    errors,
    errorRate: ratio(sum(Object.values(errors)), reads + writes),
    p50Ms: mean('p50Ms'),
    p95Ms: mean('p95Ms'),
    p99Ms: mean('p99Ms'),
    servers: some.at(-1)?.servers,
  };
}

function noAgreement(): Agreement {
  return { compared: 0, equal: 0, older: 0, newer: 0, wrong: 0, missing: 0, surplus: 0, lifeSamples: 0 };
}

function summed<T extends Readonly<Record<string, number>>>(some: readonly Partial<T>[], none: T): T {
  return Object.fromEntries(Object.keys(none).map((name) => [name, sum(some.map((one) => one[name] ?? 0))])) as T;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The report of a modelled shadow of twelve minutes from `main` to `valkey`. */
export function reportOf(modelled: Modelled = GOOD, changed: Partial<ShadowReport> = {}): ShadowReport {
  const samples = samplesOf({ noise: 0.12, ...modelled });
  const between = betweenOf(samples);
  const lengthMs = samples.at(-1)?.atMs ?? 0;
  const total = between(0, lengthMs);
  return {
    id: '20261121-064348-goods-valkey-x7q2',
    domain: 'goods',
    primary: { name: 'main', fingerprint: 'mainAbCdEfGhIjKl' },
    candidate: { name: 'valkey', fingerprint: 'valkeyAbCdEfGhIj' },
    by: 'anna@desk-12 from 10.0.3.17',
    startedAtMs: STARTED_AT_MS,
    endedAtMs: STARTED_AT_MS + lengthMs,
    ended: 'stopped by anna@desk-12 from 10.0.3.17',
    changes: modelled.changes ?? CHANGES,
    samples,
    total,
    verdict: judge({ samples, total, wrongKeys: [], between, forMs: 480_000, nowMs: lengthMs }),
    wrongKeys: [],
    ...changed,
  };
}
