import { createFrame } from '../../report/plot/frame.ts';
import type { LegendEntry } from '../../report/plot/legend.ts';
import { level, line, spread } from '../../report/plot/line.ts';
import type { Panel } from '../../report/plot/panel.ts';
import { GUARD_FIGURES, type GuardFigure, type Plan } from '../plan.ts';
import { curve, highest, type Sheet } from './curve.ts';
import { GUARD_WORDS } from './guard-figure.ts';

/** Each guarded figure against its limits. */
export function guardPlots(sheet: Sheet, plan: Plan, id: string): readonly Panel[] {
  return GUARD_FIGURES.filter((figure) => plan.guards.some((guard) => guard.figure === figure)).map((figure) =>
    guardPlot(sheet, plan, figure, `${id}-${figure}`),
  );
}

function guardPlot(sheet: Sheet, plan: Plan, figure: GuardFigure, id: string): Panel {
  const { track } = sheet;
  const { name, unit, text } = GUARD_WORDS[figure];
  const rules = plan.guards.filter((guard) => guard.figure === figure && Number.isFinite(guard.max));
  const values = curve(sheet, ({ guards }) => guards.find((guard) => guard.figure === figure)?.value, 'worst');
  const limits = [...new Set(rules.map(({ max }) => max))];
  const worst = values.length === 0 ? 'not measured' : `${text(highest(values))} at most`;
  const frame = createFrame({
    ...{ fromMs: track.fromMs, toMs: track.toMs, heightPx: 96, tickCount: 3 },
    max: Math.max(highest(values), ...limits) * 1.05,
  });
  return {
    id,
    title: `${name}, ${unit}`,
    words: `${name}: ${worst}; limit ${limits.map(text).join(' and ')}.`,
    frame,
    tickText: text,
    drawn: [
      spread(frame, values, 'guarded'),
      line(frame, values, 'guarded'),
      ...limits.map((max) => level(frame, track.fromMs, track.toMs, max, 'guard-limit')),
    ],
    legend: [
      { kind: 'line', style: 'guarded', name: 'value', figure: worst },
      ...rules.map(
        (rule): LegendEntry => ({
          kind: 'line',
          style: 'guard-limit',
          name: `limit ${text(rule.max)}, then ${rule.then}`,
        }),
      ),
    ],
    isEmpty: values.length === 0,
  };
}
