import type { DomainResult, Journal, Mark, Sample } from '../../src/operations/drills/journal.ts';
import type { GuardRule, Plan, PlanStage } from '../../src/operations/drills/plan.ts';
import { drillDomain, type Traffic } from './journal-model.ts';
import { previewOf } from './operations-control.ts';

const guard = (figure: GuardRule['figure'], max: number, forMs: number, then: GuardRule['then']): GuardRule => {
  return { figure, max, forMs, then };
};

export const STAGED: Plan = {
  name: '1-5-25-100',
  title: 'The whole cache in four stages',
  mode: 'drop',
  eraseBy: 'unlink',
  over: 'one',
  baselineMs: 30_000,
  holdout: 0.01,
  stages: [0.01, 0.05, 0.25, 1].map((fraction): PlanStage => ({ kind: 'fraction', fraction, holdMs: 40_000 })),
  guards: [
    guard('errorRate', 0.01, 2000, 'rollback'),
    guard('shedRate', 0.05, 2000, 'rollback'),
    guard('p99Ms', 800, 4000, 'rollback'),
    guard('engineInFlightShare', 0.95, 5000, 'hold'),
    guard('hitRatioDrop', 10, 3000, 'rollback'),
    guard('engineRateFactor', 5, 2000, 'continue'),
  ],
  recovery: { withinPoints: 2, timeoutMs: 120_000 },
  afterMs: 20_000,
  minSearches: 200,
};

export interface Drilled extends Traffic {
  readonly plan?: Plan;
  readonly domains?: readonly string[];
  readonly seed?: number;
  readonly reason?: string;
  readonly withPreview?: boolean;
}

const FORECAST = {
  engineCallsPerSecond: 49.3,
  extraCallsPerSecond: 512,
  headroom: 9.8,
  amplification: 11.4,
  survivable: 0.85,
};
const STARTED_AT_MS = Date.parse('2026-11-21T06:43:48.317Z');

/** The journal that a drill would write: baseline, stages, recovery and after of each domain. */
export function journalOf(drilled: Drilled = {}): Journal {
  const { plan = STAGED, domains = ['goods'], seed = 7, reason = 'rehearsal before the winter sale' } = drilled;
  const samples: Sample[] = [];
  const marks: Mark[] = [];
  const learned: DomainResult[] = [];
  let atMs = 0;
  for (const [i, domain] of domains.entries()) {
    if (drilled.end !== undefined && atMs >= drilled.end.atMs) break;
    const part = drillDomain(plan, drilled, domain, atMs, seed + i);
    samples.push(...part.samples);
    marks.push(...part.marks);
    learned.push(part.result);
    atMs = part.toMs;
  }
  const preview = previewOf(plan.mode, 0.99, [{ from: 0, to: 9900 }], FORECAST);
  const detail = 'Every stage was held, no guard broke, and the cache came back.';
  const verdict = drilled.end === undefined ? ({ kind: 'passed', detail } as const) : drilled.end.verdict;
  return {
    id: `20261121-064348-${domains[0] ?? 'none'}-${plan.name}-x7`,
    plan,
    domains,
    reason,
    by: 'anna@desk-12 from 10.0.3.17',
    owner: 'serpcache-2:8431',
    startedAtMs: STARTED_AT_MS,
    endedAtMs: verdict !== undefined ? STARTED_AT_MS + atMs : undefined,
    verdict,
    previews: drilled.withPreview === false ? {} : Object.fromEntries(domains.map((name) => [name, preview])),
    samples,
    marks,
    learned,
    state: verdict === undefined ? runningAt(samples, domains) : { kind: 'over' },
  };
}

function runningAt(samples: readonly Sample[], domains: readonly string[]): Journal['state'] {
  const last = samples.at(-1);
  const [phase, stage] = [last?.phase ?? 'baseline', last?.stage ?? 0];
  return { kind: 'running', phase, domain: last?.domain ?? domains[0] ?? '', stage };
}

/** One drill of each kind that operators meet, by name. */
export const SCENES: Readonly<Record<string, () => Journal>> = {
  passed: () => journalOf(),
  'aborted-at-100': () =>
    journalOf({
      slots: 16,
      end: {
        atMs: 156_000,
        verdict: {
          kind: 'aborted',
          detail: 'Aborted by anna@desk-12: enough seen.',
          resumable: { domain: 'goods', stage: 3 },
        },
      },
    }),
  'failed-by-guard': () => {
    const [, broken] = STAGED.guards;
    const detail = 'Shed searches 7.0 %, above 5 % for 2 s, in the stage of all keys.';
    return journalOf({
      slots: 7,
      refillMs: 16_000,
      end: {
        atMs: 153_500,
        verdict: { kind: 'failed', detail, resumable: { domain: 'goods', stage: 3 } },
        broken,
      },
    });
  },
  lost: () =>
    journalOf({
      end: {
        atMs: 96_000,
        verdict: { kind: 'lost', detail: 'The owner could not renew it; every process gave the cache back by itself.' },
      },
    }),
  refused: () =>
    journalOf({
      idleP99Ms: 890,
      end: {
        atMs: 30_000,
        verdict: { kind: 'refused', detail: 'p99Ms is 912, above 800, before anything was flushed.' },
      },
    }),
  'over-domains': () =>
    journalOf({
      plan: { ...STAGED, name: 'domain-by-domain', title: 'Every domain, one after another', over: 'domains' },
      domains: ['goods', 'auto', 'travel', 'books'],
    }),
  blackout: () => journalOf({ plan: BLACKOUT }),
  'node-by-node': () => journalOf({ plan: NODES }),
  'no-traffic': () => journalOf({ searchesPerSecond: 0, withPreview: false }),
  'little-traffic': () => journalOf({ searchesPerSecond: 9 }),
  'one-sample': () => journalOf({ end: { atMs: 500 }, withPreview: false }),
  'nothing-yet': () => journalOf({ end: { atMs: 0 }, withPreview: false }),
  running: () => journalOf({ end: { atMs: 118_000 } }),
  long: () =>
    journalOf({
      sampleMs: 1000,
      refillMs: 90_000,
      plan: {
        ...STAGED,
        baselineMs: 300_000,
        afterMs: 300_000,
        stages: STAGED.stages.map((stage) => ({ ...stage, holdMs: 846_250 })),
      },
    }),
};

const BLACKOUT: Plan = {
  ...STAGED,
  name: 'engine-blackout',
  title: 'The engine is away',
  stages: [{ kind: 'blackout', holdMs: 60_000, title: 'engine away' }],
};

const NODES: Plan = {
  ...STAGED,
  name: 'node-by-node',
  title: 'The store, node by node',
  mode: 'erase',
  eraseBy: 'flushall',
  stages: [0, 1, 2].map((node) => ({ kind: 'node', node, holdMs: 30_000 })),
};
