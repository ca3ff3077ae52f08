import { ENOUGH_CALLS, MAX_HEADROOM, survivable } from '../flush/preview.ts';
import type { CohortFigures, Figures } from '../meter/figures.ts';
import { type CohortLayout, flushedCohorts, MIN_COHORT_SEARCHES, stageTitle } from './cohorts.ts';
import { GUARD_WINDOW_MS } from './guards.ts';
import type { DomainResult, Range, StageResult, Survival } from './journal.ts';
import { type Lookback, type MetricsWindow, shareInFlight } from './metrics-window.ts';
import type { Plan } from './plan.ts';

/** Builds the result of one domain from the figures of the drill. */
export type ResultBuilder = ReturnType<typeof createResultBuilder>;

/** `unseen`: too few searches. `unclear`: not back, but the difference may be chance. */
export type Recovery = 'back' | 'away' | 'unclear' | 'unseen';

interface ResultBuilderOptions {
  readonly domain: string;
  readonly plan: Plan;
  readonly layout: CohortLayout;
  readonly baseline: Figures;
}

interface Draft {
  readonly stage: number;
  readonly startedMs: number;
  readonly fromMs: number;
  lowest?: number;
  end?: number;
  control?: number;
  refillMs?: number;
  /** While the engine got the most calls. */
  worst?: Figures;
}

/** Period over which the lowest hit ratio is measured. */
const LOWEST_PERIOD_MS = 500;
/** A cohort is reported as not back only when that was measured over this longer period. */
const NOT_BACK_PERIOD_MS = 20_000;
/** From this share of its ceiling on the engine is full: how many more calls it would have got cannot be measured. */
const SATURATED = 0.95;

export function createResultBuilder({ domain, plan, layout, baseline }: ResultBuilderOptions) {
  const drafts: Draft[] = [];
  let mostInFlight = 0;
  const { withinPoints } = plan.recovery;
  const flushed = flushedCohorts(plan);

  /**
   * Percentage points that the ratio is below its own past. A loss that the control cohort shares is not an effect of
   * the flush.
   */
  const pointsAway = (ratio: number | undefined, past: number | undefined, now: Figures): number | undefined => {
    if (ratio === undefined || past === undefined) return undefined;
    const control = now.cohorts[0];
    const before = baseline.cohorts[0];
    const isControlMeasured = (control?.searches ?? 0) >= 100 && (before?.searches ?? 0) >= 50;
    const moved = isControlMeasured ? Math.min(0, (control?.hitRatio ?? 0) - (before?.hitRatio ?? 0)) : 0;
    return (past + moved - ratio) * 100;
  };
  const isBack = (points: number | undefined): boolean => points !== undefined && points <= withinPoints;
  const lookback = (atLeastMs: number, cohorts: readonly number[]): Lookback => {
    return { atLeastMs, atLeastSearches: MIN_COHORT_SEARCHES, cohorts };
  };

  return {
    /** The stage begins. Its figures count from `fromMs`, when every process follows the change. */
    beginStage: (stage: number, startedMs: number, fromMs: number) => {
      drafts.push({ stage, startedMs, fromMs });
    },
    /** At every tick of a stage and of the recovery. `refilled`: the cohort of the latest stage has come back at this tick. */
    observe: (nowMs: number, metrics: MetricsWindow, inStage: boolean): { readonly refilled: boolean } => {
      const draft = drafts.at(-1);
      if (draft === undefined) return { refilled: false };
      const recent = metrics.over({ atLeastMs: GUARD_WINDOW_MS });
      if (recent !== undefined) {
        if (recent.engineCallsPerSecond > (draft.worst?.engineCallsPerSecond ?? 0)) draft.worst = recent;
        mostInFlight = Math.max(mostInFlight, shareInFlight(recent) ?? 0);
      }
      const cohort = draft.stage + 1;
      if (inStage) {
        // The lowest ratio comes first, before every process is known to follow the change.
        const ratio = metrics.over(lookback(LOWEST_PERIOD_MS, [cohort]), draft.startedMs)?.cohorts[cohort]?.hitRatio;
        if (ratio !== undefined) draft.lowest = Math.min(draft.lowest ?? 1, ratio);
      }
      const now = metrics.over(lookback(GUARD_WINDOW_MS / 2, [cohort]), draft.fromMs);
      const ratio = now?.cohorts[cohort]?.hitRatio;
      if (now === undefined || ratio === undefined) return { refilled: false };
      if (inStage) {
        draft.end = ratio;
        // No stage touches the control cohort, so its ratio may be measured over the whole window.
        const control = metrics.over(lookback(GUARD_WINDOW_MS / 2, [0]))?.cohorts[0]?.hitRatio;
        if (control !== undefined) draft.control = control;
      }
      const refilled =
        draft.refillMs === undefined && isBack(pointsAway(ratio, baseline.cohorts[cohort]?.hitRatio, now));
      if (refilled) draft.refillMs = Math.round(nowMs - draft.startedMs);
      return { refilled };
    },
    /** Time until the cohort of the stage was back. */
    refillMs: (stage: number): number | undefined => drafts.find((draft) => draft.stage === stage)?.refillMs,
    /** Whether all flushed cohorts together are back, relative to the control cohort. */
    recovery: (metrics: MetricsWindow): Recovery => {
      const latest = metrics.over(lookback(GUARD_WINDOW_MS, flushed), drafts.at(-1)?.fromMs);
      if (latest === undefined) return 'unseen';
      const past = ratioOf(baseline, flushed);
      if (isBack(pointsAway(ratioOf(latest, flushed), past, latest))) return 'back';
      if (past === undefined) return 'unseen';
      // A few searches are enough to see that it is back, and too few to say that it is not.
      const long = metrics.over({ atLeastMs: NOT_BACK_PERIOD_MS }, drafts.at(-1)?.fromMs) ?? latest;
      const hitRatio = ratioOf(long, flushed) ?? 0;
      const chance = chancePoints(
        { searches: searchesOf(baseline, flushed), hitRatio: past },
        { searches: searchesOf(long, flushed), hitRatio },
      );
      return (pointsAway(hitRatio, past, long) ?? 0) - withinPoints > chance ? 'away' : 'unclear';
    },
    build: (after?: Figures): DomainResult => {
      // Fractions lost in earlier stages have been refilled by then; nodes stay lost.
      const lostAtOnce = (stage: number): number =>
        layout.shareOf(stage) - (plan.stages[stage]?.kind === 'fraction' ? layout.shareOf(stage - 1) : 0);
      const largest = drafts.reduce<Draft | undefined>(
        (best, draft) => (best !== undefined && lostAtOnce(best.stage) >= lostAtOnce(draft.stage) ? best : draft),
        undefined,
      );
      return {
        domain,
        baseline,
        after,
        stages: drafts.map((draft): StageResult => {
          const { stage, worst, startedMs: _, fromMs: __, ...measured } = draft;
          const before = baseline.cohorts[stage + 1]?.hitRatio;
          const title = stageTitle(plan, stage);
          const peakEngineCallsPerSecond = worst?.engineCallsPerSecond ?? 0;
          return { stage, title, before, ...measured, peakEngineCallsPerSecond };
        }),
        survival: measuredSurvival({
          baseline,
          worst: largest?.worst,
          share: largest === undefined ? 0 : lostAtOnce(largest.stage),
          saturated: mostInFlight >= SATURATED,
        }),
      };
    },
  };
}

/** Twice the standard error of the difference of two hit ratios, in points: a smaller difference may be chance. */
export function chancePoints(one: Required<CohortFigures>, other: Required<CohortFigures>): number {
  const searches = one.searches + other.searches;
  if (one.searches <= 0 || other.searches <= 0) return Number.POSITIVE_INFINITY;
  const ratio = (one.searches * one.hitRatio + other.searches * other.hitRatio) / searches;
  return 200 * Math.sqrt(ratio * Math.max(0, 1 - ratio) * (1 / one.searches + 1 / other.searches));
}

function searchesOf({ cohorts }: Figures, indexes: readonly number[]): number {
  return indexes.reduce((sum, index) => sum + (cohorts[index]?.searches ?? 0), 0);
}

function ratioOf(figures: Figures, indexes: readonly number[]): number | undefined {
  const searches = searchesOf(figures, indexes);
  const hits = indexes.reduce((sum, index) => {
    const cohort = figures.cohorts[index];
    return sum + (cohort?.searches ?? 0) * (cohort?.hitRatio ?? 0);
  }, 0);
  return searches === 0 ? undefined : hits / searches;
}

interface SurvivalInput {
  readonly baseline: Figures;
  /** While the engine got the most calls, with `share` of the keys lost at once. */
  readonly worst: Figures | undefined;
  readonly share: number;
  /** The engine was full: it would have got more calls. */
  readonly saturated: boolean;
}

/** A smaller loss is not extrapolated to a loss of everything: its random error would be multiplied. */
const MIN_SHARE = 0.1;

export function measuredSurvival({ baseline, worst, share, saturated }: SurvivalInput): Survival {
  const headroom = headroomOf(baseline);
  const headroomLeft = worst && headroomOf(worst);
  const amplification = worst && share >= MIN_SHARE ? amplificationOf(baseline, worst, share, saturated) : undefined;
  const lossRange =
    headroom === undefined || amplification === undefined ? undefined : survivableRange(headroom, amplification);
  return {
    headroom: headroom && rounded(headroom, factorSteps),
    headroomLeft: headroomLeft && rounded(headroomLeft, factorSteps),
    amplification: amplification && rounded(amplification, factorSteps),
    survivable: lossRange && rounded(lossRange, () => 100),
  };
}

function headroomOf(figures: Figures): Range | undefined {
  const { engineCallMs, engineMax } = figures;
  const calls = callsPerSecond(figures);
  if (calls === undefined || engineCallMs === undefined || engineCallMs <= 0 || engineMax <= 0) return undefined;
  const capacity = (engineMax * 1000) / engineCallMs;
  const [low, high] = [capacity / calls.high, capacity / calls.low];
  return high > MAX_HEADROOM ? { low: Math.min(low, MAX_HEADROOM) } : { low, high };
}

/** Extrapolated in proportion to the lost share. Undefined when the effect of the loss may be chance. */
function amplificationOf(
  baseline: Figures,
  worst: Figures,
  share: number,
  saturated: boolean,
): Required<Range> | undefined {
  const [before, during] = [callsPerSecond(baseline), callsPerSecond(worst)];
  if (before === undefined || during === undefined) return undefined;
  const whole = (factor: number): number => 1 + (factor - 1) / share;
  const [low, high] = [whole(during.low / before.high), whole(during.high / before.low)];
  if (low <= 1) return undefined;
  // The upper bound, before coalescing: every hit of the baseline becomes an engine call.
  const most = (before.high + (baseline.hitRatio ?? 0) * baseline.searchesPerSecond) / before.high;
  return saturated ? { low, high: Math.max(low, most) } : { low: Math.min(low, most), high: Math.min(high, most) };
}

function survivableRange(headroom: Range, amplification: Required<Range>): Range {
  const low = survivable(headroom.low, amplification.high);
  return { low, high: headroom.high === undefined ? 1 : survivable(headroom.high, amplification.low) };
}

/** The standard error of a number of random calls is its square root; the range is twice that. */
function callsPerSecond({ engineCallsPerSecond, seconds }: Figures): Required<Range> | undefined {
  const calls = engineCallsPerSecond * seconds;
  if (!(calls >= ENOUGH_CALLS)) return undefined;
  const error = (2 * Math.sqrt(calls)) / seconds;
  return { low: engineCallsPerSecond - error, high: engineCallsPerSecond + error };
}

/** Rounds outwards, to the steps that are shown: the report, the console and the CLI show the same numbers. */
function rounded({ low, high }: Range, stepsOf: (value: number) => number): Range {
  const down = Math.floor(low * stepsOf(low) + 1e-9) / stepsOf(low);
  return { low: down, high: high === undefined ? undefined : Math.ceil(high * stepsOf(high) - 1e-9) / stepsOf(high) };
}

function factorSteps(value: number): number {
  return value < 10 ? 10 : 1;
}
