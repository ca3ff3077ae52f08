import type { DrillPhase, Sample } from '../../src/operations/drills/journal.ts';
import type { Plan } from '../../src/operations/drills/plan.ts';
import type { Figures } from '../../src/operations/meter/figures.ts';
import { OUTCOMES, type Outcome } from '../../src/search/events.ts';
import { seededRandom } from './clock.ts';

/** Traffic on one domain, as a small model: cohorts that lose their entries and refill, an engine with places. */
export interface TrafficOptions {
  readonly plan: Plan;
  readonly seed: number;
  readonly searchesPerSecond: number;
  /** What a cohort does when nothing is wrong. */
  readonly hitRatio: number;
  /** Until two thirds of a cohort are back. */
  readonly refillMs: number;
  readonly places: number;
  readonly engineCallMs: number;
  /** Without load. */
  readonly idleP99Ms?: number;
}

export interface Now {
  readonly seconds: number;
  readonly phase: DrillPhase;
  readonly stage: number;
  /** Per stage, since when it is flushed; nothing of those that are not (any more). */
  readonly flushedForMs: readonly (number | undefined)[];
  readonly isBlackout: boolean;
}

/** Of one domain; each call is the next sample. */
export function createTraffic(options: TrafficOptions): (now: Now) => Figures {
  const { plan, searchesPerSecond, hitRatio, refillMs, places, engineCallMs } = options;
  const random = seededRandom(options.seed);
  const around = (value: number, share: number): number => value * (1 + (random() + random() - 1) * share);
  const shares = cohortShares(plan);
  const some = (mean: number): number =>
    Math.max(0, Math.round(mean + (random() + random() + random() - 1.5) * 1.4 * Math.sqrt(mean)));

  return ({ seconds, flushedForMs, isBlackout }) => {
    const cohorts = shares.map((share, at) => {
      const flushedMs = at === 0 ? undefined : flushedForMs[at - 1];
      const lost = flushedMs === undefined ? 0 : Math.exp(-flushedMs / refillMs);
      const searches = some(share * searchesPerSecond * seconds);
      const expected = hitRatio * (at % 2 === 0 ? 1 : 0.985) * (1 - 0.97 * lost);
      let hits = 0;
      for (let search = 0; search < searches; search += 1) if (random() < expected) hits += 1;
      return { searches, hits };
    });
    const searches = cohorts.reduce((sum, cohort) => sum + cohort.searches, 0);
    const hits = cohorts.reduce((sum, cohort) => sum + cohort.hits, 0);
    const missed = searches - hits;
    const capacity = Math.round((places * seconds * 1000) / engineCallMs);
    const collapsed = Math.round(missed * 0.12);
    const engine = isBlackout ? 0 : Math.min(missed - collapsed, capacity);
    const left = missed - collapsed - engine;
    const stale = Math.round(left * 0.5);
    const lifeboat = isBlackout ? Math.round((left - stale) * 0.7) : 0;
    const failed = isBlackout ? Math.round((left - stale - lifeboat) * 0.2) : 0;
    const outcomes = { ...Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) } as Record<Outcome, number>;
    outcomes['hit-l1'] = Math.round(hits * 0.62);
    outcomes['hit-l2'] = hits - outcomes['hit-l1'];
    Object.assign(outcomes, { stale, collapsed, engine, lifeboat, failed, shed: left - stale - lifeboat - failed });
    const load = Math.min(1, engine / Math.max(1, capacity));
    return {
      ...{ seconds, processes: 3, searches, searchesPerSecond: searches / seconds, outcomes },
      ...(searches > 0 && {
        hitRatio: hits / searches,
        errorRate: outcomes.failed / searches,
        shedRate: outcomes.shed / searches,
        p50Ms: around(0.5 + 3 * load, 0.2),
        p99Ms: around((options.idleP99Ms ?? 18) + 60 * load + 500 * load ** 8, 0.25),
      }),
      engineCallsPerSecond: engine / seconds,
      ...(engine > 0 && { engineCallMs: around(engineCallMs, 0.1) }),
      engineFailures: Math.round(engine * 0.002 * random()),
      engineInFlight: Math.min(places, some(load * places)),
      engineQueued: load > 0.95 ? some(9) : 0,
      engineMax: load > 0.8 ? places - 2 : places,
      engineCeiling: places,
      breakersOpen: isBlackout ? 3 : 0,
      cohorts: cohorts.map((one) => ({
        searches: one.searches,
        ...(one.searches > 0 && { hitRatio: one.hits / one.searches }),
      })),
    };
  };
}

/** The holdout, then what each stage adds. */
function cohortShares({ stages, holdout }: Plan): readonly number[] {
  let before = 0;
  const added = stages.map((stage) => {
    if (stage.kind !== 'fraction') return (1 - holdout) / stages.length;
    const until = Math.min(stage.fraction, 1 - holdout);
    const share = Math.max(0, until - before);
    before = until;
    return share;
  });
  return [holdout, ...added];
}

/** What the guards saw in the last two seconds. */
export function guardsOf(plan: Plan, recent: readonly Figures[], baseline: Figures | undefined): Sample['guards'] {
  const mean = (of: (figures: Figures) => number | undefined): number | undefined => {
    const known = recent.flatMap((figures) => of(figures) ?? []);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  return plan.guards.map(({ figure, max }) => {
    const value = mean((figures) => {
      switch (figure) {
        case 'errorRate':
        case 'shedRate':
        case 'p99Ms':
          return figures[figure];
        case 'engineInFlightShare':
          return figures.engineInFlight / Math.max(1, figures.engineCeiling);
        case 'engineRateFactor':
          return baseline && figures.engineCallsPerSecond / Math.max(1, baseline.engineCallsPerSecond);
        case 'hitRatioDrop':
          return baseline && Math.max(0, ((baseline.hitRatio ?? 0) - (figures.cohorts[0]?.hitRatio ?? 0)) * 20);
      }
    });
    return { figure, ...(value !== undefined && { value }), broken: value !== undefined && value > max };
  });
}
