import { seededRandom } from '../../loadtest/random.ts';
import { phaseValue } from '../../src/operations/drills/guards.ts';
import type { DomainResult, DrillPhase, Mark, Sample, Verdict } from '../../src/operations/drills/journal.ts';
import type { GuardRule, Plan } from '../../src/operations/drills/plan.ts';
import { measuredSurvival } from '../../src/operations/drills/result.ts';
import type { Figures } from '../../src/operations/meter/figures.ts';
import { OUTCOMES, type Outcome } from '../../src/search/outcome.ts';

interface Now {
  readonly seconds: number;
  /** Time since the flush of each stage; undefined before it. */
  readonly flushedForMs: readonly (number | undefined)[];
  readonly isBlackout: boolean;
}

/**
 * A small model of traffic on one domain: cohorts that lose their entries and refill, and an engine with slots. Each call
 * returns the next sample.
 */
function createTraffic(plan: Plan, seed: number, traffic: Traffic): (now: Now) => Figures {
  const { searchesPerSecond = 640, hitRatio = 0.91, slots = 24, refillMs = 7000 } = traffic;
  const { engineCallMs = 45, idleP99Ms = 18 } = traffic;
  const random = seededRandom(seed);
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
    const capacity = Math.round((slots * seconds * 1000) / engineCallMs);
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
      seconds,
      processes: 3,
      searches,
      searchesPerSecond: searches / seconds,
      outcomes,
      hitRatio: searches > 0 ? hits / searches : undefined,
      errorRate: searches > 0 ? outcomes.failed / searches : undefined,
      shedRate: searches > 0 ? outcomes.shed / searches : undefined,
      p50Ms: searches > 0 ? around(0.5 + 3 * load, 0.2) : undefined,
      p99Ms: searches > 0 ? around(idleP99Ms + 60 * load + 500 * load ** 8, 0.25) : undefined,
      engineCallsPerSecond: engine / seconds,
      engineCallMs: engine > 0 ? around(engineCallMs, 0.1) : undefined,
      engineFailures: Math.round(engine * 0.002 * random()),
      engineInFlight: Math.min(slots, some(load * slots)),
      engineQueued: load > 0.95 ? some(9) : 0,
      engineMax: load > 0.8 ? slots - 2 : slots,
      engineCeiling: slots,
      breakersOpen: isBlackout ? 3 : 0,
      cohorts: cohorts.map((one) => ({
        searches: one.searches,
        hitRatio: one.searches > 0 ? one.hits / one.searches : undefined,
      })),
    };
  };
}

/** Share of the holdout, then of the cohort of each stage. */
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

/** The values of guards over the last two seconds. */
function guardsOf(plan: Plan, recent: readonly Figures[], baseline: Figures | undefined): Sample['guards'] {
  const now = mean(recent);
  return plan.guards.map(({ figure, max }) => {
    const value =
      figure === 'hitRatioDrop'
        ? baseline && Math.max(0, ((baseline.hitRatio ?? 0) - (now.cohorts[0]?.hitRatio ?? 0)) * 20)
        : phaseValue(figure, now, baseline, now.engineInFlight / Math.max(1, now.engineCeiling));
    return { figure, value, broken: value !== undefined && value > max };
  });
}

export interface Traffic {
  readonly searchesPerSecond?: number;
  /** Hit ratio of a cohort without a loss. */
  readonly hitRatio?: number;
  readonly slots?: number;
  readonly engineCallMs?: number;
  /** Time until two thirds of a cohort are back. */
  readonly refillMs?: number;
  readonly recoveryMs?: number;
  readonly sampleMs?: number;
  /** p99 of the engine without load. */
  readonly idleP99Ms?: number;
  /** Time of an early end. Without a verdict the drill still runs. */
  readonly end?: { readonly atMs: number; readonly verdict?: Verdict; readonly broken?: GuardRule };
}

interface DomainPart {
  readonly samples: readonly Sample[];
  readonly marks: readonly Mark[];
  readonly result: DomainResult;
  readonly toMs: number;
}

/** One domain from its baseline to the phase `after`. */
export function drillDomain(plan: Plan, drilled: Traffic, domain: string, startMs: number, seed: number): DomainPart {
  const { recoveryMs = 15_000, sampleMs = 500, end } = drilled;
  const traffic = createTraffic(plan, seed, drilled);
  const samples: Sample[] = [];
  const marks: Mark[] = [];
  const since: (number | undefined)[] = plan.stages.map(() => undefined);
  let baseline: Figures | undefined;
  let nowMs = startMs;

  const phase = (kind: DrillPhase, stage: number, lengthMs: number): void => {
    const fromMs = nowMs;
    if (end !== undefined && fromMs >= end.atMs && kind !== 'after') return;
    marks.push({ atMs: fromMs, domain, kind: 'phase', phase: kind });
    if (kind === 'stage') {
      if (plan.stages[stage]?.kind !== 'blackout') since[stage] = fromMs;
      const ranges = [{ from: 0, to: Math.min(9900, Math.round(widthOf(plan, stage) * 10_000)) }];
      marks.push({
        atMs: fromMs,
        domain,
        kind: 'stage',
        stage,
        ranges,
        title: plan.stages[stage]?.title ?? `${widthOf(plan, stage) * 100} % of the keys`,
      });
    }
    const untilMs =
      kind === 'after' ? fromMs + lengthMs : Math.min(fromMs + lengthMs, end?.atMs ?? Number.POSITIVE_INFINITY);
    while (nowMs + sampleMs <= untilMs) {
      nowMs += sampleMs;
      const isBlackout = kind === 'stage' && plan.stages[stage]?.kind === 'blackout';
      const flushedForMs = since.map((ms) => (ms === undefined ? undefined : nowMs - ms));
      const figures = traffic({ seconds: sampleMs / 1000, flushedForMs, isBlackout });
      const recent = [...samples.slice(-3).map((one) => one.figures), figures];
      samples.push({ atMs: nowMs, domain, phase: kind, stage, figures, guards: guardsOf(plan, recent, baseline) });
    }
    nowMs = Math.max(nowMs, Math.min(untilMs, fromMs + lengthMs));
    if (kind === 'stage' && nowMs - fromMs >= lengthMs)
      marks.push({
        atMs: fromMs + lengthMs * 0.6,
        domain,
        kind: 'recovered',
        stage,
        afterMs: Math.round(lengthMs * 0.6),
      });
  };

  phase('baseline', 0, plan.baselineMs);
  baseline = mean(samples.map(({ figures }) => figures));
  plan.stages.forEach(({ holdMs }, stage) => {
    phase('stage', stage, holdMs);
  });
  const last = Math.max(
    0,
    since.findLastIndex((ms) => ms !== undefined),
  );
  phase('recovery', last, recoveryMs);
  if (end?.broken !== undefined) {
    const { figure, max, then } = end.broken;
    marks.push({ atMs: nowMs, domain, kind: 'guard', figure, value: max * 1.4, max, then });
    nowMs += 400;
  }
  if (marks.some((mark) => mark.kind === 'stage'))
    marks.push({ atMs: nowMs, domain, kind: 'restored', why: end?.verdict?.detail ?? 'The cache has recovered.' });
  since.fill(undefined);
  if (since.length > 0 && end?.verdict?.kind !== 'refused' && (end === undefined || end.verdict !== undefined))
    phase('after', last, plan.afterMs);
  return { samples, marks, result: resultOf(domain, samples, marks, baseline), toMs: nowMs };
}

/** Share of all keys that are flushed after the stage. */
function widthOf(plan: Plan, stage: number): number {
  const planned = plan.stages[stage];
  return planned?.kind === 'fraction' ? planned.fraction : 1 - plan.holdout;
}

/** The result that a drill would build from these samples. */
function resultOf(domain: string, samples: readonly Sample[], marks: readonly Mark[], baseline: Figures): DomainResult {
  const during = samples.filter(({ phase }) => phase === 'stage' || phase === 'recovery');
  const stages = marks.flatMap((mark) => {
    if (mark.kind !== 'stage') return [];
    const inStage = during.filter(({ stage }) => stage === mark.stage);
    const ratios = inStage.map(
      (_, i) => mean(inStage.slice(Math.max(0, i - 7), i + 1).map(({ figures }) => figures)).cohorts,
    );
    const seen = (cohort: number): readonly number[] => ratios.flatMap((cohorts) => cohorts[cohort]?.hitRatio ?? []);
    const own = seen(mark.stage + 1);
    const back = marks.find((one) => one.kind === 'recovered' && one.stage === mark.stage);
    return [
      {
        stage: mark.stage,
        title: mark.title,
        before: baseline.cohorts[mark.stage + 1]?.hitRatio,
        lowest: own.length > 0 ? Math.min(...own) : undefined,
        end: own.at(-1),
        control: seen(0).at(-1),
        refillMs: back?.kind === 'recovered' ? back.afterMs : undefined,
        peakEngineCallsPerSecond: Math.max(0, ...inStage.map(({ figures }) => figures.engineCallsPerSecond)),
      },
    ];
  });
  const after = samples.filter(({ phase }) => phase === 'after').map(({ figures }) => figures);
  const [worst] = during
    .map(({ figures }) => figures)
    .toSorted((one, other) => other.engineCallsPerSecond - one.engineCallsPerSecond);
  const saturated = during.some(({ figures }) => figures.engineInFlight >= figures.engineCeiling);
  return {
    domain,
    baseline,
    stages,
    after: after.length > 0 ? mean(after) : undefined,
    survival: measuredSurvival({ baseline, worst, share: stages.length > 0 ? 0.75 : 0, saturated }),
  };
}

/** Sums over all samples; levels are those of the last one. */
function mean(some: readonly Figures[]): Figures {
  const sum = (of: (figures: Figures) => number | undefined): number =>
    some.reduce((total, one) => total + (of(one) ?? 0), 0);
  const [seconds, searches] = [sum((one) => one.seconds), sum((one) => one.searches)];
  const outcomes = Object.fromEntries(OUTCOMES.map((name) => [name, sum((one) => one.outcomes[name])])) as Record<
    Outcome,
    number
  >;
  const middle = (of: (figures: Figures) => number | undefined): number | undefined =>
    some.flatMap((one) => of(one) ?? []).toSorted((a, b) => a - b)[Math.floor(some.length / 2)];
  const last = some.at(-1);
  const [p50Ms, p99Ms] = [middle((one) => one.p50Ms), middle((one) => one.p99Ms)];
  const cohorts = Math.max(0, ...some.map((one) => one.cohorts.length));
  return {
    seconds,
    processes: last?.processes ?? 0,
    searches,
    outcomes,
    searchesPerSecond: searches / Math.max(1, seconds),
    hitRatio: searches > 0 ? (outcomes['hit-l1'] + outcomes['hit-l2']) / searches : undefined,
    errorRate: searches > 0 ? outcomes.failed / searches : undefined,
    shedRate: searches > 0 ? outcomes.shed / searches : undefined,
    p50Ms,
    p99Ms,
    engineCallsPerSecond: sum((one) => one.engineCallsPerSecond * one.seconds) / Math.max(0.5, seconds),
    engineFailures: sum((one) => one.engineFailures),
    engineInFlight: last?.engineInFlight ?? 0,
    engineQueued: last?.engineQueued ?? 0,
    engineMax: last?.engineMax ?? 0,
    engineCeiling: last?.engineCeiling ?? 0,
    breakersOpen: last?.breakersOpen ?? 0,
    cohorts: Array.from({ length: cohorts }, (_, at) => {
      const asked = sum((one) => one.cohorts[at]?.searches);
      const hits = sum((one) => (one.cohorts[at]?.searches ?? 0) * (one.cohorts[at]?.hitRatio ?? 0));
      return { searches: asked, hitRatio: asked > 0 ? hits / asked : undefined };
    }),
  };
}
