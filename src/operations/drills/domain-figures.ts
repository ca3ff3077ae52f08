import { type Figures, figuresBetween } from '../meter/figures.ts';
import { type CohortLayout, flushedCohorts } from './cohorts.ts';
import type { DrillDomain } from './drills.ts';
import { brokenHypothesis, createGuardWatch, GUARD_WINDOW_MS, type GuardState, guardValue, RECENT } from './guards.ts';
import type { DomainResult } from './journal.ts';
import { createMetricsWindow, type Readings, shareInFlight } from './metrics-window.ts';
import type { GuardRule, Plan } from './plan.ts';
import { createResultBuilder, measuredSurvival, type Recovery, type ResultBuilder } from './result.ts';

/** All measurements of one domain in a drill: the fleet's readings become figures, guard states and the result. */
interface DomainFigures {
  /** Collects the readings of the fleet. Undefined when the control store did not answer. */
  readonly collect: (during: 'stage' | 'recovery' | 'calm') => Promise<Collected | undefined>;
  /** Time since the latest readings. */
  readonly blindMs: () => number;
  /** A stage begins. With the first stage the baseline ends. */
  readonly stageBegins: (stage: number, fromMs: number) => void;
  /** The cache is restored; from `fromMs` on the hypothesis must hold again. */
  readonly afterBegins: (fromMs: number) => void;
  readonly refillMs: (stage: number) => number | undefined;
  readonly recovery: () => Recovery;
  /** Number of searches of the cohorts that stages flush, in this phase. */
  readonly cohortSearches: () => number;
  /** Number of searches in this phase; undefined: nothing was measured. */
  readonly searches: () => number | undefined;
  /** This stage has as many searches as guards need, and some of them are recent. */
  readonly hasEnoughSearches: () => boolean;
  /** Number of processes that report now, and of those that reported in the baseline. */
  readonly processes: () => { readonly heard: number; readonly before: number };
  /** The limits of the hypothesis that this phase exceeds. */
  readonly broken: () => readonly string[];
  readonly result: (isOver: boolean) => DomainResult | undefined;
}

interface Collected {
  readonly figures: Figures | undefined;
  readonly guards: readonly GuardState[];
  /** The cohort of this stage has come back at this tick. */
  readonly refilled: boolean;
}

interface DomainFiguresOptions {
  readonly domain: Pick<DrillDomain, 'name' | 'readings'>;
  readonly plan: Plan;
  readonly layout: CohortLayout;
  readonly nowMs: () => number;
  /** Start of the baseline. */
  readonly fromMs: number;
}

/** A process without a report for this time is gone and not merely late. */
const SILENT_MS = 3000;

export function createDomainFigures({ domain, plan, layout, nowMs, fromMs }: DomainFiguresOptions): DomainFigures {
  const metrics = createMetricsWindow();
  const guardWatch = createGuardWatch(plan.guards);
  let measure = createPhaseMeasure(fromMs);
  let phase: 'baseline' | 'stages' | 'after' = 'baseline';
  let baseline: Figures | undefined;
  let builder: ResultBuilder | undefined;
  let collectedMs = nowMs();
  let stageFromMs = collectedMs;
  const flushed = flushedCohorts(plan);
  const latest = (atLeastMs: number): Figures | undefined => metrics.over({ atLeastMs });
  return {
    collect: async (during) => {
      const readings = await domain.readings.collect();
      if (readings === undefined) return undefined;
      collectedMs = nowMs();
      const figures = metrics.add(collectedMs, readings);
      measure.add(collectedMs, readings, figures);
      const guards = guardWatch.check(collectedMs, (figure) => guardValue(figure, metrics, baseline));
      const refilled =
        during !== 'calm' && builder?.observe(collectedMs, metrics, during === 'stage').refilled === true;
      return { figures, guards, refilled };
    },
    blindMs: () => nowMs() - collectedMs,
    stageBegins: (stage, followedMs) => {
      if (phase === 'baseline') baseline = measure.figures();
      phase = 'stages';
      stageFromMs = collectedMs;
      if (baseline !== undefined) builder ??= createResultBuilder({ domain: domain.name, plan, layout, baseline });
      builder?.beginStage(stage, nowMs(), followedMs);
    },
    afterBegins: (afterMs) => {
      phase = 'after';
      measure = createPhaseMeasure(afterMs);
    },
    refillMs: (stage) => builder?.refillMs(stage),
    recovery: () => builder?.recovery(metrics) ?? 'unseen',
    cohortSearches: () => {
      const cohorts = measure.figures()?.cohorts;
      return flushed.reduce((sum, index) => sum + (cohorts?.[index]?.searches ?? 0), 0);
    },
    searches: () => measure.figures()?.searches,
    hasEnoughSearches: () =>
      metrics.over({ ...RECENT, atLeastMs: 0 }, stageFromMs) !== undefined &&
      (latest(GUARD_WINDOW_MS)?.searches ?? 0) > 0,
    processes: () => ({
      heard: (latest(SILENT_MS) ?? measure.figures())?.processes ?? 0,
      before: baseline?.processes ?? 0,
    }),
    broken: () => measure.broken(plan.guards, baseline),
    result: (isOver) => {
      if (builder !== undefined) return builder.build(isOver && phase === 'after' ? measure.figures() : undefined);
      const measured = baseline ?? measure.figures();
      if (measured === undefined) return undefined;
      const survival = measuredSurvival({ baseline: measured, worst: undefined, share: 0, saturated: false });
      return { domain: domain.name, baseline: measured, stages: [], survival };
    },
  };
}

/** Figures of one whole phase: the baseline, or the time after the cache was restored. */
interface PhaseMeasure {
  readonly add: (nowMs: number, readings: Readings, sinceLast: Figures | undefined) => void;
  readonly figures: () => Figures | undefined;
  /** The limits of the steady-state hypothesis that the phase exceeds, in words. */
  readonly broken: (rules: readonly GuardRule[], baseline: Figures | undefined) => readonly string[];
}

function createPhaseMeasure(fromMs: number): PhaseMeasure {
  let first: Readings | undefined;
  let latest: Readings | undefined;
  let shareSum = 0;
  let shareCount = 0;
  const figures = (): Figures | undefined =>
    first === undefined || latest === undefined || first === latest ? undefined : figuresBetween(first, latest);
  return {
    add: (nowMs, readings, sinceLast) => {
      if (nowMs < fromMs) return;
      latest = readings;
      first ??= readings;
      const share = sinceLast === undefined || first === readings ? undefined : shareInFlight(sinceLast);
      if (share === undefined) return;
      shareSum += share;
      shareCount += 1;
    },
    figures,
    broken: (rules, baseline) => {
      const measured = figures();
      if (measured === undefined) return [];
      return brokenHypothesis(rules, measured, shareCount === 0 ? undefined : shareSum / shareCount, baseline);
    },
  };
}
