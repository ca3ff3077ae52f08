import { holdOf } from '../k6/kit/step.ts';
import type { ScriptSummary, StepSummary } from '../k6/kit/summary.ts';
import type { Sample } from '../sample/sample.ts';
import type { Second } from './record.ts';

/** A counter or a level as it was read, first to last. */
export type Series = readonly { readonly atMs: number; readonly value: number }[];

/** One series for each part that was seen, by its name: a process, a node. */
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

/** One series of something that every sample has once. */
export function seriesOf(samples: readonly Sample[], read: (sample: Sample) => number | undefined): Series {
  return samples.flatMap((sample) => {
    const value = read(sample);
    return value === undefined || !Number.isFinite(value) ? [] : [{ atMs: sample.atMs, value }];
  });
}

/** How much a counter grew. One that fell belongs to a process that began anew, and has counted from 0 since. */
export function growthOf(series: Series): number | undefined {
  if (series.length < 2) return undefined;
  return series.slice(1).reduce((sum, { value }, at) => {
    const before = series[at]?.value ?? 0;
    return sum + (value >= before ? value - before : value);
  }, 0);
}

/** By the counter's own times: samples come about once a second, not exactly. */
export function perSecond(series: Series): number | undefined {
  const grown = growthOf(series);
  const seconds = ((series.at(-1)?.atMs ?? 0) - (series[0]?.atMs ?? 0)) / 1000;
  return grown === undefined || !(seconds > 0) ? undefined : grown / seconds;
}

export function meanOf(series: Series): number | undefined {
  if (series.length === 0) return undefined;
  return series.reduce((sum, { value }) => sum + value, 0) / series.length;
}

export function mostOf(series: Series): number | undefined {
  return series.reduce<number | undefined>((most, { value }) => Math.max(most ?? value, value), undefined);
}

/** Of all parts that are known; undefined without any. */
export function totalOf<T>(parts: ReadonlyMap<string, T>, read: (part: T) => number | undefined): number | undefined {
  return sumOfKnown(Array.from(parts.values(), read));
}

export function sumOfKnown(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce<number | undefined>((sum, one) => (one === undefined ? sum : (sum ?? 0) + one), undefined);
}

/** Wall clock, ms. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** While the step's rate held: shorter than planned where the run ended in it, of no length where it ended before. */
export function holdWindow({ startedAtMs }: ScriptSummary, { step, seconds }: StepSummary): Stretch {
  const [fromSeconds] = holdOf(step);
  const fromMs = startedAtMs + fromSeconds * 1000;
  return { fromMs, toMs: fromMs + Math.max(0, Math.min(step.holdSeconds, seconds)) * 1000 };
}

export function samplesIn(samples: readonly Sample[], { fromMs, toMs }: Stretch): readonly Sample[] {
  return samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

/** `goods-1` and `goods-2` are the store of goods: they are widened together. */
export function storeDomainOf(node: string): string {
  return node.replace(/-\d+$/, '');
}

/** Of all stores that were seen, in the order in which they were. */
export function storeDomains(samples: readonly Sample[]): readonly string[] {
  return [...new Set(samples.flatMap(({ stores }) => stores.map(({ name }) => storeDomainOf(name))))];
}

export interface RatioPoint {
  /** When its second began. */
  readonly atMs: number;
  /** 0–1 */
  readonly ratio: number;
}

/** Fewer searches make no ratio: of three of them, one more miss is a third. */
const LEAST_SEARCHES = 40;
const NEIGHBOURS = 1;

/**
 * Hit ratio second by second, each with its neighbours: a second alone jumps. Only seconds that are given are mixed, so
 * that nothing from before a loss softens what came after it. A second whose neighbourhood was asked for too little has
 * no point.
 */
export function hitRatioCurve(seconds: readonly Second[]): readonly RatioPoint[] {
  return seconds.flatMap(({ atMs }, at) => {
    const ratio = ratioOf(seconds.slice(Math.max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1));
    return ratio === undefined ? [] : [{ atMs: atMs - 1000, ratio }];
  });
}

/** Undefined of too few searches. */
export function ratioOf(seconds: readonly Second[]): number | undefined {
  let [searches, hits] = [0, 0];
  for (const second of seconds) {
    searches += second.searches;
    hits += (second.outcomes['hit-l1'] ?? 0) + (second.outcomes['hit-l2'] ?? 0);
  }
  return searches < LEAST_SEARCHES ? undefined : hits / searches;
}
