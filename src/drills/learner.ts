import type { Figures } from '../meter/reading.ts';
import { type Circle, stageTitle } from './circle.ts';
import { WINDOW_MS } from './guard-values.ts';
import type { Learned, StageLearned } from './journal.ts';
import { type Lookout, type Stretch, shareInFlight } from './lookout.ts';
import type { Plan } from './plan.ts';
import { survivableShare } from './survivable.ts';

/** What the figures of a drill teach about one domain. */
export interface Learner {
  /** The stage begins: its figures count from `fromMs` on, when every process follows. */
  readonly begin: (stage: number, startedMs: number, fromMs: number) => void;
  /** At every tick of a stage and of the recovery. Which stage's cohort has come back just now. */
  readonly note: (nowMs: number, lookout: Lookout, inStage: boolean) => { readonly refilled: boolean };
  /** How long the stage's cohort took. */
  readonly refillMs: (stage: number) => number | undefined;
  /** All flushed cohorts together are back, as far as the control cohort is. */
  readonly isRecovered: (lookout: Lookout) => boolean;
  readonly learned: (after?: Figures) => Learned;
}

export interface LearnerOptions {
  readonly domain: string;
  readonly plan: Plan;
  readonly circle: Circle;
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
  peak: number;
}

export function createLearner({ domain, plan, circle, baseline }: LearnerOptions): Learner {
  const drafts: Draft[] = [];
  let mostInFlight = 0;
  let leastHeadroom: number | undefined;
  const { withinPoints } = plan.recovery;

  /** What everybody lost, the keys that nobody flushed included, is not the flush's doing. */
  const isBack = (ratio: number | undefined, past: number | undefined, now: Figures): boolean => {
    if (ratio === undefined || past === undefined) return false;
    const control = now.cohorts[0];
    const before = baseline.cohorts[0];
    const isTold = (control?.searches ?? 0) >= 100 && (before?.searches ?? 0) >= 50;
    const moved = isTold ? Math.min(0, (control?.hitRatio ?? 0) - (before?.hitRatio ?? 0)) : 0;
    return (past + moved - ratio) * 100 <= withinPoints;
  };
  const stretchOf = (atLeastMs: number, cohorts: readonly number[]): Stretch => {
    return { atLeastMs, atLeastSearches: ENOUGH_OF_COHORT, cohorts };
  };
  const fractions = plan.stages.flatMap(({ kind }, place) => (kind === 'fraction' ? [place + 1] : []));
  // Nodes and blackouts have one cohort for all their stages.
  const flushed = fractions.length > 0 ? fractions : [plan.stages.length];

  return {
    begin: (stage, startedMs, fromMs) => {
      drafts.push({ stage, startedMs, fromMs, peak: 0 });
    },
    note: (nowMs, lookout, inStage) => {
      const draft = drafts.at(-1);
      if (draft === undefined) return { refilled: false };
      const recent = lookout.over({ atLeastMs: WINDOW_MS });
      if (recent !== undefined) {
        draft.peak = Math.max(draft.peak, recent.engineCallsPerSecond);
        for (const share of shareInFlight(recent)) {
          if (share <= mostInFlight) continue;
          mostInFlight = share;
          leastHeadroom = 1 / share;
        }
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
      const refilled = draft.refillMs === undefined && isBack(ratio, baseline.cohorts[place]?.hitRatio, now);
      if (refilled) draft.refillMs = Math.round(nowMs - draft.startedMs);
      return { refilled };
    },
    refillMs: (stage) => drafts.find((draft) => draft.stage === stage)?.refillMs,
    isRecovered: (lookout) => {
      const now = lookout.over(stretchOf(WINDOW_MS, flushed), drafts.at(-1)?.fromMs);
      return now !== undefined && isBack(ratioOf(now, flushed), ratioOf(baseline, flushed), now);
    },
    learned: (after) => {
      const peak = drafts.reduce((most, draft) => Math.max(most, draft.peak), 0);
      const amplification =
        baseline.engineCallsPerSecond > 0 && drafts.length > 0 ? peak / baseline.engineCallsPerSecond : undefined;
      const share = drafts.reduce((most, { stage }) => Math.max(most, circle.shareOf(stage)), 0);
      const survivable = survivableShare({ baseline, amplification, share, saturated: mostInFlight >= SATURATED });
      return {
        domain,
        baseline,
        ...(after === undefined ? {} : { after }),
        stages: drafts.map((draft): StageLearned => {
          const { stage, peak: peakEngineCallsPerSecond, startedMs: _, fromMs: __, ...seen } = draft;
          const before = baseline.cohorts[stage + 1]?.hitRatio;
          const title = stageTitle(plan, stage);
          return { stage, title, ...(before === undefined ? {} : { before }), ...seen, peakEngineCallsPerSecond };
        }),
        ...(leastHeadroom === undefined ? {} : { headroomLeft: leastHeadroom }),
        ...(amplification === undefined ? {} : { amplification }),
        ...(survivable === undefined ? {} : { survivable }),
      };
    },
  };
}

const ENOUGH_OF_COHORT = 20;
const MOMENT_MS = 500;
/** The engine was asked as much as it may be: how much it would have been asked cannot be seen any more. */
const SATURATED = 0.95;

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
