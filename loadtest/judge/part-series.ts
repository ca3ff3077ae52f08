import type { Sample } from '../sample/sample.ts';

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
