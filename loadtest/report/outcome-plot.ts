import { countText, percentText, perSecondText } from '../../src/report/format.ts';
import { createFrame } from '../../src/report/plot/frame.ts';
import { level, stack, stackNames } from '../../src/report/plot/series.ts';
import { curve, type Sheet } from './curve.ts';
import { countOf, OUTCOME_LAYERS } from './outcome-layers.ts';
import { highestPile, pilesOf } from './outcome-piles.ts';
import { linePlot, type Plot } from './plot.ts';

/** What became of the searches, a second, as their clients saw it. */
export function outcomePlot(sheet: Sheet, id: string): Plot {
  const { timeline } = sheet;
  const title = 'Outcomes, searches per second';
  const runs = pilesOf(sheet, OUTCOME_LAYERS);
  const seconds = timeline.seconds.flat().map(({ own }) => own);
  const totals = OUTCOME_LAYERS.map((layer) => sum(seconds.map(({ outcomes }) => countOf(outcomes, layer))));
  const all = sum(totals);
  if (all === 0) return { id, title, missing: 'no search ended in any way.' };
  const frame = createFrame({ fromMs: 0, toMs: timeline.toMs, max: highestPile(runs), heightPx: 220 });
  const figures = OUTCOME_LAYERS.map(({ name, style }, i) => {
    const total = totals[i] ?? 0;
    const figure = total === 0 ? 'none' : `${countText(total)} (${percentText(total / all)})`;
    return { name, style, figure };
  });
  return {
    id,
    title,
    words: `Searches by outcome, as stacked areas: ${figures.map(({ name, figure }) => `${name} ${figure}`).join(', ')}.`,
    frame,
    tickText: perSecondText,
    drawn: stack(frame, runs, OUTCOME_LAYERS),
    names: stackNames(frame, runs, OUTCOME_LAYERS),
    // In the order in which they lie on each other, so that an area is found by its place as well.
    legend: figures.toReversed().map(({ name, style, figure }) => ({ kind: 'area', style, name, figure })),
    isEmpty: false,
  };
}

/** The share of answers that came fresh out of a cache. */
export function hitRatioPlot(sheet: Sheet, id: string): Plot {
  const { timeline, record, judged } = sheet;
  const hits = curve(
    sheet,
    timeline.seconds,
    ({ outcomes, searches }) =>
      searches > 0 ? ((outcomes['hit-l1'] ?? 0) + (outcomes['hit-l2'] ?? 0)) / searches : undefined,
    'mean',
    ({ searches }) => searches,
  );
  const frame = createFrame({ fromMs: 0, toMs: timeline.toMs, max: 1, heightPx: 150 });
  const before = judged.recoveries.map(({ lostAtMs, hitRatioBefore }, i, all) => {
    const toMs = (all[i + 1]?.lostAtMs ?? Number.POSITIVE_INFINITY) - record.summary.startedAtMs;
    const fromMs = lostAtMs - record.summary.startedAtMs;
    return level(frame, fromMs, Math.min(toMs, timeline.toMs), hitRatioBefore, 'before');
  });
  const low = hits.flat().reduce((least, point) => Math.min(least, point.low), 1);
  return linePlot({
    ...{ sheet, id, frame, text: percentText, behind: before },
    title: 'Hit ratio, % of searches',
    curves: [
      {
        style: 'hits',
        name: 'hits: fresh from L1 or L2',
        runs: hits,
        figure: `${percentText(low)} at least`,
        hasSpread: true,
      },
    ],
    legend: before.length === 0 ? [] : [{ kind: 'line', style: 'before', name: 'before each loss' }],
    isDetailed: true,
    missing: 'no second had a search.',
  });
}

function sum(some: readonly number[]): number {
  return some.reduce((all, one) => all + one, 0);
}
