import { countText, durationText, percentText, perSecondText } from '../../src/report/format.mjs';
import { element, type Markup } from '../../src/report/markup.ts';
import { createFrame, createLogFrame, type Frame } from '../../src/report/plot/frame.ts';
import {
  type Layer,
  level,
  line,
  type Pile,
  type Place,
  pathData,
  stack,
  stackNames,
} from '../../src/report/plot/series.ts';
import type { Second } from '../judge/record.ts';
import { hitsOf, sum } from '../judge/series.ts';
import type { SeenOutcome } from '../k6/kit/outcome.ts';
import { holdOf, plannedRate, type Step } from '../k6/kit/step.ts';
import { columnsOf, curve, highest, linePlot, lowestAboveZero, type Plot, type PlotContext } from './plot.ts';
import type { Slice } from './timeline.ts';

/** The planned rate with its ramps, up to the end of the run. */
export function plannedLine(frame: Frame, steps: readonly Step[]): Markup {
  const corners = cornersOf(steps);
  const endMs = frame.x.to;
  const places: Place[] = [];
  for (const [i, [atMs, rate]] of corners.entries()) {
    if (atMs > endMs) {
      const [fromMs, from] = corners[i - 1] ?? [0, 0];
      const share = (endMs - fromMs) / (atMs - fromMs);
      places.push([frame.x.at(endMs), frame.y.at(from + (rate - from) * share)]);
      break;
    }
    places.push([frame.x.at(atMs), frame.y.at(rate)]);
  }
  return element('path', { class: 'line planned', d: pathData(places) });
}

function cornersOf(steps: readonly Step[]): readonly (readonly [atMs: number, rate: number])[] {
  return steps.flatMap((step, i) => {
    const before = steps[i - 1];
    const startMs = step.startSeconds * 1000;
    const holdsMs = startMs + step.rampSeconds * 1000;
    const rate = plannedRate(step);
    const endedMs = before === undefined ? 0 : holdOf(before)[1] * 1000;
    return [
      // The rate is 0 in a break.
      ...(startMs > endedMs
        ? ([
            [endedMs, 0],
            [startMs, 0],
          ] as const)
        : []),
      [startMs, before === undefined ? 0 : plannedRate(before)],
      [holdsMs, rate],
      [holdsMs + step.holdSeconds * 1000, rate],
    ] as const;
  });
}

/** The planned rate and the sent one: where they differ, the generator failed, not the service. */
export function ratePlot(context: PlotContext, id: string): Plot {
  const { timeline, record } = context;
  const sent = curve(context, timeline.seconds, ({ searches }) => searches, 'mean');
  const lost = curve(context, timeline.seconds, ({ dropped }) => dropped, 'mean');
  const dropped = { style: 'dropped', name: 'due, but not begun by the generator' };
  const steps = record.summary.steps.map(({ step }) => step);
  const reached = steps.filter(({ startSeconds }) => startSeconds * 1000 < timeline.toMs);
  const planned = reached.reduce((most, step) => Math.max(most, plannedRate(step)), 0);
  const max = Math.max(planned, highest(sent, lost));
  const frame = createFrame({ fromMs: 0, toMs: timeline.toMs, max, heightPx: 190 });
  const hasLost = highest(lost) > 0;
  return linePlot({
    ...{ context, id, frame, text: perSecondText },
    title: 'Rate, searches per second',
    curves: [
      { style: 'sent', name: 'sent', runs: sent, hasSpread: true },
      { ...dropped, runs: hasLost ? lost : [], figure: `${countText(record.summary.generator.dropped)} in all` },
    ],
    behind: [plannedLine(frame, reached)],
    legend: [
      { kind: 'line', style: 'planned', name: 'planned', figure: `up to ${perSecondText(planned)}` },
      ...(hasLost ? [] : [{ ...dropped, kind: 'line', figure: 'none' } as const]),
    ],
    missing: 'the generator told of no second.',
  });
}

interface OutcomeLayer extends Layer {
  readonly outcomes: readonly SeenOutcome[];
}

const OUTCOMES = ['hit-l1', 'hit-l2', 'stale', 'collapsed', 'engine', 'lifeboat', 'shed', 'failed'] as const;

/** From the bottom up: the better answers are lower. */
export const OUTCOME_LAYERS: readonly OutcomeLayer[] = [
  ...OUTCOMES.map((name) => ({ name, style: name, outcomes: [name] })),
  { name: 'unanswered or strange', style: 'unanswered', outcomes: ['unanswered', 'rejected', 'unknown'] },
];

/** The outcomes without a page. */
export const PAGELESS_LAYERS = OUTCOME_LAYERS.slice(OUTCOME_LAYERS.findIndex(({ name }) => name === 'shed'));

type Counts = Readonly<Partial<Record<SeenOutcome, number>>>;

export function countOf(counts: Counts, { outcomes }: OutcomeLayer): number {
  return outcomes.reduce((sum, outcome) => {
    const count = counts[outcome];
    return sum + (count !== undefined && Number.isFinite(count) && count > 0 ? count : 0);
  }, 0);
}

/** Searches a second by outcome as stacked areas, with the count of each layer in the whole run. */
function areasOf(context: PlotContext, layers: readonly OutcomeLayer[]) {
  const { seconds } = context.timeline;
  const runs = seconds.map((run) =>
    columnsOf(context, run).flatMap((slices): readonly Pile[] => {
      const [first, last] = [slices[0], slices.at(-1)];
      if (first === undefined || last === undefined) return [];
      const values = layers.map((layer) => countIn(slices, layer) / slices.length);
      return [{ fromMs: first.fromMs, toMs: last.toMs, values }];
    }),
  );
  const counts = layers.map((layer) => countIn(seconds.flat(), layer));
  return {
    runs,
    all: sum(counts),
    max: Math.max(0, ...runs.flat().map(({ values }) => sum(values))),
    /** In the order of the layers. */
    entries: (text: (count: number) => string) =>
      layers.map(({ name, style }, at) => {
        const count = counts[at] ?? 0;
        return { kind: 'area' as const, style, name, figure: count === 0 ? 'none' : text(count) };
      }),
  };
}

function countIn(slices: readonly Slice<Second>[], layer: OutcomeLayer): number {
  return sum(slices.map(({ data }) => countOf(data.outcomes, layer)));
}

function listed(entries: readonly { readonly name: string; readonly figure: string }[]): string {
  return entries.map(({ name, figure }) => `${name} ${figure}`).join(', ');
}

/** Searches a second by outcome, as their clients saw them. */
export function outcomePlot(context: PlotContext, id: string): Plot {
  const title = 'Outcomes, searches per second';
  const { runs, all, max, entries } = areasOf(context, OUTCOME_LAYERS);
  if (all === 0) return { id, title, missing: 'no search ended in any way.' };
  const frame = createFrame({ fromMs: 0, toMs: context.timeline.toMs, max, heightPx: 220 });
  const legend = entries((count) => `${countText(count)} (${percentText(count / all)})`);
  return {
    ...{ id, title, frame, isEmpty: false },
    words: `Searches by outcome, as stacked areas: ${listed(legend)}.`,
    tickText: perSecondText,
    drawn: stack(frame, runs, OUTCOME_LAYERS),
    names: stackNames(frame, runs, OUTCOME_LAYERS),
    // In the order of the stack, so that an area is also found by its position.
    legend: legend.toReversed(),
  };
}

const HITS = { style: 'hits', name: 'hits: fresh from L1 or L2' };

/** The share of searches that were answered fresh from a cache. */
export function hitRatioPlot(context: PlotContext, id: string): Plot {
  const { timeline, record, judged } = context;
  const hits = curve(
    context,
    timeline.seconds,
    (second) => (second.searches > 0 ? hitsOf(second) / second.searches : undefined),
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
    ...{ context, id, frame, text: percentText, behind: before },
    title: 'Hit ratio, % of searches',
    curves: [{ ...HITS, runs: hits, figure: `${percentText(low)} at least`, hasSpread: true }],
    legend: before.length === 0 ? [] : [{ kind: 'line', style: 'before', name: 'before each loss' }],
    isDetailed: true,
    missing: 'no second had a search.',
  });
}

/** Searches without a page by outcome, and those that count as errors: some limits allow honest sheds. */
export function errorPlot(context: PlotContext, id: string): Plot {
  const { toMs, seconds } = context.timeline;
  const title = 'Errors and sheds, per second';
  if (seconds.flat().length === 0) return { id, title, missing: 'the generator told of no second.' };
  const { runs, all, max, entries } = areasOf(context, PAGELESS_LAYERS);
  const errors = sum(seconds.flat().map(({ data }) => data.errors));
  if (errors + all === 0) return { id, title, missing: 'there were none in any second.' };
  const errorRuns = curve(context, seconds, (second) => second.errors, 'mean');
  const frame = createFrame({ fromMs: 0, toMs, max: Math.max(max, highest(errorRuns)), heightPx: 150 });
  const areas = entries(countText);
  const figure = `${countText(errors)} in all`;
  return {
    ...{ id, title, frame, isEmpty: false },
    words: `Searches without a page over time, as stacked areas: ${listed(areas)}. Errors by the limits of their step: ${figure}.`,
    tickText: perSecondText,
    drawn: [...stack(frame, runs, PAGELESS_LAYERS), line(frame, errorRuns, 'errors')],
    legend: [
      { kind: 'line', style: 'errors', name: 'errors, by the limits of their step', figure },
      ...areas.toReversed(),
    ],
  };
}

/** On a logarithmic scale: a hit takes a fraction of a millisecond, a bad p99 a second. */
export function latencyPlot(context: PlotContext, id: string): Plot {
  const { timeline, record } = context;
  // A mean of percentiles is no percentile: several seconds are drawn as their worst p90 and p99 and their median p50.
  const p99 = curve(context, timeline.seconds, ({ latencyMs }) => latencyMs?.p99, 'worst');
  const p90 = curve(context, timeline.seconds, ({ latencyMs }) => latencyMs?.p90, 'worst');
  const p50 = curve(context, timeline.seconds, ({ latencyMs }) => latencyMs?.p50, 'middle');
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
    ...{ context, id, frame, text: durationText },
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
