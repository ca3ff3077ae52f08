import { countText, durationText, percentText, perSecondText } from '../../../report/format.ts';
import { atFloor, type Combine, curve, highest, type PointRun, pilesOf, sum } from '../../../report/plot/curve.ts';
import { constant, type Panel, plotPanel } from '../../../report/plot/panel.ts';
import type { Outcome } from '../../../search/outcome.ts';
import type { Sample } from '../journal.ts';
import { GUARD_FIGURES, type GuardFigure, type Plan } from '../plan.ts';
import { GUARDS } from '../view.ts';
import { cohortCurve, MAX_POINT_MS, MIN_POINT_SEARCHES, type PlotInput, samplesOf, segmentsOf } from './track.ts';

/** All plots of one domain but those of its guards. */
export function mainPlots(input: PlotInput, plan: Plan, id: string): readonly Panel[] {
  return [
    hitRatioPlot(input, plan, `${id}-hits`),
    engineRatePlot(input, `${id}-engine`),
    inFlightPlot(input, `${id}-places`),
    latencyPlot(input, `${id}-time`),
    outcomePlot(input, `${id}-outcomes`),
  ];
}

/** One figure over time. */
function sampled(
  { track, columnMs }: PlotInput,
  read: (sample: Sample) => number | undefined,
  combine: Combine,
): readonly PointRun[] {
  return curve(track.runs, read, { fromMs: track.fromMs, columnMs, combine });
}

/** Hit ratio of the current stage's cohort and of the control cohort, each with its own past. */
function hitRatioPlot(input: PlotInput, plan: Plan, id: string): Panel {
  const { track } = input;
  const pasts = track.result?.baseline.cohorts ?? [];
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
  const controlPast = pasts[0]?.hitRatio;
  const stages = segmentsOf(track, plan).flatMap(({ fromMs, toMs, stage }) => {
    const hitRatio = pasts[stage + 1]?.hitRatio;
    return hitRatio === undefined ? [] : [[fromMs, toMs, hitRatio] as const];
  });
  const figures = { flushed: lowestFigure(flushed), control: lowestFigure(control) };
  return plotPanel(track, {
    id,
    heightPx: 200,
    max: 1,
    tickCount: 5,
    isDetailed: true,
    title: 'Hit ratio, % of searches',
    words: `Hit ratio over time. Flushed cohort: ${figures.flushed}. Control cohort: ${figures.control}.`,
    tickText: percentText,
    series: [
      {
        style: 'flushed',
        name: 'flushed: the cohort of the stage',
        figure: figures.flushed,
        runs: flushed,
        isTinted: true,
      },
      { style: 'flushed past', name: 'its own past', levels: stages },
      { style: 'control', name: 'control: flushed by nobody', figure: figures.control, runs: control, isTinted: true },
      constant(track, controlPast, { style: 'control past', name: 'its own past', figure: percentText(controlPast) }),
    ],
    notes: [
      `Hits are answers from L1 or L2 that were fresh. A point takes samples together until they hold ${MIN_POINT_SEARCHES} searches of the cohort, or for ${durationText(MAX_POINT_MS)}.`,
    ],
  });
}

function lowestFigure(runs: readonly PointRun[]): string {
  const low = runs.flat().reduce((least, point) => Math.min(least, point.low), 1);
  return runs.length === 0 ? 'not measured' : `${percentText(low)} at its lowest`;
}

/** Engine calls per second, with their rate in the baseline. */
function engineRatePlot(input: PlotInput, id: string): Panel {
  const { track } = input;
  const rate = sampled(input, ({ figures }) => figures.engineCallsPerSecond, 'mean');
  const failures = sampled(
    input,
    ({ figures }) => (figures.seconds > 0 ? figures.engineFailures / figures.seconds : undefined),
    'mean',
  );
  const peak = perSecondText(highest(rate));
  const before = track.result?.baseline.engineCallsPerSecond;
  const baseline = constant(track, before, {
    style: 'engine past',
    name: 'in the baseline',
    figure: perSecondText(before),
  });
  const failed = {
    style: 'failed',
    name: 'failed',
    figure: `${perSecondText(highest(failures))} at most`,
    runs: failures,
    isTinted: true,
  };
  return plotPanel(track, {
    id,
    heightPx: 150,
    title: 'Engine calls, per second',
    words: `Engine calls a second over time: at most ${peak}${baseline === undefined ? '' : `, ${baseline.figure} in the baseline`}.`,
    tickText: perSecondText,
    series: [
      highest(failures) > 0 ? failed : undefined,
      { style: 'engine', name: 'calls', figure: `${peak} at most`, runs: rate, isTinted: true },
      baseline,
    ],
  });
}

/** Engine calls in flight, with the concurrency limit and the ceiling. */
function inFlightPlot(input: PlotInput, id: string): Panel {
  const inFlight = sampled(input, ({ figures }) => figures.engineInFlight, 'worst');
  const queued = sampled(input, ({ figures }) => figures.engineQueued, 'worst');
  const limit = sampled(input, ({ figures }) => figures.engineMax, 'middle');
  const ceiling = sampled(input, ({ figures }) => figures.engineCeiling, 'middle');
  const open = sampled(input, ({ figures }) => (figures.breakersOpen > 0 ? figures.breakersOpen : undefined), 'worst');
  const most = countText(highest(inFlight));
  const ceilingText = countText(highest(ceiling));
  const waiting = `${countText(highest(queued))} at most`;
  return plotPanel(input.track, {
    id,
    heightPx: 130,
    isWhole: true,
    max: highest(inFlight, queued, limit, ceiling),
    title: 'Engine calls in flight, of all processes',
    words: `Engine calls in flight over time: at most ${most}, with a ceiling of ${ceilingText}.`,
    tickText: countText,
    series: [
      { style: 'engine', name: 'in flight', figure: `${most} at most`, runs: inFlight, isTinted: true },
      highest(queued) > 0 ? { style: 'queued', name: 'waiting', figure: waiting, runs: queued } : undefined,
      { style: 'limit', name: 'limit at that time', runs: limit },
      { style: 'ceiling', name: 'ceiling', figure: ceilingText, runs: ceiling },
      open.length > 0 ? { style: 'open', name: 'a breaker open', runs: atFloor(open) } : undefined,
    ],
  });
}

/** Duration of answers. */
function latencyPlot(input: PlotInput, id: string): Panel {
  const { track } = input;
  // Percentiles have no meaningful mean: a point of several samples shows their worst p99 and their median p50.
  const p99 = sampled(input, ({ figures }) => figures.p99Ms, 'worst');
  const p50 = sampled(input, ({ figures }) => figures.p50Ms, 'middle');
  const before = track.result?.baseline.p99Ms;
  const worst = durationText(p99.length === 0 ? undefined : highest(p99));
  return plotPanel(track, {
    id,
    heightPx: 150,
    title: 'Time to the answer, p99 and p50',
    words: `p99 and p50 over time: p99 at most ${worst}${before === undefined ? '' : `, ${durationText(before)} in the baseline`}.`,
    tickText: durationText,
    series: [
      { style: 'p99', name: 'p99', figure: `${worst} at most`, runs: p99, isTinted: true },
      { style: 'p50', name: 'p50', runs: p50 },
      constant(track, before, { style: 'p99 past', name: 'p99 in the baseline', figure: durationText(before) }),
    ],
    notes: [
      'Times are counted in classes: what is shown is the upper end of a class, or of the last one for all beyond it.',
    ],
  });
}

/** Each guarded figure with its limits. */
export function guardPlots(input: PlotInput, plan: Plan, id: string): readonly Panel[] {
  return GUARD_FIGURES.filter((figure) => plan.guards.some((guard) => guard.figure === figure)).map((figure) =>
    guardPlot(input, plan, figure, `${id}-${figure}`),
  );
}

function guardPlot(input: PlotInput, plan: Plan, figure: GuardFigure, id: string): Panel {
  const { track } = input;
  const { name, unit, text } = GUARDS[figure];
  const rules = plan.guards.filter((guard) => guard.figure === figure && Number.isFinite(guard.max));
  const values = sampled(input, ({ guards }) => guards.find((guard) => guard.figure === figure)?.value, 'worst');
  const worst = values.length === 0 ? 'not measured' : `${text(highest(values))} at most`;
  const limits = rules.map(({ max }) => max);
  return plotPanel(track, {
    id,
    heightPx: 96,
    tickCount: 3,
    max: Math.max(highest(values), ...limits) * 1.05,
    title: `${name}, ${unit}`,
    words: `${name}: ${worst}; limit ${[...new Set(limits)].map(text).join(' and ')}.`,
    tickText: text,
    series: [
      { style: 'guarded', name: 'value', figure: worst, runs: values, isTinted: true },
      ...rules.map(({ max, then }) =>
        constant(track, max, { style: 'guard-limit', name: `limit ${text(max)}, then ${then}` }),
      ),
    ],
  });
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

/** Searches per second by outcome. */
function outcomePlot({ track, columnMs }: PlotInput, id: string): Panel {
  const totals = outcomesOf(samplesOf(track));
  const all = sum(totals);
  const areas = DRAWN_OUTCOMES.map((name, i) => {
    const count = totals[i] ?? 0;
    return { name, style: name, figure: count === 0 ? 'none' : `${countText(count)} (${percentText(count / all)})` };
  });
  return plotPanel(track, {
    id,
    heightPx: 220,
    title: 'Outcomes, searches per second',
    words: `Searches by outcome, as stacked areas: ${areas.map(({ name, figure }) => `${name} ${figure}`).join(', ')}.`,
    tickText: perSecondText,
    stacked: { areas, runs: pilesOf(track.runs, ratesOf, { fromMs: track.fromMs, columnMs }), isNamed: true },
    isEmpty: all === 0,
  });
}

/** A column without any time has no rate. */
function ratesOf(samples: readonly Sample[]): readonly number[] | undefined {
  const seconds = sum(samples.map(({ figures }) => counted(figures.seconds)));
  return seconds === 0 ? undefined : outcomesOf(samples).map((count) => count / seconds);
}

/** The searches of each drawn outcome. */
function outcomesOf(samples: readonly Sample[]): readonly number[] {
  return DRAWN_OUTCOMES.map((outcome) => sum(samples.map(({ figures }) => counted(figures.outcomes[outcome]))));
}

function counted(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;
}
