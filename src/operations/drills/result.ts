import { ENOUGH_CALLS, MOST_HEADROOM, survivable } from '../flush/preview.ts';
import type { CohortFigures, Figures } from '../meter/figures.ts';
import { type CohortLayout, ENOUGH_OF_COHORT, flushedCohorts, stageTitle } from './cohorts.ts';
import { WINDOW_MS } from './guards.ts';
import type { DomainResult, Range, StageResult, Survival } from './journal.ts';
import { type Lookback, type MetricsWindow, shareInFlight } from './metrics-window.ts';
import type { Plan } from './plan.ts';

/** What the figures of a drill teach about one domain. */
export interface ResultBuilder {
  /** The stage begins: its figures count from `fromMs` on, when every process follows. */
  readonly beginStage: (stage: number, startedMs: number, fromMs: number) => void;
  /** At every tick of a stage and of the recovery. Which stage's cohort has come back just now. */
  readonly observe: (nowMs: number, lookout: MetricsWindow, inStage: boolean) => { readonly refilled: boolean };
  /** How long the stage's cohort took. */
  readonly refillMs: (stage: number) => number | undefined;
  /** Whether all flushed cohorts together are back, as far as the control cohort is. */
  readonly recovery: (lookout: MetricsWindow) => Recovery;
  readonly build: (after?: Figures) => DomainResult;
}

/** `unseen`: not searched for enough. `unclear`: not back, by less than chance explains. */
export type Recovery = 'back' | 'away' | 'unclear' | 'unseen';

interface ResultBuilderOptions {
  readonly domain: string;
  readonly plan: Plan;
  readonly circle: CohortLayout;
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
  /** While the engine was asked most. */
  worst?: Figures;
}

export function createResultBuilder({ domain, plan, circle, baseline }: ResultBuilderOptions): ResultBuilder {
  const drafts: Draft[] = [];
  let mostInFlight = 0;
  const { withinPoints } = plan.recovery;

  /** Points below its own past. What everybody lost, the keys that nobody flushed included, is not the flush's doing. */
  const pointsAway = (ratio: number | undefined, past: number | undefined, now: Figures): number | undefined => {
    if (ratio === undefined || past === undefined) return undefined;
    const control = now.cohorts[0];
    const before = baseline.cohorts[0];
    const isTold = (control?.searches ?? 0) >= 100 && (before?.searches ?? 0) >= 50;
    const moved = isTold ? Math.min(0, (control?.hitRatio ?? 0) - (before?.hitRatio ?? 0)) : 0;
    return (past + moved - ratio) * 100;
  };
  const isBack = (points: number | undefined): boolean => points !== undefined && points <= withinPoints;
  const stretchOf = (atLeastMs: number, cohorts: readonly number[]): Lookback => {
    return { atLeastMs, atLeastSearches: ENOUGH_OF_COHORT, cohorts };
  };
  const flushed = flushedCohorts(plan);

  return {
    beginStage: (stage, startedMs, fromMs) => {
      drafts.push({ stage, startedMs, fromMs });
    },
    observe: (nowMs, lookout, inStage) => {
      const draft = drafts.at(-1);
      if (draft === undefined) return { refilled: false };
      const recent = lookout.over({ atLeastMs: WINDOW_MS });
      if (recent !== undefined) {
        if (recent.engineCallsPerSecond > (draft.worst?.engineCallsPerSecond ?? 0)) draft.worst = recent;
        mostInFlight = Math.max(mostInFlight, ...shareInFlight(recent));
      }
      const place = draft.stage + 1;
      if (inStage) {
        // The worst comes first, before every process is heard to follow.
        const moment = lookout.over(stretchOf(MOMENT_MS, [place]), draft.startedMs)?.cohorts[place]?.hitRatio;
        if (moment !== undefined) draft.lowest = Math.min(draft.lowest ?? 1, moment);
      }
      const now = lookout.over(stretchOf(WINDOW_MS / 2, [place]), draft.fromMs);
      const ratio = now?.cohorts[place]?.hitRatio;
      if (now === undefined || ratio === undefined) return { refilled: false };
      if (inStage) {
        draft.end = ratio;
        // No stage touches it, so it may be looked at as far back as a handful of searches lie.
        const control = lookout.over(stretchOf(WINDOW_MS / 2, [0]))?.cohorts[0]?.hitRatio;
        if (control !== undefined) draft.control = control;
      }
      const refilled =
        draft.refillMs === undefined && isBack(pointsAway(ratio, baseline.cohorts[place]?.hitRatio, now));
      if (refilled) draft.refillMs = Math.round(nowMs - draft.startedMs);
      return { refilled };
    },
    refillMs: (stage) => drafts.find((draft) => draft.stage === stage)?.refillMs,
    recovery: (lookout) => {
      const latest = lookout.over(stretchOf(WINDOW_MS, flushed), drafts.at(-1)?.fromMs);
      if (latest === undefined) return 'unseen';
      const past = ratioOf(baseline, flushed);
      if (isBack(pointsAway(ratioOf(latest, flushed), past, latest))) return 'back';
      if (past === undefined) return 'unseen';
      // A handful of searches is enough to see that it is back, and not enough to say that it is not.
      const long = lookout.over({ atLeastMs: JUDGED_MS }, drafts.at(-1)?.fromMs) ?? latest;
      const hitRatio = ratioOf(long, flushed) ?? 0;
      const chance = chancePoints(
        { searches: searchesOf(baseline, flushed), hitRatio: past },
        { searches: searchesOf(long, flushed), hitRatio },
      );
      return (pointsAway(hitRatio, past, long) ?? 0) - withinPoints > chance ? 'away' : 'unclear';
    },
    build: (after) => {
      // What stages before it lost has been refilled by then; nodes stay lost.
      const lostAtOnce = (stage: number): number =>
        circle.shareOf(stage) - (plan.stages[stage]?.kind === 'fraction' ? circle.shareOf(stage - 1) : 0);
      const most = drafts.reduce<Draft | undefined>(
        (best, draft) => (best !== undefined && lostAtOnce(best.stage) >= lostAtOnce(draft.stage) ? best : draft),
        undefined,
      );
      const saturated = mostInFlight >= SATURATED;
      return {
        domain,
        baseline,
        ...(after === undefined ? {} : { after }),
        stages: drafts.map((draft): StageResult => {
          const { stage, worst, startedMs: _, fromMs: __, ...seen } = draft;
          const before = baseline.cohorts[stage + 1]?.hitRatio;
          const title = stageTitle(plan, stage);
          const peakEngineCallsPerSecond = worst?.engineCallsPerSecond ?? 0;
          return { stage, title, ...(before === undefined ? {} : { before }), ...seen, peakEngineCallsPerSecond };
        }),
        survival: survivalOf({
          baseline,
          worst: most?.worst,
          share: most === undefined ? 0 : lostAtOnce(most.stage),
          saturated,
        }),
      };
    },
  };
}

const MOMENT_MS = 500;
/** What is said not to be back is looked at for longer. */
const JUDGED_MS = 20_000;
/** The engine was asked as much as it may be: how much it would have been asked cannot be seen any more. */
const SATURATED = 0.95;

/** Twice the standard error of the difference of two hit ratios, in points: less may be chance. */
export function chancePoints(one: Required<CohortFigures>, other: Required<CohortFigures>): number {
  const searches = one.searches + other.searches;
  if (one.searches <= 0 || other.searches <= 0) return Number.POSITIVE_INFINITY;
  const ratio = (one.searches * one.hitRatio + other.searches * other.hitRatio) / searches;
  return 200 * Math.sqrt(ratio * Math.max(0, 1 - ratio) * (1 / one.searches + 1 / other.searches));
}

function searchesOf({ cohorts }: Figures, places: readonly number[]): number {
  return places.reduce((sum, place) => sum + (cohorts[place]?.searches ?? 0), 0);
}

function ratioOf(figures: Figures, places: readonly number[]): number | undefined {
  const searches = searchesOf(figures, places);
  const hits = places.reduce((sum, place) => {
    const cohort = figures.cohorts[place];
    return sum + (cohort?.searches ?? 0) * (cohort?.hitRatio ?? 0);
  }, 0);
  return searches === 0 ? undefined : hits / searches;
}

interface SurvivalInput {
  readonly baseline: Figures;
  /** While the engine was asked most, with `share` of the keys lost at once. */
  readonly worst: Figures | undefined;
  readonly share: number;
  /** The engine had no place left: it would have been asked more. */
  readonly saturated: boolean;
}

/** From less than that nothing is concluded about losing everything: chance would be multiplied with it. */
const LEAST_SHARE = 0.1;

export function survivalOf({ baseline, worst, share, saturated }: SurvivalInput): Survival {
  const headroom = headroomOf(baseline);
  const headroomLeft = worst && headroomOf(worst);
  const amplification = worst && share >= LEAST_SHARE ? amplificationOf(baseline, worst, share, saturated) : undefined;
  const told = headroom === undefined || amplification === undefined ? undefined : shareOf(headroom, amplification);
  return {
    ...(headroom && { headroom: rounded(headroom, toFactor) }),
    ...(headroomLeft && { headroomLeft: rounded(headroomLeft, toFactor) }),
    ...(amplification && { amplification: rounded(amplification, toFactor) }),
    ...(told && { survivable: rounded(told, 100) }),
  };
}

function headroomOf(figures: Figures): Range | undefined {
  const { engineCallMs, engineMax } = figures;
  const asked = callsPerSecond(figures);
  if (asked === undefined || engineCallMs === undefined || engineCallMs <= 0 || engineMax <= 0) return undefined;
  const capacity = (engineMax * 1000) / engineCallMs;
  const [low, high] = [capacity / asked.high, capacity / asked.low];
  return high > MOST_HEADROOM ? { low: Math.min(low, MOST_HEADROOM) } : { low, high };
}

/** In proportion to what was lost. Undefined where the loss cannot be told from chance. */
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
  // Every hit of the baseline an engine call: the most there can be, before coalescing.
  const most = (before.high + (baseline.hitRatio ?? 0) * baseline.searchesPerSecond) / before.high;
  return saturated ? { low, high: Math.max(low, most) } : { low: Math.min(low, most), high: Math.min(high, most) };
}

function shareOf(headroom: Range, amplification: Required<Range>): Range {
  const low = survivable(headroom.low, amplification.high);
  return { low, high: headroom.high === undefined ? 1 : survivable(headroom.high, amplification.low) };
}

/** Calls come by chance, so their number is known to twice its root. */
function callsPerSecond({ engineCallsPerSecond, seconds }: Figures): Required<Range> | undefined {
  const calls = engineCallsPerSecond * seconds;
  if (!(calls >= ENOUGH_CALLS)) return undefined;
  const error = (2 * Math.sqrt(calls)) / seconds;
  return { low: engineCallsPerSecond - error, high: engineCallsPerSecond + error };
}

/** Outwards, to as many steps as are shown: every page, console and terminal says the same. */
function rounded({ low, high }: Range, steps: number | ((value: number) => number)): Range {
  const of = (value: number): number => (typeof steps === 'number' ? steps : steps(value));
  const down = Math.floor(low * of(low) + 1e-9) / of(low);
  return { low: down, ...(high === undefined ? {} : { high: Math.ceil(high * of(high) - 1e-9) / of(high) }) };
}

function toFactor(value: number): number {
  return value < 10 ? 10 : 1;
}
