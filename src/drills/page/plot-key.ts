import { element, type Markup } from '../../report/markup.ts';
import { countText, durationText } from '../../report/number-text.ts';
import { momentSign } from '../../report/plot/legend.ts';
import { curve, type Sheet } from './curve.ts';
import type { Scenery } from './scenery.ts';
import { samplesOf } from './track.ts';

const SIGNS = [
  { style: 'broken', shape: 'cross', words: 'a guard broke' },
  { style: 'noted', shape: 'cross', words: 'a guard broke; written down, the drill went on' },
  { style: 'recovered', shape: 'disc', words: "a stage's cohort was back at its own past" },
  { style: 'restored', shape: 'diamond', words: 'the cache was restored' },
] as const;

/** How the plots are read, and how much each of their points stands for. */
export function plotKey(sheet: Sheet, { moments }: Scenery): Markup {
  const used = SIGNS.filter(({ style }) => moments.some((moment) => moment.style === style));
  return element(
    'div',
    {},
    element(
      'p',
      {},
      'All share one axis of time: since the start of the drill. The strip above each names the phase: baseline, the stages by what they lost, recovery, after.',
    ),
    used.length === 0
      ? undefined
      : element(
          'ul',
          { class: 'legend' },
          used.map(({ style, shape, words }) =>
            element('li', {}, momentSign(style, shape), element('span', {}, words)),
          ),
        ),
    element('p', { class: 'note' }, pointsText(sheet)),
  );
}

function pointsText(sheet: Sheet): string {
  const samples = samplesOf(sheet.track).length;
  if (samples === 0) return 'No samples were taken.';
  const points = curve(sheet, () => 0, 'mean').flat().length;
  if (samples === 1) return 'The only sample is drawn as long as the time it stands for.';
  if (points >= samples) return `Every one of ${countText(samples)} samples is drawn.`;
  return `${countText(samples)} samples on ${countText(points)} points, ${durationText(sheet.columnMs)} each: lines are their mean (p99, places and guards: their worst; p50: the middle one), the tint around a line reaches from the lowest to the highest of them, areas are means.`;
}
