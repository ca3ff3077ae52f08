import type { TestContext } from 'node:test';
import type { LifetimePolicy } from '../../src/cache/entry.ts';
import type { EntryRules } from '../../src/cache/invalidation.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import { promised } from '../../src/runtime.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { createDomain, type Domain, type DomainOptions } from '../../src/search/domain-search.ts';
import type { Engine, ResultPage } from '../../src/search/engine.ts';
import type { SearchEvent } from '../../src/search/events.ts';
import { type PreparedSearch, prepareSearch } from '../../src/search/key.ts';
import type { Answer, SearchClient, TierStatus } from '../../src/search/read-path.ts';
import type { PopularSearch } from '../../src/search/refresh.ts';
import { createTraceRecorder } from '../../src/search/trace-recorder.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { idle } from '../fakes/idle.ts';
import { createFakeStore, type FakeStore } from '../fakes/store.ts';
import { guardHarness } from '../resilience/harness.ts';

/** One domain with everything real but the engine, the store and the clock, which the test controls. */
export interface Harness extends Process {
  readonly engine: ScriptedEngine;
  readonly store: FakeStore;
  readonly clock: FakeClock;
  readonly events: SearchEvent[];
  /** Keys of searches, in their order. */
  readonly noted: string[];
  readonly prepare: (q: string, ...more: readonly (readonly [string, string])[]) => PreparedSearch;
  /** Names of the traces that began in the background, with `tracer`. */
  readonly roots: string[];
  /** Another process of the fleet: the same engine and store, its own L1. */
  readonly sibling: () => Searches;
}

/** The read path of one process, with promises. */
export interface Searches {
  readonly search: (prepared: PreparedSearch, client?: SearchClient) => Promise<Answer>;
  /** The answer of L1, while the process has no room for other searches. */
  readonly fromMemory: (prepared: PreparedSearch) => Answer | undefined;
  readonly bypass: (prepared: PreparedSearch) => Promise<Answer>;
  readonly searchMany: (many: readonly PreparedSearch[], client?: SearchClient) => Promise<readonly (Answer | Error)[]>;
}

/** One process. */
interface Process extends Pick<Domain, 'explain' | 'warm' | 'close'> {
  readonly search: Searches;
  /** A health probe has found that the engine answers. */
  readonly engineAnswers: () => void;
}

export interface HarnessOptions {
  readonly clock?: FakeClock;
  readonly store?: false;
  readonly deadlineMs?: number;
  /** Default: the deadline. */
  readonly patienceMs?: number;
  readonly maxConcurrent?: number;
  readonly maxQueued?: number;
  readonly maxEntryBytes?: number;
  readonly memory?: { readonly maxBytes: number; readonly emptyMaxBytes: number };
  readonly maxLeaseWaiters?: number;
  readonly lifeboat?: Engine;
  readonly rules?: EntryRules;
  readonly lifetimes?: Partial<LifetimePolicy>;
  /** Runs the background tasks: refreshes ahead of need and the backfill of a store. */
  readonly background?: true;
  readonly tracer?: true;
  /** Number of hits for each one that is compared with the engine. */
  readonly audit?: number;
  readonly random?: () => number;
}

const DOMAIN: SearchDomain = { name: 'goods', attributes: [], context: [], answerProfile: 'p' };

export function harness(t: TestContext, options: HarnessOptions = {}): Harness {
  const { clock = createFakeClock() } = options;
  const events: SearchEvent[] = [];
  const noted: string[] = [];
  const roots: string[] = [];
  const engine = scriptedEngine();
  const store = createFakeStore({ clock });
  const start = () => startProcess(t, options, { clock, engine, store, events, noted, roots });
  return {
    ...start(),
    sibling: () => start().search,
    engine,
    store,
    clock,
    events,
    noted,
    roots,
    prepare: (q, ...more) => prepareSearch({ pairs: [['q', q], ...more] }, [DOMAIN]),
  };
}

/** A harness whose tiers hold a page of this age for `диван`, and the search for it. */
export async function holding(t: TestContext, ageMs: number, options: HarnessOptions = {}) {
  const made = harness(t, options);
  const ask = (from: Searches = made.search): Promise<Answer> => from.search(made.prepare('диван'));
  await ask();
  await idle();
  made.clock.advance(ageMs);
  return { ...made, ask };
}

/** Makes the engine wait until the returned function is called. */
export function held({ engine }: Pick<Harness, 'engine'>): () => void {
  const gate = Promise.withResolvers<void>();
  engine.answer = (text) => gate.promise.then(() => pageOf(text));
  return gate.resolve;
}

export const down = (): Promise<never> => Promise.reject(new SearchError('engine-unavailable', 'ECONNREFUSED'));
export const code = (error: unknown): string => (error instanceof SearchError ? error.code : String(error));

/** Opens after six failures, for longer than any test takes. */
const BREAKER = { opensAfter: 6, resetMs: 60_000 };

function startProcess(
  t: TestContext,
  options: HarnessOptions,
  {
    clock,
    engine,
    store,
    events,
    noted,
    roots,
  }: Pick<Harness, 'clock' | 'engine' | 'store' | 'events' | 'noted' | 'roots'>,
): Process {
  const { deadlineMs = 400, maxConcurrent = 8, maxQueued = 16, rules = unflushed } = options;
  const { guard, events: guarded } = guardHarness(t, { clock, ...BREAKER, maxConcurrent, maxQueued, deadlineMs });
  const popular = new Map<string, PopularSearch & { readonly key: string }>();
  const runtime = {
    clock,
    random: options.random ?? Math.random,
    observe: (event: SearchEvent) => void events.push(event),
  };
  const compression = { coding: 'gzip', minBytes: 1024 } as const;
  const freshness = {
    ttlMs: 100_000,
    staleWhileRevalidateMs: 20_000,
    staleIfErrorMs: 600_000,
    emptyTtlMs: 10_000,
    degradedTtlMs: 5_000,
    jitter: 0,
    clientMaxAgeMs: 30_000,
    ...options.lifetimes,
  };
  const lifeboat = (): DomainOptions['lifeboat'] => {
    if (options.lifeboat === undefined) return undefined;
    const own = guardHarness(t, { clock, ...BREAKER, maxConcurrent: 1, maxQueued: 1, deadlineMs: 100 }).guard;
    return { engine: options.lifeboat, guard: own, deadlineMs: 100 };
  };
  const domain = createDomain({
    ...runtime,
    domain: DOMAIN,
    settings: {
      freshness,
      compression,
      maxEntryBytes: options.maxEntryBytes ?? 1 << 16,
      patienceMs: options.patienceMs ?? deadlineMs,
      engine: { kind: 'scripted', deadlineMs, hardDeadlineMs: 5 * deadlineMs },
      storeDeadlineMs: 50,
      maxLeaseWaiters: options.maxLeaseWaiters ?? 8,
      backfillPerSecond: options.background ? 1000 : 0,
      popularity: { maxQueries: 100 },
      changes: options.audit === undefined ? undefined : { audit: options.audit, engineLagMs: 0 },
    },
    memory: createMemoryTier(options.memory ?? { maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 }),
    store: options.store === false ? undefined : store,
    engine: {
      engines: [engine],
      guard: {
        ...guard,
        revivals: () => guarded.filter((event) => event.kind === 'breaker' && event.state === 'closed').length,
        ceiling: () => maxConcurrent,
        levels: () => ({ inFlight: 0, queued: 0, maxConcurrent, ceiling: maxConcurrent, breaker: 'closed' }),
      },
      health: { reachable: () => [true] },
    },
    lifeboat: lifeboat(),
    rules,
    forcedOpen: () => false,
    controlStanding: () => 'ok',
    fleet: { live: () => 1, rank: () => 0 },
    tracer:
      options.tracer === undefined
        ? undefined
        : {
            begin: (root) => {
              roots.push(root.name);
              return createTraceRecorder({ clock, random: Math.random }).begin();
            },
          },
    popularity: {
      note: (key, item) => {
        noted.push(key);
        popular.set(key, { key, item, count: 9, error: 0 });
      },
      top: () => (options.background ? [...popular.values()] : []),
    },
  });
  t.after(domain.close);
  const { explain, warm } = domain;
  const search = (prepared: PreparedSearch, client: SearchClient = {}): Promise<Answer> =>
    promised((done) => domain.search(prepared, client, done));
  const searches: Searches = {
    search,
    fromMemory: (prepared) => {
      let found: Answer | undefined;
      domain.search(prepared, { admit: () => false }, (_busy, answer) => {
        found = answer;
      });
      return found;
    },
    bypass: (prepared) => search(prepared, { bypass: true }),
    searchMany: (many, client = {}) => domain.searchMany(many, client),
  };
  return {
    search: searches,
    explain,
    warm,
    close: domain.close,
    engineAnswers: () => guard.balancer.reportProbe(0, true),
  };
}

/** One readable line: `engine · l2 uri-miss stored (unseen) · l1 uri-miss stored`. */
export function transcript(answer: Answer): string {
  const step = (tier: string, made: TierStatus): string => {
    if (made.kind === 'hit') return `${tier} hit`;
    const words = [tier, made.why, made.stored ? 'stored' : '', made.collapsed ? 'collapsed' : ''];
    const extra = [made.forwardStatus ?? '', made.detail === undefined ? '' : `(${made.detail})`];
    return [...words, ...extra].filter((word) => word !== '').join(' ');
  };
  const steps = [...(answer.l2 === undefined ? [] : [step('l2', answer.l2)]), step('l1', answer.l1)];
  return [answer.outcome, ...steps].join(' · ');
}

export interface ScriptedEngine extends Engine {
  readonly asked: string[];
  /** The reply to the next searches; by default a page with the text as its only title. */
  answer: (text: string, signal: AbortSignal) => Promise<ResultPage>;
}

export function scriptedEngine(): ScriptedEngine {
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
  return { total: 1, totalRelation: 'eq', results: [result], facets: {}, partial };
}

export const EMPTY_PAGE: ResultPage = { total: 0, totalRelation: 'eq', results: [], facets: {} };

export type Pair = readonly [name: string, value: string];

export const domain: SearchDomain = {
  name: 'goods',
  answerProfile: 'profile',
  attributes: [
    { name: 'category', type: 'string', facet: true, sort: false },
    { name: 'city', type: 'string', facet: true, sort: false },
    { name: 'price', type: 'integer', facet: false, sort: true },
    { name: 'area', type: 'number', facet: false, sort: true },
    { name: 'date', type: 'date', facet: false, sort: true },
  ],
  context: [
    { name: 'region', source: 'query', values: ['all', 'msk', 'spb'] },
    { name: 'X-Variant', source: 'header', values: ['a', 'b'] },
  ],
};
const other: SearchDomain = { ...domain, name: 'auto', attributes: [] };

/** The pairs of `q=a&page=2`. Nothing is decoded. */
export function pairsOf(text: string): Pair[] {
  const parts = text === '' ? [] : text.split('&');
  return parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]);
}

/** The prepared search of some parameters, in a domain with one attribute of each type. */
export function prepare(given: readonly Pair[] | string, variant?: string): PreparedSearch {
  const pairs = typeof given === 'string' ? pairsOf(given) : given;
  return prepareSearch({ pairs, header: (name) => (name === 'x-variant' ? variant : undefined) }, [domain, other]);
}
