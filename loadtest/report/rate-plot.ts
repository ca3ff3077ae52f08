import { countText, perSecondText } from '../../src/report/format.ts';
import { createFrame } from '../../src/report/plot/frame.ts';
import { curve, highest, type Sheet } from './curve.ts';
import { plannedLine, plannedRate } from './planned.ts';
import { linePlot, type Plot } from './plot.ts';

/** What was asked for against what was sent: where they part, the generator failed, not the service. */
export function ratePlot(sheet: Sheet, id: string): Plot {
  const { timeline, record } = sheet;
  const sent = curve(sheet, timeline.seconds, ({ searches }) => searches, 'mean');
  const dropped = curve(sheet, timeline.seconds, ({ dropped: lost }) => lost, 'mean');
  const steps = record.summary.steps.map(({ step }) => step);
  const reached = steps.filter(({ startSeconds }) => startSeconds * 1000 < timeline.toMs);
  const planned = reached.reduce((most, step) => Math.max(most, plannedRate(step)), 0);
  const max = Math.max(planned, highest(sent, dropped));
  const frame = createFrame({ fromMs: 0, toMs: timeline.toMs, max, heightPx: 190 });
  const lost = record.summary.generator.dropped;
  return linePlot({
    ...{ sheet, id, frame, text: perSecondText },
    title: 'Rate, searches per second',
    curves: [
      { style: 'sent', name: 'sent', runs: sent, hasSpread: true },
      {
        style: 'dropped',
        name: 'due, but not begun by the generator',
        runs: highest(dropped) > 0 ? dropped : [],
        figure: `${countText(lost)} in all`,
      },
    ],
    behind: [plannedLine(frame, reached)],
    legend: [
      { kind: 'line', style: 'planned', name: 'planned', figure: `up to ${perSecondText(planned)}` },
      ...(highest(dropped) > 0
        ? []
        : [{ kind: 'line', style: 'dropped', name: 'due, but not begun by the generator', figure: 'none' } as const]),
    ],
    missing: 'the generator told of no second.',
  });
}
