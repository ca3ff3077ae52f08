import type { TestContext } from 'node:test';
import type { LifetimePolicy } from '../../src/cache/freshness.ts';
import { type EntryRules, unflushed } from '../../src/cache/invalidation.ts';
import { createLeases } from '../../src/cache/lease.ts';
import { createTiers } from '../../src/cache/tiers.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import type { Engine } from '../../src/search/engine.ts';
import type { SearchEvent } from '../../src/search/events.ts';
import { prepareSearch } from '../../src/search/key.ts';
import { createCompute, createMissPath } from '../../src/search/load.ts';
import { createForward, createLifeboat, type Forward } from '../../src/search/miss-path.ts';
import {
  type Answer,
  createDomainSearch,
  type DomainSearch,
  type PreparedSearch,
  type TierStep,
} from '../../src/search/read-path.ts';
import { createRefresh, createWarmer, type Warmer } from '../../src/search/refresh.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';
import { guardHarness } from '../resilience/harness.ts';
import { type ScriptedEngine, type ScriptedStore, scriptedEngine, scriptedStore } from './scripted.ts';

/** One domain with everything real but the engine, the store and the clock, which the test holds in its hand. */
export interface Rig {
  readonly search: DomainSearch;
  readonly lastMiss: Forward['lastMiss'];
  readonly engine: ScriptedEngine;
  readonly store: ScriptedStore;
  readonly clock: FakeClock;
  readonly events: SearchEvent[];
  /** Keys of searches, as they came. */
  readonly noted: string[];
  readonly prepare: (q: string, ...more: readonly (readonly [string, string])[]) => PreparedSearch;
  /** Another process of the fleet: the same engine and store, its own L1. */
  readonly sibling: () => DomainSearch;
  readonly warm: Warmer;
  /** A probe beside the searches has found the engine to answer. */
  readonly engineAnswers: () => void;
}

export interface RigOptions {
  readonly store?: false;
  readonly deadlineMs?: number;
  /** Default: the deadline. */
  readonly patienceMs?: number;
  readonly maxConcurrent?: number;
  readonly maxQueued?: number;
  readonly maxEntryBytes?: number;
  readonly maxLeaseWaiters?: number;
  readonly lifeboat?: Engine;
  readonly rules?: EntryRules;
  readonly lifetimes?: Partial<LifetimePolicy>;
}

const DOMAIN: SearchDomain = { name: 'goods', attributes: [], context: [], answerProfile: 'p' };

export function rig(t: TestContext, options: RigOptions = {}): Rig {
  const clock = createFakeClock();
  const events: SearchEvent[] = [];
  const noted: string[] = [];
  const engine = scriptedEngine();
  const store = scriptedStore(clock);
  const build = () => buildSearch(t, options, { clock, engine, store, events, noted });
  return {
    ...build(),
    sibling: () => build().search,
    engine,
    store,
    clock,
    events,
    noted,
    prepare: (q, ...more) => prepareSearch({ pairs: [['q', q], ...more] }, [DOMAIN]),
  };
}

/** Opens after six failures, for longer than any test takes. */
const BREAKER = { opensAfter: 6, resetMs: 60_000 };

interface Parts {
  readonly clock: FakeClock;
  readonly engine: Engine;
  readonly store: ScriptedStore;
  readonly events: SearchEvent[];
  readonly noted: string[];
}

type Built = Pick<Rig, 'search' | 'lastMiss' | 'warm' | 'engineAnswers'>;

function buildSearch(t: TestContext, options: RigOptions, parts: Parts): Built {
  const { clock, engine, store, events, noted } = parts;
  const { deadlineMs = 400, rules = unflushed } = options;
  const observe = (event: SearchEvent): void => {
    events.push(event);
  };
  const { maxConcurrent = 8, maxQueued = 16 } = options;
  const limits = { maxConcurrent, maxQueued, deadlineMs };
  const { guard, events: guarded } = guardHarness(t, { clock, ...BREAKER, ...limits });
  const lifetimes = {
    ttlMs: 100_000,
    staleWhileRevalidateMs: 20_000,
    staleIfErrorMs: 600_000,
    emptyTtlMs: 10_000,
    degradedTtlMs: 5_000,
    jitter: 0,
    ...options.lifetimes,
  };
  const tiers = createTiers({
    domain: 'goods',
    memory: createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 }),
    ...(options.store === false ? {} : { store }),
    storeDeadlineMs: 50,
    maxEntryBytes: options.maxEntryBytes ?? 1 << 16,
    lifetimes,
    rules,
    clock,
    observe,
  });
  const common = { domain: 'goods', clock, random: Math.random, observe };
  const encoding = { lifetimes, compression: { coding: 'gzip', minBytes: 1024 } } as const;
  const leases = createLeases({
    ...common,
    store: store.leases,
    ttlMs: deadlineMs * 5,
    storeDeadlineMs: 50,
    maxWaiters: options.maxLeaseWaiters ?? 8,
  });
  const compute = createCompute({
    ...common,
    ...encoding,
    engines: [engine],
    guard,
    tiers,
    ...(options.store === false ? {} : { leases }),
    rules,
    deadlineMs,
  });
  const breakerRetryAfterMs = guard.balancer.retryAfterMs;
  const shared = { ...common, tiers, deadlineMs, breakerRetryAfterMs };
  const missPath = createMissPath({ tiers, compute, coalesce: true });
  const lifeboat =
    options.lifeboat === undefined
      ? {}
      : {
          lifeboat: createLifeboat({
            ...common,
            ...encoding,
            hides: rules.hides,
            engine: options.lifeboat,
            guard: guardHarness(t, { clock, ...BREAKER, maxConcurrent: 1, maxQueued: 1, deadlineMs: 100 }).guard,
            deadlineMs: 100,
          }),
        };
  const { patienceMs = deadlineMs } = options;
  const { forward, lastMiss } = createForward({ ...shared, patienceMs, missPath, ...lifeboat });
  const search = createDomainSearch({
    ...shared,
    forward,
    refresh: createRefresh({
      ...shared,
      missPath,
      hasStore: tiers.hasStore,
      revivals: () => guarded.filter((event) => event.kind === 'breaker' && event.state === 'closed').length,
    }),
    engineTroubled: guard.troubled,
    note: (prepared) => noted.push(prepared.key),
    batchConcurrency: () => options.maxConcurrent ?? 8,
  });
  return {
    search,
    lastMiss,
    warm: createWarmer({ ...shared, missPath }),
    engineAnswers: () => guard.balancer.reportProbe(0, true),
  };
}

/** One line a person can read: `engine · l2 uri-miss stored (unseen) · l1 uri-miss stored`. */
export function transcript(answer: Answer): string {
  const step = (tier: string, made: TierStep): string => {
    if (made.kind === 'hit') return `${tier} hit`;
    const words = [tier, made.why, made.stored ? 'stored' : '', made.collapsed ? 'collapsed' : ''];
    const extra = [made.forwardStatus ?? '', made.detail === undefined ? '' : `(${made.detail})`];
    return [...words, ...extra].filter((word) => word !== '').join(' ');
  };
  const steps = [...(answer.l2 === undefined ? [] : [step('l2', answer.l2)]), step('l1', answer.l1)];
  return [answer.outcome, ...steps].join(' · ');
}
