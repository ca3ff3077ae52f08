import { countText, durationText, percentText, perSecondText } from '../../../report/format.ts';
import { createFrame } from '../../../report/plot/frame.ts';
import type { Panel } from '../../../report/plot/panel.ts';
import {
  type Layer,
  level,
  line,
  type Pile,
  type Run,
  spread,
  stack,
  stackNames,
} from '../../../report/plot/series.ts';
import type { Outcome } from '../../../search/outcome.ts';
import type { Plan } from '../plan.ts';
import {
  cohortCurve,
  curve,
  highest,
  MAX_POINT_MS,
  MIN_POINT_SEARCHES,
  type PlotInput,
  type Stretch,
  samplesOf,
  segmentsOf,
} from './track.ts';

/** Hit ratio of the current stage's cohort and of the control cohort, each with its own past. */
export function hitRatioPlot(input: PlotInput, plan: Plan, id: string): Panel {
  const { track } = input;
  const past = track.result?.baseline.cohorts ?? [];
  const flushed = cohortCurve(
    input,
    ({ figures, stage }) => figures.cohorts[stage + 1],
    ({ stage }) => stage,
  );
  const control = cohortCurve(
    input,
    ({ figures }) => figures.cohorts[0],
    () => 0,
  );
  const frame = createFrame({ fromMs: track.fromMs, toMs: track.toMs, max: 1, heightPx: 200, tickCount: 5 });
  const controlPast = past[0]?.hitRatio;
  const pasts = segmentsOf(track, plan).flatMap(({ fromMs, toMs, stage }) => {
    const hitRatio = past[stage + 1]?.hitRatio;
    return hitRatio === undefined ? [] : [level(frame, fromMs, toMs, hitRatio, 'flushed past')];
  });
  return {
    id,
    title: 'Hit ratio, % of searches',
    words: `Hit ratio over time. ${lowest('Flushed cohort', flushed)} ${lowest('Control cohort', control)}`,
    frame,
    tickText: percentText,
    drawn: [
      controlPast === undefined ? undefined : level(frame, track.fromMs, track.toMs, controlPast, 'control past'),
      ...pasts,
      spread(frame, control, 'control'),
      line(frame, control, 'control'),
      spread(frame, flushed, 'flushed'),
      line(frame, flushed, 'flushed'),
    ],
    legend: [
      { kind: 'line', style: 'flushed', name: 'flushed: the cohort of the stage', figure: lowestFigure(flushed) },
      { kind: 'line', style: 'flushed past', name: 'its own past' },
      { kind: 'line', style: 'control', name: 'control: flushed by nobody', figure: lowestFigure(control) },
      ...(controlPast === undefined
        ? []
        : [{ kind: 'line', style: 'control past', name: 'its own past', figure: percentText(controlPast) } as const]),
    ],
    notes: [
      `Hits are answers from L1 or L2 that were fresh. A point takes samples together until they hold ${MIN_POINT_SEARCHES} searches of the cohort, or for ${durationText(MAX_POINT_MS)}.`,
    ],
    isDetailed: true,
    isEmpty: flushed.length + control.length === 0,
  };
}

function lowest(name: string, runs: readonly Run[]): string {
  return runs.length === 0 ? `${name}: nothing was measured.` : `${name}: ${lowestFigure(runs)}.`;
}

function lowestFigure(runs: readonly Run[]): string {
  const low = runs.flat().reduce((least, point) => Math.min(least, point.low), 1);
  return runs.length === 0 ? 'not measured' : `${percentText(low)} at its lowest`;
}

/** From the bottom up: the best answers are lowest. Invalid requests and those left by their client are not drawn. */
const DRAWN_OUTCOMES = [
  'hit-l1',
  'hit-l2',
  'stale',
  'collapsed',
  'engine',
  'lifeboat',
  'shed',
  'failed',
] as const satisfies readonly Outcome[];

const LAYERS: readonly Layer[] = DRAWN_OUTCOMES.map((outcome) => ({ name: outcome, style: outcome }));

/** Searches per second by outcome. */
export function outcomePlot(input: PlotInput, id: string): Panel {
  const { track, columnMs } = input;
  const runs = track.runs.map((run) => {
    const columns = Map.groupBy(run, ({ fromMs, toMs }) => Math.floor(((fromMs + toMs) / 2 - track.fromMs) / columnMs));
    return [...columns.values()].flatMap(pileOf);
  });
  const totals = DRAWN_OUTCOMES.map((outcome) =>
    samplesOf(track).reduce((sum, { figures }) => sum + counted(figures.outcomes[outcome]), 0),
  );
  const all = totals.reduce((sum, total) => sum + total, 0);
  const most = runs.flat().reduce(
    (high, { values }) =>
      Math.max(
        high,
        values.reduce((sum, value) => sum + value, 0),
      ),
    0,
  );
  const frame = createFrame({ fromMs: track.fromMs, toMs: track.toMs, max: most, heightPx: 220 });
  const figures = DRAWN_OUTCOMES.map((name, i) => {
    const total = totals[i] ?? 0;
    return { name, figure: total === 0 ? 'none' : `${countText(total)} (${percentText(total / all)})` };
  });
  return {
    id,
    title: 'Outcomes, searches per second',
    words: `Searches by outcome, as stacked areas: ${figures.map(({ name, figure }) => `${name} ${figure}`).join(', ')}.`,
    frame,
    tickText: perSecondText,
    drawn: stack(frame, runs, LAYERS),
    names: stackNames(frame, runs, LAYERS),
    // In the order of the areas, from the top down.
    legend: figures.toReversed().map(({ name, figure }) => ({ kind: 'area', style: name, name, figure })),
    isEmpty: all === 0,
  };
}

/** A column without any time has no rate. */
function pileOf(stretches: readonly Stretch[]): readonly Pile[] {
  const [first, last] = [stretches[0], stretches[stretches.length - 1]];
  const seconds = stretches.reduce((sum, { sample }) => sum + counted(sample.figures.seconds), 0);
  if (first === undefined || last === undefined || seconds === 0) return [];
  const values = DRAWN_OUTCOMES.map(
    (outcome) => stretches.reduce((sum, { sample }) => sum + counted(sample.figures.outcomes[outcome]), 0) / seconds,
  );
  return [{ fromMs: first.fromMs, toMs: last.toMs, values }];
}

function counted(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Duration of answers. */
export function latencyPlot(input: PlotInput, id: string): Panel {
  const { fromMs, toMs, result } = input.track;
  // Percentiles have no meaningful mean: a point of several samples shows their worst p99 and their median p50.
  const p99 = curve(input, ({ figures }) => figures.p99Ms, 'worst');
  const p50 = curve(input, ({ figures }) => figures.p50Ms, 'middle');
  const before = result?.baseline.p99Ms;
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
