import type { Pile } from '../../src/report/plot/series.ts';
import { columnsOf, type Sheet } from './curve.ts';
import { countOf, type OutcomeLayer } from './outcome-layers.ts';

/** Searches a second by outcome, as they lie on each other. */
export function pilesOf(sheet: Sheet, layers: readonly OutcomeLayer[]): readonly (readonly Pile[])[] {
  return sheet.timeline.seconds.map((run) =>
    columnsOf(sheet, run).flatMap((stretches) => {
      const [first, last] = [stretches[0], stretches[stretches.length - 1]];
      if (first === undefined || last === undefined) return [];
      const values = layers.map(
        (layer) => stretches.reduce((sum, { own }) => sum + countOf(own.outcomes, layer), 0) / stretches.length,
      );
      return [{ fromMs: first.fromMs, toMs: last.toMs, values }];
    }),
  );
}

export function highestPile(runs: readonly (readonly Pile[])[]): number {
  const heights = runs.flat().map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  return heights.reduce((most, height) => Math.max(most, height), 0);
}
