import { countText, perSecondText } from '../../src/report/format.ts';
import { createFrame } from '../../src/report/plot/frame.ts';
import { line, stack } from '../../src/report/plot/series.ts';
import { curve, highest, type Sheet } from './curve.ts';
import { countOf, PAGELESS_LAYERS } from './outcome-layers.ts';
import { highestPile, pilesOf } from './outcome-piles.ts';
import type { Plot } from './plot.ts';

/** Searches without a page, by how they ended, and what of them counts as an error: an honest shed may not. */
export function errorPlot(sheet: Sheet, id: string): Plot {
  const { timeline } = sheet;
  const title = 'Errors and sheds, per second';
  const seconds = timeline.seconds.flat().map(({ own }) => own);
  if (seconds.length === 0) return { id, title, missing: 'the generator told of no second.' };
  const total = (read: (second: (typeof seconds)[number]) => number): number =>
    seconds.reduce((sum, second) => sum + read(second), 0);
  const areas = PAGELESS_LAYERS.map((layer) => ({
    ...layer,
    count: total(({ outcomes }) => countOf(outcomes, layer)),
  }));
  const errors = total((second) => second.errors);
  if (errors === 0 && areas.every(({ count }) => count === 0)) {
    return { id, title, missing: 'there were none in any second.' };
  }
  const piles = pilesOf(sheet, PAGELESS_LAYERS);
  const errorRuns = curve(sheet, timeline.seconds, (second) => second.errors, 'mean');
  const max = Math.max(highestPile(piles), highest(errorRuns));
  const frame = createFrame({ fromMs: 0, toMs: timeline.toMs, max, heightPx: 150 });
  const told = areas.map(({ name, style, count }) => ({
    ...{ name, style, kind: 'area' as const },
    figure: count === 0 ? 'none' : countText(count),
  }));
  const figure = `${countText(errors)} in all`;
  return {
    ...{ id, title, frame, isEmpty: false },
    words: `Searches without a page over time, as stacked areas: ${told.map(({ name, figure: of }) => `${name} ${of}`).join(', ')}. Errors by the limits of their step: ${figure}.`,
    tickText: perSecondText,
    drawn: [...stack(frame, piles, PAGELESS_LAYERS), line(frame, errorRuns, 'errors')],
    legend: [
      { kind: 'line', style: 'errors', name: 'errors, by the limits of their step', figure },
      ...told.toReversed(),
    ],
  };
}
