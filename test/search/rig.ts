import type { TestContext } from 'node:test';
import type { LifetimePolicy } from '../../src/cache/freshness.ts';
import { unflushed } from '../../src/cache/rules.ts';
import type { Store, StoreRead } from '../../src/cache/store.ts';
import { createTiers, type EntryRules } from '../../src/cache/tiers.ts';
import { createBreaker } from '../../src/resilience/breaker.ts';
import { createGuard } from '../../src/resilience/guard.ts';
import { createPermit } from '../../src/resilience/permit.ts';
import type { Answer, PreparedSearch, TierStep } from '../../src/search/answer.ts';
import { createCompute } from '../../src/search/compute.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { createDomainSearch, type DomainSearch } from '../../src/search/domain-search.ts';
import { type Engine, EngineError } from '../../src/search/engine.ts';
import type { SearchEvent } from '../../src/search/events.ts';
import { createMissPath } from '../../src/search/flight.ts';
import type { ResultPage } from '../../src/search/page.ts';
import { prepareSearch } from '../../src/search/prepare.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';

/** One domain with everything real but the engine, the store and the clock, which the test holds in its hand. */
export interface Rig {
  readonly search: DomainSearch;
  readonly engine: ScriptedEngine;
  readonly store: ScriptedStore;
  readonly clock: FakeClock;
  readonly events: SearchEvent[];
  readonly prepare: (q: string, ...more: readonly (readonly [string, string])[]) => PreparedSearch;
  /** Another process of the fleet: the same engine and store, its own L1. */
  readonly sibling: () => DomainSearch;
}

export interface ScriptedEngine extends Engine {
  readonly asked: string[];
  /** What the next searches do; by default a page with the text as its only title. */
  answer: (text: string, signal: AbortSignal) => Promise<ResultPage>;
}

export interface ScriptedStore extends Store {
  readonly values: Map<string, Buffer>;
  readonly reads: string[];
  fault: Extract<StoreRead, { kind: 'fault' }> | undefined;
}

export interface RigOptions {
  readonly store?: false;
  readonly deadlineMs?: number;
  readonly maxConcurrent?: number;
  readonly maxQueued?: number;
  readonly maxEntryBytes?: number;
  readonly rules?: EntryRules;
  readonly lifetimes?: Partial<LifetimePolicy>;
}

const DOMAIN: SearchDomain = { name: 'goods', attributes: [], context: [], answerProfile: 'p' };

export function rig(t: TestContext, options: RigOptions = {}): Rig {
  const clock = createFakeClock();
  const events: SearchEvent[] = [];
  const engine = scriptedEngine();
  const store = scriptedStore();
  const build = (): DomainSearch => buildSearch(t, options, { clock, engine, store, events });
  return {
    search: build(),
    sibling: build,
    engine,
    store,
    clock,
    events,
    prepare: (q, ...more) => prepareSearch({ pairs: [['q', q], ...more] }, [DOMAIN]),
  };
}

interface Parts {
  readonly clock: FakeClock;
  readonly engine: Engine;
  readonly store: ScriptedStore;
  readonly events: SearchEvent[];
}

function buildSearch(t: TestContext, options: RigOptions, { clock, engine, store, events }: Parts): DomainSearch {
  const { deadlineMs = 400, rules = unflushed } = options;
  const observe = (event: SearchEvent): void => {
    events.push(event);
  };
  const breaker = createBreaker({
    name: 'engine',
    errorThresholdPercent: 50,
    volumeThreshold: 6,
    windowMs: 10_000,
    resetMs: 60_000,
    isAlive: (error) => error instanceof EngineError && error.code === 'engine-rejected',
    monotonicMs: clock.monotonicMs,
    random: () => 0.5,
    onState: () => undefined,
  });
  const guard = createGuard({
    target: 'engine',
    breaker,
    permit: createPermit({ maxConcurrent: options.maxConcurrent ?? 8, maxQueued: options.maxQueued ?? 16, clock }),
    deadlineMs,
    hardDeadlineMs: deadlineMs * 4,
    abortEndsWork: true,
    clock,
    observe: () => undefined,
  });
  t.after(guard.close);
  const tiers = createTiers({
    domain: 'goods',
    memory: createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 }),
    ...(options.store === false ? {} : { store }),
    storeDeadlineMs: 50,
    maxEntryBytes: options.maxEntryBytes ?? 1 << 16,
    rules,
    clock,
    observe,
  });
  const lifetimes = {
    ttlMs: 100_000,
    staleWhileRevalidateMs: 20_000,
    staleIfErrorMs: 600_000,
    emptyTtlMs: 10_000,
    degradedTtlMs: 5_000,
    jitter: 0,
    ...options.lifetimes,
  };
  const compute = createCompute({
    domain: 'goods',
    engine,
    guard,
    rules,
    lifetimes,
    compression: { coding: 'gzip', minBytes: 1024 },
    deadlineMs,
    clock,
    random: () => 0.5,
    observe,
  });
  const shared = { domain: 'goods', tiers, deadlineMs, breakerRetryAfterMs: breaker.retryAfterMs, clock, observe };
  const batchConcurrency = options.maxConcurrent ?? 8;
  return createDomainSearch({ ...shared, missPath: createMissPath({ ...shared, compute }), batchConcurrency });
}

function scriptedEngine(): ScriptedEngine {
  const asked: string[] = [];
  const engine: ScriptedEngine = {
    asked,
    answer: async (text) => pageOf(text),
    abortEndsWork: true,
    search: async (request, signal) => {
      asked.push(request.text);
      return engine.answer(request.text, signal);
    },
    probe: async () => undefined,
    close: async () => undefined,
  };
  return engine;
}

export function pageOf(title: string, partial?: string): ResultPage {
  const result = { id: title, title, snippet: title, score: 1, attributes: {} };
  return {
    total: 1,
    totalRelation: 'eq',
    results: [result],
    facets: {},
    ...(partial === undefined ? {} : { partial }),
  };
}

export const EMPTY_PAGE: ResultPage = { total: 0, totalRelation: 'eq', results: [], facets: {} };

function scriptedStore(): ScriptedStore {
  const values = new Map<string, Buffer>();
  const reads: string[] = [];
  const store: ScriptedStore = {
    values,
    reads,
    fault: undefined,
    read: async (name) => {
      reads.push(name);
      if (store.fault !== undefined) return store.fault;
      const value = values.get(name);
      return value === undefined ? { kind: 'absent' } : { kind: 'value', value: Buffer.from(value) };
    },
    readMany: (names, deadlineMs) => Promise.all(names.map((name) => store.read(name, deadlineMs))),
    write: async (name, value) => {
      if (store.fault !== undefined) return { kind: 'dropped', fault: store.fault.fault };
      values.set(name, Buffer.from(value));
      return { kind: 'stored' };
    },
    locate: () => ({}),
    nodes: () => [],
    close: async () => undefined,
  };
  return store;
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
