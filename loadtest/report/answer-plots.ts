import { countText, durationText, percentText, perSecondText } from '../../src/report/format.ts';
import { highest, medianOf, type Point, pilesOf } from '../../src/report/plot/curve.ts';
import { type Panel, plotPanel } from '../../src/report/plot/panel.ts';
import type { Named } from '../../src/report/plot/shapes.ts';
import type { Second } from '../judge/record.ts';
import { hitsOf, sum } from '../judge/series.ts';
import type { SeenOutcome } from '../k6/kit/outcome.ts';
import { holdOf, plannedRate, type Step } from '../k6/kit/step.ts';
import { curveOver, linePlot, type PlotContext, spanOf } from './plot.ts';

/** The planned rate with its ramps, up to the end of the run. */
export function plannedRun(endMs: number, steps: readonly Step[]): readonly Point[] {
  const corners = cornersOf(steps);
  const after = corners.findIndex(([atMs]) => atMs > endMs);
  const reached = after < 0 ? corners : corners.slice(0, after);
  const [fromMs, from] = corners[after - 1] ?? [0, 0];
  const next = corners[after];
  if (next !== undefined) {
    const [toMs, to] = next;
    reached.push([endMs, from + ((to - from) * (endMs - fromMs)) / (toMs - fromMs)]);
  }
  return reached.map(([atMs, value]) => ({ fromMs: atMs, toMs: atMs, value, low: value, high: value, weight: 0 }));
}

function cornersOf(steps: readonly Step[]): (readonly [atMs: number, rate: number])[] {
  return steps.flatMap((step, i) => {
    const before = steps[i - 1];
    const startMs = step.startSeconds * 1000;
    const holdsMs = startMs + step.rampSeconds * 1000;
    const rate = plannedRate(step);
    const endedMs = before === undefined ? 0 : holdOf(before)[1] * 1000;
    return [
      // The rate is 0 in a break.
      ...(startMs > endedMs ? [endedMs, startMs] : []).map((atMs) => [atMs, 0] as const),
      [startMs, before === undefined ? 0 : plannedRate(before)],
      [holdsMs, rate],
      [holdsMs + step.holdSeconds * 1000, rate],
    ] as const;
  });
}

/** The planned rate and the sent one: where they differ, the generator failed, not the service. */
export function ratePlot(context: PlotContext, id: string): Panel {
  const { timeline, record } = context;
  const sent = curveOver(context, timeline.seconds, ({ searches }) => searches, 'mean');
  const lost = curveOver(context, timeline.seconds, ({ dropped }) => dropped, 'mean');
  const hasLost = highest(lost) > 0;
  const steps = record.summary.steps.map(({ step }) => step);
  const reached = steps.filter(({ startSeconds }) => startSeconds * 1000 < timeline.toMs);
  const planned = reached.reduce((most, step) => Math.max(most, plannedRate(step)), 0);
  return linePlot(context, {
    id,
    heightPx: 190,
    title: 'Rate, searches per second',
    tickText: perSecondText,
    series: [
      { style: 'sent', name: 'sent', runs: sent, isTinted: true },
      {
        style: 'dropped',
        name: 'due, but not begun by the generator',
        runs: hasLost ? lost : [],
        figure: hasLost ? `${countText(record.summary.generator.dropped)} in all` : 'none',
      },
      {
        style: 'planned',
        name: 'planned',
        figure: `up to ${perSecondText(planned)}`,
        runs: [plannedRun(timeline.toMs, reached)],
      },
    ],
    isEmpty: sent.length === 0,
    missing: 'the generator told of no second.',
  });
}

interface OutcomeLayer extends Named {
  readonly outcomes: readonly SeenOutcome[];
}

const OUTCOMES = ['hit-l1', 'hit-l2', 'stale', 'collapsed', 'engine', 'lifeboat', 'shed', 'failed'] as const;

/** From the bottom up: the better answers are lower. */
export const OUTCOME_LAYERS: readonly OutcomeLayer[] = [
  ...OUTCOMES.map((name) => ({ name, style: name, outcomes: [name] })),
  { name: 'unanswered or strange', style: 'unanswered', outcomes: ['unanswered', 'rejected', 'unknown'] },
];

export const PAGELESS_LAYERS = OUTCOME_LAYERS.slice(OUTCOME_LAYERS.findIndex(({ name }) => name === 'shed'));

type Counts = Readonly<Partial<Record<SeenOutcome, number>>>;

export function countOf(counts: Counts, { outcomes }: OutcomeLayer): number {
  return sum(outcomes.map((outcome) => counts[outcome] ?? 0));
}

/** Searches a second by outcome as stacked areas, each with its figure of the whole run. */
function stackOf({ timeline, columnMs }: PlotContext, layers: readonly OutcomeLayer[]) {
  const { seconds } = timeline;
  const counts = layers.map((layer) =>
    countIn(
      seconds.flat().map(({ data }) => data),
      layer,
    ),
  );
  const runs = pilesOf(seconds, (some) => layers.map((layer) => countIn(some, layer) / some.length), { columnMs });
  const areas = (text: (count: number) => string): readonly Required<Named>[] =>
    layers.map(({ name, style }, at) => {
      const count = counts[at] ?? 0;
      return { name, style, figure: count === 0 ? 'none' : text(count) };
    });
  return { runs, all: sum(counts), areas };
}

function countIn(some: readonly Second[], layer: OutcomeLayer): number {
  return sum(some.map(({ outcomes }) => countOf(outcomes, layer)));
}

function listed(areas: readonly Required<Named>[]): string {
  return areas.map(({ name, figure }) => `${name} ${figure}`).join(', ');
}

export function outcomePlot(context: PlotContext, id: string): Panel {
  const { runs, all, areas } = stackOf(context, OUTCOME_LAYERS);
  const named = areas((count) => `${countText(count)} (${percentText(count / all)})`);
  return plotPanel(spanOf(context.timeline), {
    id,
    heightPx: 220,
    title: 'Outcomes, searches per second',
    words: `Searches by outcome, as stacked areas: ${listed(named)}.`,
    tickText: perSecondText,
    stacked: { areas: named, runs, isNamed: true },
    isEmpty: all === 0,
    missing: 'no search ended in any way.',
  });
}

/** The share of searches that were answered fresh from a cache. */
export function hitRatioPlot(context: PlotContext, id: string): Panel {
  const { timeline, record, judged } = context;
  const hits = curveOver(
    context,
    timeline.seconds,
    (second) => (second.searches > 0 ? hitsOf(second) / second.searches : undefined),
    'mean',
    ({ searches }) => searches,
  );
  const { startedAtMs } = record.summary;
  const before = judged.recoveries.map(({ lostAtMs, hitRatioBefore }, i, all) => {
    const toMs = (all[i + 1]?.lostAtMs ?? Number.POSITIVE_INFINITY) - startedAtMs;
    return [lostAtMs - startedAtMs, Math.min(toMs, timeline.toMs), hitRatioBefore] as const;
  });
  const low = hits.flat().reduce((least, point) => Math.min(least, point.low), 1);
  return linePlot(context, {
    id,
    max: 1,
    title: 'Hit ratio, % of searches',
    tickText: percentText,
    series: [
      {
        style: 'hits',
        name: 'hits: fresh from L1 or L2',
        runs: hits,
        figure: `${percentText(low)} at least`,
        isTinted: true,
      },
      { style: 'before', name: 'before each loss', levels: before },
    ],
    isDetailed: true,
    missing: 'no second had a search.',
  });
}

/** Searches without a page by outcome, and those that count as errors: some limits allow honest sheds. */
export function errorPlot(context: PlotContext, id: string): Panel {
  const { seconds } = context.timeline;
  const { runs, all, areas } = stackOf(context, PAGELESS_LAYERS);
  const errors = sum(seconds.flat().map(({ data }) => data.errors));
  const named = areas(countText);
  const figure = `${countText(errors)} in all`;
  const errorRuns = curveOver(context, seconds, (second) => second.errors, 'mean');
  return plotPanel(spanOf(context.timeline), {
    id,
    title: 'Errors and sheds, per second',
    words: `Searches without a page over time, as stacked areas: ${listed(named)}. Errors by the limits of their step: ${figure}.`,
    tickText: perSecondText,
    series: [{ style: 'errors', name: 'errors, by the limits of their step', figure, runs: errorRuns }],
    stacked: { areas: named, runs },
    isEmpty: errors + all === 0,
    missing: seconds.flat().length === 0 ? 'the generator told of no second.' : 'there were none in any second.',
  });
}

/** On a logarithmic scale: a hit takes a fraction of a millisecond, a bad p99 a second. */
export function latencyPlot(context: PlotContext, id: string): Panel {
  const { timeline, record } = context;
  // A mean of percentiles is no percentile: several seconds are drawn as their worst p90 and p99 and their median p50.
  const p99 = curveOver(context, timeline.seconds, ({ latencyMs }) => latencyMs?.p99, 'worst');
  const p90 = curveOver(context, timeline.seconds, ({ latencyMs }) => latencyMs?.p90, 'worst');
  const p50 = curveOver(context, timeline.seconds, ({ latencyMs }) => latencyMs?.p50, 'middle');
  const limits = record.summary.steps.flatMap(({ step }) => {
    const limit = step.limits?.maxP99Ms;
    const [from, to] = holdOf(step).map((seconds) => seconds * 1000);
    if (limit === undefined || from === undefined || to === undefined || from >= timeline.toMs) return [];
    return [[from, to, limit] as const];
  });
  const middle = medianOf(p50.flat().map(({ value }) => value));
  return linePlot(context, {
    id,
    heightPx: 230,
    isLog: true,
    title: 'Time to the answer: p50, p90 and p99 of each second',
    tickText: durationText,
    series: [
      { style: 'p99', name: 'p99', runs: p99, isTinted: true },
      { style: 'p90', name: 'p90', runs: p90 },
      { style: 'p50', name: 'p50', runs: p50, figure: `${durationText(middle)} usually` },
      { style: 'guard-limit', name: 'limit of the p99 of a whole step', levels: limits },
    ],
    notes: ['Each line of the grid is a multiple of the one below: equal distances are equal factors.'],
    missing: 'no second had an answer.',
  });
}
