import { durationText } from '../../report/number-text.ts';
import { createFrame } from '../../report/plot/frame.ts';
import { level, line, spread } from '../../report/plot/line.ts';
import type { Panel } from '../../report/plot/panel.ts';
import { curve, highest, type Sheet } from './curve.ts';

/** How long people waited. */
export function latencyPlot(sheet: Sheet, id: string): Panel {
  const { fromMs, toMs, learned } = sheet.track;
  // A mean of percentiles is none: what is drawn of several samples is their worst p99 and their middle p50.
  const p99 = curve(sheet, ({ figures }) => figures.p99Ms, 'worst');
  const p50 = curve(sheet, ({ figures }) => figures.p50Ms, 'middle');
  const before = learned?.baseline.p99Ms;
  const frame = createFrame({ fromMs, toMs, max: Math.max(highest(p99, p50), before ?? 0), heightPx: 150 });
  const worst = durationText(p99.length === 0 ? undefined : highest(p99));
  return {
    id,
    title: 'Time to the answer, p99 and p50',
    words: `p99 and p50 over time: p99 at most ${worst}${before === undefined ? '' : `, ${durationText(before)} in the baseline`}.`,
    frame,
    tickText: durationText,
    drawn: [
      before === undefined ? undefined : level(frame, fromMs, toMs, before, 'p99 past'),
      spread(frame, p99, 'p99'),
      line(frame, p99, 'p99'),
      line(frame, p50, 'p50'),
    ],
    legend: [
      { kind: 'line', style: 'p99', name: 'p99', figure: `${worst} at most` },
      { kind: 'line', style: 'p50', name: 'p50' },
      ...(before === undefined
        ? []
        : [{ kind: 'line', style: 'p99 past', name: 'p99 in the baseline', figure: durationText(before) } as const]),
    ],
    notes: [
      'Times are counted in classes: what is shown is the upper end of a class, or of the last one for all beyond it.',
    ],
    isEmpty: p99.length + p50.length === 0,
  };
}
