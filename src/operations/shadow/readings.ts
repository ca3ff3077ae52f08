import Type, { type Static, type TNumber } from 'typebox';
import { Compile } from 'typebox/compile';
import { Create } from 'typebox/value';
import type { StoreRead, StoreWrite } from '../../cache/store.ts';
import type { Decoded } from '../../schema/fields.ts';
import {
  AGREED,
  type Agreed,
  type Agreement,
  type Copying,
  FAULTS,
  type FaultName,
  type ShadowFigures,
  type Side,
} from './figures.ts';
import { type ServerInterval, serverFigures } from './server-figures.ts';

/**
 * Upper bounds of the duration buckets, in milliseconds: a tenth apart at least, from a read on the same machine to the
 * longest deadline. Percentiles are interpolated within a bucket.
 */
const BOUNDS_MS: readonly number[] = Array.from({ length: 64 }, (_, at) => 0.05 * 1.2 ** at);
/** Wrong values are shown to an operator as keys, up to this number. */
export const MAX_WRONG_KEYS = 20;

/** The maximum is above the counts of any process, and low enough that sums over a fleet stay exact. */
const counted = Type.Number({ minimum: 0, maximum: 1e12 });
const list = (length: number) => Type.Array(counted, { minItems: length, maxItems: length });
const record = <const Name extends string>(names: readonly Name[]) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, counted])) as Record<Name, TNumber>);

/** Counters of one side since the start of the shadow. `errors` in the order of FAULTS, `durations` one per bound and one more. */
const SIDE_READING = Type.Object({
  reads: counted,
  compared: counted,
  hits: counted,
  writes: counted,
  errors: list(FAULTS.length),
  durations: list(BOUNDS_MS.length + 1),
});

const AGREEMENTS = ['compared', ...AGREED, 'lifeSamples'] as const;
const COPIES = ['sampled', 'sent', 'dropped', 'paused', 'filled'] as const;

/**
 * The counters of one process for one shadow, since it began to copy. Figures are made of differences. Plain JSON: a heartbeat
 * carries them to the other processes.
 */
const COUNTS = Type.Object({
  primary: SIDE_READING,
  candidate: SIDE_READING,
  agreement: record(AGREEMENTS),
  lifeDriftSumMs: counted,
  lifeDriftMaxMs: counted,
  copying: record(COPIES),
});
const READING = Type.Object({
  shadow: Type.String(),
  ...COUNTS.properties,
  wrongKeys: Type.Array(Type.String({ maxLength: 64 }), { maxItems: MAX_WRONG_KEYS }),
});
export type Reading = Decoded<typeof READING>;

const shape = Compile(READING);

/** Reads the report of another process. Undefined: it is of another version, or of another shadow. */
export function readReading(value: unknown, shadow: string): Reading | undefined {
  return shape.Check(value) && value.shadow === shadow ? value : undefined;
}

/** Counts what the mirror sees. */
export type ShadowTally = ReturnType<typeof createShadowTally>;

export function createShadowTally(shadow: string) {
  const counts = Create(COUNTS);
  const { agreement, copying } = counts;
  const wrongKeys: string[] = [];
  const error = (side: Static<typeof SIDE_READING>, fault: string): void => {
    const at = FAULTS.indexOf(fault as FaultName);
    if (at >= 0) side.errors[at] = (side.errors[at] ?? 0) + 1;
  };
  return {
    /** `durationMs`: undefined when the read was one of a batch. */
    read: (name: 'primary' | 'candidate', read: StoreRead, durationMs: number | undefined, isFirst: boolean) => {
      const side = counts[name];
      side.reads += 1;
      // A refusal in no time says nothing about the server's speed.
      const isTimed = read.kind !== 'fault' || read.fault === 'store-slow';
      if (isTimed && durationMs !== undefined) {
        const at = bucketOf(durationMs);
        side.durations[at] = (side.durations[at] ?? 0) + 1;
      }
      if (read.kind === 'fault') error(side, read.fault);
      else if (isFirst) {
        side.compared += 1;
        if (read.kind === 'value') side.hits += 1;
      }
    },
    write: (name: 'primary' | 'candidate', write: StoreWrite) => {
      const side = counts[name];
      side.writes += 1;
      if (write.kind === 'dropped') error(side, write.fault);
    },
    agreed: (result: Agreed, key: string) => {
      agreement.compared += 1;
      agreement[result] += 1;
      if (result === 'wrong' && wrongKeys.length < MAX_WRONG_KEYS && !wrongKeys.includes(key)) wrongKeys.push(key);
    },
    lifeDrift: (ms: number) => {
      agreement.lifeSamples += 1;
      counts.lifeDriftSumMs += ms;
      counts.lifeDriftMaxMs = Math.max(counts.lifeDriftMaxMs, ms);
    },
    copy: (what: (typeof COPIES)[number], count = 1) => {
      copying[what] += count;
    },
    reading: (): Reading => structuredClone({ shadow, ...counts, wrongKeys }),
  };
}

/** The index of the first bound that is not below the duration. */
function bucketOf(durationMs: number): number {
  if (durationMs <= 0.05) return 0;
  const at = Math.ceil(Math.log(durationMs / 0.05) / Math.log(1.2) - 1e-9);
  return Math.min(BOUNDS_MS.length, at);
}

/** The counts between two moments, summed over processes. Intervals add up. */
export interface Interval {
  /** Milliseconds since the start of the shadow, at the end. */
  readonly atMs: number;
  readonly seconds: number;
  readonly processes: number;
  readonly grown: Omit<Reading, 'shadow' | 'wrongKeys'>;
  readonly servers: { readonly primary?: ServerInterval; readonly candidate?: ServerInterval };
}

/** @param before absent: the process began with the interval */
export function grownBetween(before: Reading | undefined, after: Reading): Interval['grown'] {
  const { shadow: _, wrongKeys: __, ...counts } = after;
  const grown = joined(counts, before, (now, then) => Math.max(0, now - then));
  return { ...grown, lifeDriftMaxMs: after.lifeDriftMaxMs };
}

export function addGrown(all: readonly Interval['grown'][]): Interval['grown'] {
  return all.reduce<Interval['grown']>((total, one) => {
    const sums = joined(one, total, (count, sum) => count + sum);
    return { ...sums, lifeDriftMaxMs: Math.max(total.lifeDriftMaxMs, one.lifeDriftMaxMs) };
  }, Create(COUNTS));
}

/**
 * The numbers at the same places of two trees of counts, joined; a number that `right` lacks is 0. Members that are no counts, of
 * a process of another version, stay as they are.
 */
function joined<Counts>(
  left: Counts,
  right: Counts | undefined,
  join: (left: number, right: number) => number,
): Counts {
  if (typeof left === 'number') return join(left, Number(right ?? 0)) as Counts;
  if (Array.isArray(left)) {
    const others: readonly unknown[] = Array.isArray(right) ? right : [];
    return left.map((each, at) => joined(each, others[at], join)) as Counts;
  }
  if (typeof left !== 'object' || left === null) return left;
  const members = Object.entries(left).map(([name, each]) => [name, joined(each, right?.[name as keyof Counts], join)]);
  return Object.fromEntries(members);
}

/** The figures of these intervals together; they follow each other. */
export function comparisonOf(intervals: readonly Interval[]): ShadowFigures {
  const grown = addGrown(intervals.map((one) => one.grown));
  const seconds = intervals.reduce((sum, one) => sum + one.seconds, 0);
  const { lifeSamples } = grown.agreement;
  const agreement: Agreement = {
    ...grown.agreement,
    lifeDriftMs: lifeSamples === 0 ? undefined : grown.lifeDriftSumMs / lifeSamples,
    lifeDriftMaxMs: lifeSamples === 0 ? undefined : grown.lifeDriftMaxMs,
  };
  const copying: Copying = { ...grown.copying };
  const sideOf = (name: 'primary' | 'candidate'): Side => {
    const servers = serverFigures(intervals.flatMap((one) => one.servers[name] ?? []));
    return { ...sideFigures(grown[name], seconds), servers };
  };
  return {
    seconds,
    processes: intervals.at(-1)?.processes ?? 0,
    primary: sideOf('primary'),
    candidate: sideOf('candidate'),
    agreement,
    copying,
  };
}

function sideFigures({ reads, compared, hits, writes, errors, durations }: Reading['primary'], seconds: number): Side {
  const failed = errors.reduce((sum, each) => sum + each, 0);
  const all = reads + writes;
  return {
    reads,
    readsPerSecond: seconds > 0 ? reads / seconds : 0,
    compared,
    hits,
    hitRatio: compared > 0 ? hits / compared : undefined,
    writes,
    errors: Object.fromEntries(FAULTS.map((fault, at) => [fault, errors[at] ?? 0])) as Side['errors'],
    errorRate: all > 0 ? Math.min(1, failed / all) : undefined,
    p50Ms: percentile(durations, 0.5),
    p95Ms: percentile(durations, 0.95),
    p99Ms: percentile(durations, 0.99),
  };
}

/** Linear within the bucket that holds the quantile; the last bound for longer durations. */
function percentile(counts: readonly number[], share: number): number | undefined {
  const wanted = counts.reduce((sum, each) => sum + each, 0) * share;
  if (wanted === 0) return undefined;
  let seen = 0;
  for (const [at, count] of counts.entries()) {
    if (count > 0 && seen + count >= wanted) {
      const from = at === 0 ? 0 : (BOUNDS_MS[at - 1] ?? 0);
      const to = BOUNDS_MS[at] ?? from;
      return from + ((to - from) * (wanted - seen)) / count;
    }
    seen += count;
  }
  return undefined;
}
