import { type Figures, figuresBetween } from '../meter/figures.ts';
import { type CohortLayout, flushedCohorts } from './cohorts.ts';
import type { DrillDomain } from './drills.ts';
import { brokenHypothesis, createGuardWatch, GUARD_WINDOW_MS, guardValue, RECENT } from './guards.ts';
import type { DomainResult } from './journal.ts';
import { createMetricsWindow, type Readings, shareInFlight } from './metrics-window.ts';
import type { GuardRule, Plan } from './plan.ts';
import { createResultBuilder, measuredSurvival, type Recovery, type ResultBuilder } from './result.ts';

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

/** All measurements of one domain in a drill: the fleet's readings become figures, guard states and the result. */
export function createDomainFigures({ domain, plan, layout, nowMs, fromMs }: DomainFiguresOptions) {
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
    /**
     * Collects the readings of the fleet. `refilled`: the cohort of this stage has come back at this tick. Undefined when the
     * control store did not answer.
     */
    collect: async (during: 'stage' | 'recovery' | 'calm') => {
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
    /** Time since the latest readings. */
    blindMs: (): number => nowMs() - collectedMs,
    /** A stage begins. With the first stage the baseline ends. */
    stageBegins: (stage: number, followedMs: number) => {
      if (phase === 'baseline') baseline = measure.figures();
      phase = 'stages';
      stageFromMs = collectedMs;
      if (baseline !== undefined) builder ??= createResultBuilder({ domain: domain.name, plan, layout, baseline });
      builder?.beginStage(stage, nowMs(), followedMs);
    },
    /** The cache is restored; from `fromMs` on the hypothesis must hold again. */
    afterBegins: (afterMs: number) => {
      phase = 'after';
      measure = createPhaseMeasure(afterMs);
    },
    refillMs: (stage: number): number | undefined => builder?.refillMs(stage),
    recovery: (): Recovery => builder?.recovery(metrics) ?? 'unseen',
    /** Number of searches of the cohorts that stages flush, in this phase. */
    cohortSearches: (): number => {
      const cohorts = measure.figures()?.cohorts;
      return flushed.reduce((sum, index) => sum + (cohorts?.[index]?.searches ?? 0), 0);
    },
    /** Number of searches in this phase; undefined: nothing was measured. */
    searches: (): number | undefined => measure.figures()?.searches,
    /** This stage has as many searches as guards need, and some of them are recent. */
    hasEnoughSearches: (): boolean =>
      metrics.over({ ...RECENT, atLeastMs: 0 }, stageFromMs) !== undefined &&
      (latest(GUARD_WINDOW_MS)?.searches ?? 0) > 0,
    /** Number of processes that report now, and of those that reported in the baseline. */
    processes: (): { readonly heard: number; readonly before: number } => ({
      heard: (latest(SILENT_MS) ?? measure.figures())?.processes ?? 0,
      before: baseline?.processes ?? 0,
    }),
    /** The limits of the hypothesis that this phase exceeds. */
    broken: (): readonly string[] => measure.broken(plan.guards, baseline),
    result: (isOver: boolean): DomainResult | undefined => {
      if (builder !== undefined) return builder.build(isOver && phase === 'after' ? measure.figures() : undefined);
      const measured = baseline ?? measure.figures();
      if (measured === undefined) return undefined;
      const survival = measuredSurvival({ baseline: measured, worst: undefined, share: 0, saturated: false });
      return { domain: domain.name, baseline: measured, stages: [], survival };
    },
  };
}

/** Figures of one whole phase: the baseline, or the time after the cache was restored. */
function createPhaseMeasure(fromMs: number) {
  let first: Readings | undefined;
  let latest: Readings | undefined;
  let shareSum = 0;
  let shareCount = 0;
  const figures = (): Figures | undefined =>
    first === undefined || latest === undefined || first === latest ? undefined : figuresBetween(first, latest);
  return {
    add: (nowMs: number, readings: Readings, sinceLast: Figures | undefined) => {
      if (nowMs < fromMs) return;
      latest = readings;
      first ??= readings;
      const share = sinceLast === undefined || first === readings ? undefined : shareInFlight(sinceLast);
      if (share === undefined) return;
      shareSum += share;
      shareCount += 1;
    },
    figures,
    /** The limits of the steady-state hypothesis that the phase exceeds, in words. */
    broken: (rules: readonly GuardRule[], baseline: Figures | undefined): readonly string[] => {
      const measured = figures();
      if (measured === undefined) return [];
      return brokenHypothesis(rules, measured, shareCount === 0 ? undefined : shareSum / shareCount, baseline);
    },
  };
}
