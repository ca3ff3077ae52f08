import type { Registry } from 'prom-client';
import { type ClosedLabels, closedSeries, registerSamples, type Series } from './family.ts';

/** A counter per combination of closed label values, in one plain array: an increment costs nanoseconds. */
export interface PlainCounter {
  readonly at: Series['at'];
  readonly add: (series: number, amount?: number) => void;
}

export interface PlainCounterOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  readonly labels: ClosedLabels;
  /** Shows every combination from the start, at zero; otherwise those that happened. */
  readonly fromZero: boolean;
}

export function createCounter({ registry, name, help, labels, fromZero }: PlainCounterOptions): PlainCounter {
  const series = closedSeries(labels);
  const counts = new Float64Array(series.size);
  registerSamples(registry, { name, help, type: 'counter' }, () =>
    series.labels.flatMap((own, index) => {
      const value = counts[index] ?? 0;
      return value > 0 || (fromZero && series.isDeclared(index)) ? [{ labels: {}, sharedLabels: own, value }] : [];
    }),
  );
  return {
    at: series.at,
    add: (index, amount = 1) => {
      counts[index] = (counts[index] ?? 0) + amount;
    },
  };
}
