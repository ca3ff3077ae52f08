import { durationText } from '../../src/report/format.ts';
import { createLogFrame } from '../../src/report/plot/frame.ts';
import { level } from '../../src/report/plot/series.ts';
import { holdOf } from '../k6/kit/step.ts';
import { curve, highest, lowestAboveZero, type Sheet } from './curve.ts';
import { linePlot, type Plot } from './plot.ts';

/** How long answers took. On factors of ten: a hit takes a fraction of a millisecond, a bad p99 a second. */
export function latencyPlot(sheet: Sheet, id: string): Plot {
  const { timeline, record } = sheet;
  // A mean of percentiles is none: what is drawn of several seconds is their worst p90 and p99 and their middle p50.
  const p99 = curve(sheet, timeline.seconds, ({ latencyMs }) => latencyMs?.p99, 'worst');
  const p90 = curve(sheet, timeline.seconds, ({ latencyMs }) => latencyMs?.p90, 'worst');
  const p50 = curve(sheet, timeline.seconds, ({ latencyMs }) => latencyMs?.p50, 'middle');
  const limits = record.summary.steps.flatMap(({ step }) => {
    const limit = step.limits?.maxP99Ms;
    const [from, to] = holdOf(step).map((seconds) => seconds * 1000);
    if (limit === undefined || from === undefined || to === undefined || from >= timeline.toMs) return [];
    return [{ from, to, limit }];
  });
  const max = limits.reduce((most, { limit }) => Math.max(most, limit), highest(p99, p90, p50));
  const min = lowestAboveZero(p50, p90, p99) ?? 0.1;
  const frame = createLogFrame({ fromMs: 0, toMs: timeline.toMs, min, max, heightPx: 230 });
  const p50s = p50.flat().map(({ value }) => value);
  const middle = p50s.toSorted((a, b) => a - b)[Math.floor(p50s.length / 2)];
  return linePlot({
    ...{ sheet, id, frame, text: durationText },
    title: 'Time to the answer: p50, p90 and p99 of each second',
    curves: [
      { style: 'p99', name: 'p99', runs: p99, hasSpread: true },
      { style: 'p90', name: 'p90', runs: p90 },
      { style: 'p50', name: 'p50', runs: p50, figure: `${durationText(middle)} usually` },
    ],
    behind: limits.map(({ from, to, limit }) => level(frame, from, to, limit, 'guard-limit')),
    legend:
      limits.length === 0 ? [] : [{ kind: 'line', style: 'guard-limit', name: 'limit of the p99 of a whole step' }],
    notes: ['Each line of the grid is a multiple of the one below: equal distances are equal factors.'],
    missing: 'no second had an answer.',
  });
}
