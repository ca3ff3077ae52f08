import { type Figures, figuresBetween } from '../meter/figures.ts';
import { type CohortLayout, flushedCohorts } from './cohorts.ts';
import type { DrillDomain } from './drills.ts';
import { brokenHypothesis, createGuardWatch, type GuardState, guardValue, RECENT, WINDOW_MS } from './guards.ts';
import type { DomainResult } from './journal.ts';
import { createMetricsWindow, type Readings, shareInFlight } from './metrics-window.ts';
import type { GuardRule, Plan } from './plan.ts';
import { createResultBuilder, type Recovery, type ResultBuilder, survivalOf } from './result.ts';

/** Everything a drill measures of one domain: readings become figures, guards, the hypothesis and what is learned. */
interface DomainFigures {
  /** Asks the fleet. Undefined when it could not be asked. */
  readonly collect: (during: 'stage' | 'recovery' | 'calm') => Promise<Collected | undefined>;
  readonly blindMs: () => number;
  /** What has been measured since the baseline began is what everything is compared with. The first stage begins. */
  readonly stageBegins: (stage: number, fromMs: number) => void;
  /** The cache is restored; from that moment on the hypothesis must hold again. */
  readonly afterBegins: (fromMs: number) => void;
  readonly refillMs: (stage: number) => number | undefined;
  readonly recovery: () => Recovery;
  /** Searches of the cohorts that stages flush, in this phase. */
  readonly cohortSearches: () => number;
  /** In this phase; undefined: nothing was measured. */
  readonly searches: () => number | undefined;
  /** As much in this stage as guards want to see, some of it just now. */
  readonly isSearched: () => boolean;
  /** Of late; and over the baseline. */
  readonly processes: () => { readonly heard: number; readonly before: number };
  /** What of the hypothesis does not hold over this phase. */
  readonly broken: () => readonly string[];
  readonly learned: (over: boolean) => DomainResult | undefined;
}

interface Collected {
  readonly figures: Figures | undefined;
  readonly guards: readonly GuardState[];
  /** The cohort of this stage has come back just now. */
  readonly refilled: boolean;
}

interface DomainFiguresOptions {
  readonly domain: Pick<DrillDomain, 'name' | 'readings'>;
  readonly plan: Plan;
  readonly circle: CohortLayout;
  readonly nowMs: () => number;
  /** The baseline begins. */
  readonly fromMs: number;
}

/** Whoever is silent for so long is not merely late with a report. */
const SILENT_MS = 3000;

export function createDomainFigures({ domain, plan, circle, nowMs, fromMs }: DomainFiguresOptions): DomainFigures {
  const lookout = createMetricsWindow();
  const watch = createGuardWatch(plan.guards);
  let measure = createPhaseMeasure(fromMs);
  let phase: 'baseline' | 'stages' | 'after' = 'baseline';
  let baseline: Figures | undefined;
  let learner: ResultBuilder | undefined;
  let heardMs = nowMs();
  let stageFromMs = heardMs;
  const flushed = flushedCohorts(plan);
  const lately = (atLeastMs: number): Figures | undefined => lookout.over({ atLeastMs });
  return {
    collect: async (during) => {
      const readings = await domain.readings.collect();
      if (readings === undefined) return undefined;
      heardMs = nowMs();
      const figures = lookout.add(heardMs, readings);
      measure.add(heardMs, readings, figures);
      const guards = watch.look(heardMs, (figure) => guardValue(figure, lookout, baseline));
      const refilled = during !== 'calm' && learner?.observe(heardMs, lookout, during === 'stage').refilled === true;
      return { figures, guards, refilled };
    },
    blindMs: () => nowMs() - heardMs,
    stageBegins: (stage, seenFromMs) => {
      if (phase === 'baseline') baseline = measure.figures();
      phase = 'stages';
      stageFromMs = heardMs;
      if (baseline !== undefined) learner ??= createResultBuilder({ domain: domain.name, plan, circle, baseline });
      learner?.beginStage(stage, nowMs(), seenFromMs);
    },
    afterBegins: (afterMs) => {
      phase = 'after';
      measure = createPhaseMeasure(afterMs);
    },
    refillMs: (stage) => learner?.refillMs(stage),
    recovery: () => learner?.recovery(lookout) ?? 'unseen',
    cohortSearches: () => {
      const cohorts = measure.figures()?.cohorts;
      return flushed.reduce((sum, place) => sum + (cohorts?.[place]?.searches ?? 0), 0);
    },
    searches: () => measure.figures()?.searches,
    isSearched: () =>
      lookout.over({ ...RECENT, atLeastMs: 0 }, stageFromMs) !== undefined && (lately(WINDOW_MS)?.searches ?? 0) > 0,
    processes: () => ({
      heard: (lately(SILENT_MS) ?? measure.figures())?.processes ?? 0,
      before: baseline?.processes ?? 0,
    }),
    broken: () => measure.broken(plan.guards, baseline),
    learned: (over) => {
      if (learner !== undefined) return learner.build(over && phase === 'after' ? measure.figures() : undefined);
      const measured = baseline ?? measure.figures();
      if (measured === undefined) return undefined;
      const survival = survivalOf({ baseline: measured, worst: undefined, share: 0, saturated: false });
      return { domain: domain.name, baseline: measured, stages: [], survival };
    },
  };
}

/** One stretch from a moment on, as a whole: the baseline, or the time after the cache was restored. */
interface PhaseMeasure {
  readonly add: (nowMs: number, readings: Readings, sinceLast: Figures | undefined) => void;
  readonly figures: () => Figures | undefined;
  /** What of the steady-state hypothesis does not hold over it, in words. */
  readonly broken: (rules: readonly GuardRule[], baseline: Figures | undefined) => readonly string[];
}

function createPhaseMeasure(fromMs: number): PhaseMeasure {
  let first: Readings | undefined;
  let latest: Readings | undefined;
  let shares = 0;
  let looks = 0;
  const figures = (): Figures | undefined =>
    first === undefined || latest === undefined || first === latest ? undefined : figuresBetween(first, latest);
  return {
    add: (nowMs, readings, sinceLast) => {
      if (nowMs < fromMs) return;
      latest = readings;
      first ??= readings;
      if (sinceLast === undefined || first === readings) return;
      for (const share of shareInFlight(sinceLast)) {
        shares += share;
        looks += 1;
      }
    },
    figures,
    broken: (rules, baseline) => {
      const measured = figures();
      if (measured === undefined) return [];
      return brokenHypothesis(rules, measured, looks === 0 ? undefined : shares / looks, baseline);
    },
  };
}
