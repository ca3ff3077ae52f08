import { countText, perSecondText } from '../../../report/format.ts';
import { createFrame } from '../../../report/plot/frame.ts';
import type { LegendEntry, Panel } from '../../../report/plot/panel.ts';
import { level, line, spread } from '../../../report/plot/series.ts';
import { GUARD_FIGURES, type GuardFigure, type Plan } from '../plan.ts';
import { curve, highest, type PlotInput } from './track.ts';
import { GUARD_WORDS } from './words.ts';

/** Engine calls per second, with their rate in the baseline. */
export function engineRatePlot(input: PlotInput, id: string): Panel {
  const { fromMs, toMs, result } = input.track;
  const rate = curve(input, ({ figures }) => figures.engineCallsPerSecond, 'mean');
  const failures = curve(
    input,
    ({ figures }) => (figures.seconds > 0 ? figures.engineFailures / figures.seconds : undefined),
    'mean',
  );
  const anyFailed = highest(failures) > 0;
  const before = finite(result?.baseline.engineCallsPerSecond);
  const frame = createFrame({ fromMs, toMs, max: Math.max(highest(rate, failures), before ?? 0), heightPx: 150 });
  const peak = perSecondText(highest(rate));
  return {
    id,
    title: 'Engine calls, per second',
    words: `Engine calls a second over time: at most ${peak}${before === undefined ? '' : `, ${perSecondText(before)} in the baseline`}.`,
    frame,
    tickText: perSecondText,
    drawn: [
      before === undefined ? undefined : level(frame, fromMs, toMs, before, 'engine past'),
      spread(frame, rate, 'engine'),
      line(frame, rate, 'engine'),
      ...(anyFailed ? [spread(frame, failures, 'failed'), line(frame, failures, 'failed')] : []),
    ],
    legend: [
      { kind: 'line', style: 'engine', name: 'calls', figure: `${peak} at most` },
      ...(before === undefined
        ? []
        : [{ kind: 'line', style: 'engine past', name: 'in the baseline', figure: perSecondText(before) } as const]),
      ...(anyFailed
        ? [
            {
              kind: 'line',
              style: 'failed',
              name: 'failed',
              figure: `${perSecondText(highest(failures))} at most`,
            } as const,
          ]
        : []),
    ],
    isEmpty: rate.length === 0,
  };
}

/** Engine calls in flight, with the concurrency limit and the ceiling. */
export function enginePlacesPlot(input: PlotInput, id: string): Panel {
  const { fromMs, toMs } = input.track;
  const inFlight = curve(input, ({ figures }) => figures.engineInFlight, 'worst');
  const queued = curve(input, ({ figures }) => figures.engineQueued, 'worst');
  const limit = curve(input, ({ figures }) => figures.engineMax, 'middle');
  const ceiling = curve(input, ({ figures }) => figures.engineCeiling, 'middle');
  const open = curve(input, ({ figures }) => (figures.breakersOpen > 0 ? figures.breakersOpen : undefined), 'worst');
  const anyQueued = highest(queued) > 0;
  const frame = createFrame({
    fromMs,
    toMs,
    max: highest(inFlight, queued, limit, ceiling),
    heightPx: 130,
    isWhole: true,
  });
  const at = { most: countText(highest(inFlight)), ceiling: countText(highest(ceiling)) };
  return {
    id,
    title: 'Engine calls in flight, of all processes',
    words: `Engine calls in flight over time: at most ${at.most}, with a ceiling of ${at.ceiling}.`,
    frame,
    tickText: countText,
    drawn: [
      // A broad bar along the time axis, so that it hides no line.
      line(
        frame,
        open.map((run) => run.map((point) => ({ ...point, value: 0 }))),
        'open',
      ),
      line(frame, ceiling, 'ceiling'),
      line(frame, limit, 'limit'),
      ...(anyQueued ? [line(frame, queued, 'queued')] : []),
      spread(frame, inFlight, 'engine'),
      line(frame, inFlight, 'engine'),
    ],
    legend: [
      { kind: 'line', style: 'engine', name: 'in flight', figure: `${at.most} at most` },
      ...(anyQueued
        ? [{ kind: 'line', style: 'queued', name: 'waiting', figure: `${countText(highest(queued))} at most` } as const]
        : []),
      { kind: 'line', style: 'limit', name: 'limit at that time' },
      { kind: 'line', style: 'ceiling', name: 'ceiling', figure: at.ceiling },
      ...(open.length === 0 ? [] : [{ kind: 'line', style: 'open', name: 'a breaker open' } as const]),
    ],
    isEmpty: inFlight.length === 0,
  };
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** Each guarded figure with its limits. */
export function guardPlots(input: PlotInput, plan: Plan, id: string): readonly Panel[] {
  return GUARD_FIGURES.filter((figure) => plan.guards.some((guard) => guard.figure === figure)).map((figure) =>
    guardPlot(input, plan, figure, `${id}-${figure}`),
  );
}

function guardPlot(input: PlotInput, plan: Plan, figure: GuardFigure, id: string): Panel {
  const { track } = input;
  const { name, unit, text } = GUARD_WORDS[figure];
  const rules = plan.guards.filter((guard) => guard.figure === figure && Number.isFinite(guard.max));
  const values = curve(input, ({ guards }) => guards.find((guard) => guard.figure === figure)?.value, 'worst');
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
