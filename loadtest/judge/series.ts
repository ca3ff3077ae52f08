import { holdOf } from '../k6/kit/step.ts';
import type { ScriptSummary, StepSummary } from '../k6/kit/summary.ts';
import type { DomainSample, ReplicaSample, Sample } from '../sample/sample.ts';
import type { Second } from './record.ts';

/** The values of a counter or a level, in order of time. */
export type Series = readonly { readonly atMs: number; readonly value: number }[];

/** One series for each part, such as a process or a node, by its name. */
export function seriesByPart<T extends { readonly name: string }>(
  samples: readonly Sample[],
  partsOf: (sample: Sample) => readonly T[],
  read: (part: T) => number | undefined,
): ReadonlyMap<string, Series> {
  const found = new Map<string, { atMs: number; value: number }[]>();
  for (const sample of samples) {
    for (const part of partsOf(sample)) {
      const value = read(part);
      if (value === undefined || !Number.isFinite(value)) continue;
      const series = found.get(part.name) ?? [];
      series.push({ atMs: sample.atMs, value });
      found.set(part.name, series);
    }
  }
  return found;
}

/** One series of a value that each sample has once. */
export function seriesOf(samples: readonly Sample[], read: (sample: Sample) => number | undefined): Series {
  return samples.flatMap((sample) => {
    const value = read(sample);
    return value === undefined || !Number.isFinite(value) ? [] : [{ atMs: sample.atMs, value }];
  });
}

/** How much a counter grew. A counter that fell belongs to a restarted process, and has counted from 0 since. */
export function growthOf(series: Series): number | undefined {
  if (series.length < 2) return undefined;
  return series.slice(1).reduce((grown, { value }, at) => {
    const before = series[at]?.value ?? 0;
    return grown + (value >= before ? value - before : value);
  }, 0);
}

/** By the samples' own times: they are only about a second apart. */
export function perSecond(series: Series): number | undefined {
  const grown = growthOf(series);
  const seconds = ((series.at(-1)?.atMs ?? 0) - (series[0]?.atMs ?? 0)) / 1000;
  return grown === undefined || !(seconds > 0) ? undefined : grown / seconds;
}

export function meanOf(series: Series): number | undefined {
  if (series.length === 0) return undefined;
  return sum(series.map(({ value }) => value)) / series.length;
}

export function maxOf(series: Series): number | undefined {
  return series.reduce<number | undefined>((most, { value }) => Math.max(most ?? value, value), undefined);
}

/** The growth of a counter a second, over all parts that have two values; undefined without any. */
export function totalPerSecond<T extends { readonly name: string }>(
  samples: readonly Sample[],
  partsOf: (sample: Sample) => readonly T[],
  read: (part: T) => number | undefined,
): number | undefined {
  return sumOfKnown(Array.from(seriesByPart(samples, partsOf, read).values(), perSecond));
}

export function replicasOf({ replicas }: Sample): readonly ReplicaSample[] {
  return replicas;
}

/** Reads the sum over the domains of a process. */
export function overDomains(read: (domain: DomainSample) => number | undefined) {
  return ({ domains }: ReplicaSample): number | undefined => sumOfKnown(Object.values(domains).map(read));
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** Undefined when all values are. */
export function sumOfKnown(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce<number | undefined>((all, one) => (one === undefined ? all : (all ?? 0) + one), undefined);
}

/** Wall clock, ms. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The time in which the step's rate held: shorter than planned where the run ended in it, empty where it ended before. */
export function holdWindow({ startedAtMs }: ScriptSummary, { step, seconds }: StepSummary): TimeSpan {
  const [fromSeconds] = holdOf(step);
  const fromMs = startedAtMs + fromSeconds * 1000;
  return { fromMs, toMs: fromMs + Math.max(0, Math.min(step.holdSeconds, seconds)) * 1000 };
}

export function samplesIn(samples: readonly Sample[], { fromMs, toMs }: TimeSpan): readonly Sample[] {
  return samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

/** Fewer searches give no ratio: of three searches, one more miss is a third. */
const MIN_SEARCHES = 40;
const NEIGHBOURS = 1;

/**
 * The hit ratio second by second, each averaged with its neighbours, because single seconds vary. Only the given seconds are
 * averaged, so that nothing from before a loss hides the loss. A second with too few searches around it has no point.
 */
export function hitRatioCurve(seconds: readonly Second[]) {
  return seconds.flatMap(({ atMs }, at) => {
    const ratio = ratioOf(seconds.slice(Math.max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1));
    // At the beginning of its second.
    return ratio === undefined ? [] : [{ atMs: atMs - 1000, ratio }];
  });
}

/** Undefined for too few searches. */
export function ratioOf(seconds: readonly Second[]): number | undefined {
  let [searches, hits] = [0, 0];
  for (const second of seconds) {
    searches += second.searches;
    hits += hitsOf(second);
  }
  return searches < MIN_SEARCHES ? undefined : hits / searches;
}

/** Searches that were answered fresh from L1 or L2. */
export function hitsOf({ outcomes }: Second): number {
  return (outcomes['hit-l1'] ?? 0) + (outcomes['hit-l2'] ?? 0);
}
