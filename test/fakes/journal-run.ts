import type { DomainResult, DrillPhase, Mark, Sample, Verdict } from '../../src/operations/drills/journal.ts';
import type { GuardRule, Plan } from '../../src/operations/drills/plan.ts';
import type { Figures } from '../../src/operations/meter/figures.ts';
import { learn, mean } from './journal-learned.ts';
import { createTraffic, guardsOf } from './journal-model.ts';

export interface Traffic {
  readonly searchesPerSecond?: number;
  readonly hitRatio?: number;
  readonly places?: number;
  readonly refillMs?: number;
  readonly sampleMs?: number;
  readonly idleP99Ms?: number;
  /** Where it ends before its time. Without a verdict it is still going on. */
  readonly end?: { readonly atMs: number; readonly verdict?: Verdict; readonly broken?: GuardRule };
}

interface DomainPart {
  readonly samples: readonly Sample[];
  readonly marks: readonly Mark[];
  readonly learned: DomainResult;
  readonly toMs: number;
}

const RECOVERY_MS = 15_000;

/** One domain from its baseline to its after. */
export function drillDomain(plan: Plan, drilled: Traffic, domain: string, startMs: number, seed: number): DomainPart {
  const { searchesPerSecond = 640, hitRatio = 0.91, places = 24, refillMs = 7000, sampleMs = 500, end } = drilled;
  const traffic = createTraffic({
    plan,
    seed,
    searchesPerSecond,
    hitRatio,
    refillMs,
    places,
    engineCallMs: 45,
    idleP99Ms: drilled.idleP99Ms ?? 18,
  });
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
      const figures = traffic({ seconds: sampleMs / 1000, phase: kind, stage, flushedForMs, isBlackout });
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
  phase('recovery', last, RECOVERY_MS);
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
  return { samples, marks, learned: learn(domain, samples, marks, baseline), toMs: nowMs };
}

/** Of all keys, after the stage. */
export function widthOf(plan: Plan, stage: number): number {
  const planned = plan.stages[stage];
  return planned?.kind === 'fraction' ? planned.fraction : 1 - plan.holdout;
}
