import type { Entry } from '../cache/entry.ts';
import type { Lease, Leases } from '../cache/lease.ts';
import type { Lookup, StoredIn, Tiers } from '../cache/tiers.ts';
import { PRIORITIES, type Priority } from '../resilience/codel-queue.ts';
import { type EnginePermit, type Guard, within } from '../resilience/guard.ts';
import { SearchError } from '../resilience/search-error.ts';
import { promised } from '../runtime.ts';
import type { SearchRequest } from './domain.ts';
import type { ResultPage } from './engine.ts';
import type { PreparedSearch } from './key.ts';
import { type AskEngineOptions, askEngine, type ComputeEntryOptions, computeEntry } from './page.ts';
import { factsOfLookup, inSpan, type Span, type Tracer, untilSettled } from './trace.ts';

export type Loader = ReturnType<typeof createLoader>;

interface LoadClient {
  /** Monotonic. */
  readonly deadlineAtMs: number;
  /** The load's span begins under it when this client starts the load. */
  readonly span?: Span | undefined;
}

interface BackgroundLoad {
  readonly priority: Exclude<Priority, 'interactive'>;
  /** Read the store first: another process may have refreshed the page. */
  readonly readStore: boolean;
  /** Wall time: only a page created later is new. */
  readonly newerThanMs: number;
}

export interface LoadJoin {
  readonly result: Promise<Loaded>;
  /** True for the caller that started the load. */
  readonly leads: boolean;
  /** Resolved when the engine call has begun, in this process or in the process that holds the lease. */
  readonly started: Promise<void>;
  /** The span of the load, where the search that started it is traced. */
  readonly span: Span | undefined;
}

interface Loaded {
  readonly entry: Entry;
  /**
   * `store`: a late reply of the store, or a page that a refresh found in it. `fleet`: the page of another load, found in L1
   * once the permit was held, or in the store by way of the lease.
   */
  readonly from: 'engine' | 'store' | 'fleet';
  readonly stored: StoredIn;
}

interface LoaderOptions extends ComputeEntryOptions, AskEngineOptions {
  readonly guard: Pick<Guard, 'admit'>;
  readonly tiers: Tiers<SearchRequest>;
  /** Absent where there is no store. */
  readonly leases?: Leases;
  /** Traces the loads in the background. */
  readonly tracer?: Tracer | undefined;
}

/** Maximum time that a refusal waits for a late store reply, which mostly comes soon after its deadline. */
const LATE_REPLY_GRACE_MS = 80;

/** A wall time before every page: every fresh page is new enough. */
const ANY_FRESH = 0;

const INTERACTIVE: Priority = 'interactive';

/** One running load. */
interface Load {
  readonly prepared: PreparedSearch;
  readonly context: LoadContext;
  /** False when the store has just failed. */
  readonly storeIsUp: boolean;
  /** Wall time: a stored entry created later is as good as a new page. Undefined: only the engine's page is wanted. */
  readonly newerThanMs: number | undefined;
}

interface Flight {
  readonly result: Promise<Loaded>;
  readonly context: LoadContext;
}

/** How a load goes on that has a permit. `elsewhere`: another process computes the page. */
type Turn =
  | { readonly kind: 'found'; readonly loaded: Loaded }
  | { readonly kind: 'engine'; readonly lease: Lease | undefined }
  | { readonly kind: 'elsewhere'; readonly leases: Leases };

/**
 * Loads pages that the cache does not have, one load per key for clients and refreshes alike. A load gets a permit from
 * the guard and the lease of the key, asks the engine and writes both tiers. A load outlives its clients: it ends when
 * the engine has replied or the hard deadline has passed. It fails with a SearchError; any other error is a bug.
 */
export function createLoader(options: LoaderOptions) {
  const { domain, guard, tiers, leases, clock, deadlineMs } = options;
  /** The running loads, by key. */
  const loads = new Map<string, Flight>();

  /** Permit → L1 again → lease → engine → store. */
  const compute = async (load: Load): Promise<Loaded> => {
    const { prepared, context } = load;
    for (;;) {
      const permit = await inSpan(context.span, 'permit', () => admitted(context));
      const turn = await turnOf(load).catch((error: unknown) => {
        permit.leave();
        throw error;
      });
      if (turn.kind === 'engine') return fromEngine(load, permit, turn.lease);
      permit.leave();
      if (turn.kind === 'found') return turn.loaded;
      // Another process is asking the engine. Waiting for its page takes no permit.
      context.begin('elsewhere');
      // No client waits for a refresh: the next request finds the page in the store.
      if (context.priority() !== INTERACTIVE) throw new SearchError('leased');
      const waited = await inSpan(
        context.span,
        'lease',
        () => turn.leases.wait(prepared.storeName, context.deadlineAtMs, context.cancelled),
        (end) => ({ 'serpcache.result': end.kind === 'ended' ? end.why : end.kind, 'serpcache.waited': true }),
      );
      if (waited.kind === 'ended') {
        throw new SearchError(waited.why === 'crowded' ? 'crowded' : 'engine-deadline');
      }
      const found = waited.kind === 'value' ? fromStoredValue(load, waited.value) : undefined;
      if (found !== undefined) return found;
      // The other process left no page: start again from the permit.
    }
  };

  const turnOf = async (load: Load): Promise<Turn> => {
    const { prepared, context } = load;
    // L1 again: a bypass or a late store reply may have filled it while this load waited for its permit.
    const held = asWanted(load, tiers.fromMemory(prepared));
    if (held !== undefined) return { kind: 'found', loaded: held };
    // A reload wants the engine's page: there is nothing to share with other processes.
    if (leases === undefined || load.newerThanMs === undefined) return { kind: 'engine', lease: undefined };
    const taken = await inSpan(
      context.span,
      'lease',
      () => leases.take(prepared.storeName),
      ({ kind }) => ({ 'serpcache.result': kind }),
    );
    if (taken.kind === 'held') return { kind: 'elsewhere', leases };
    const lease = taken.kind === 'mine' ? taken.lease : undefined;
    // The lease and the entry are read in one step: a page stored between the L2 read and the lease is found here.
    const found = taken.kind === 'mine' ? fromStoredValue(load, taken.value) : undefined;
    if (found === undefined && !context.cancelled()) return { kind: 'engine', lease };
    lease?.release();
    if (found === undefined) throw new SearchError('left');
    return { kind: 'found', loaded: found };
  };

  /** Gets a permit, in as many attempts as the context allows: see LoadContext. */
  const admitted = async (context: LoadContext): Promise<EnginePermit> => {
    for (;;) {
      const signal = context.attempt();
      try {
        return await guard.admit({ deadlineAtMs: context.deadlineAtMs(), priority: context.priority(), signal });
      } catch (error) {
        const isOver = error instanceof SearchError && (error.reason === 'left' || error.reason === 'queue-expired');
        if (!isOver || context.cancelled() || !context.hasNewWaiters()) throw error;
      }
    }
  };

  const fromEngine = async (load: Load, permit: EnginePermit, lease: Lease | undefined): Promise<Loaded> => {
    const { prepared, context, storeIsUp } = load;
    const ask = (endpoint: number, signal: AbortSignal): Promise<ResultPage> => {
      context.begin('here');
      return askEngine(prepared, { endpoint, signal, above: context.span }, options);
    };
    try {
      const entry = await computeEntry(prepared, permit, ask, options);
      const stored = tiers.set(prepared, entry, { storeIsUp, lease });
      return { entry, from: 'engine', stored };
    } catch (error) {
      lease?.release();
      throw error;
    }
  };

  /** A page that came through `tiers`: L1 holds it, unless it is too large. */
  const loadedFrom = (from: 'store' | 'fleet', prepared: PreparedSearch, entry: Entry): Loaded => ({
    entry,
    from,
    stored: { l1: tiers.holds(prepared), l2: false },
  });

  /** A page that another load has put into a tier, if it is what this load wants. */
  const asWanted = ({ prepared, newerThanMs }: Load, found: Lookup): Loaded | undefined => {
    const entry = newerThanMs === undefined ? undefined : freshEntry(found, newerThanMs);
    return entry && loadedFrom('fleet', prepared, entry);
  };

  const fromStoredValue = (load: Load, value: Buffer | undefined): Loaded | undefined =>
    value === undefined ? undefined : asWanted(load, tiers.open(load.prepared, value));

  /**
   * Races the load against the reply of a store that was too slow for the read. A fresh reply ends the load, unless this
   * process has begun its engine call: then the engine's page comes as soon, and is newer.
   */
  const orLateReply = (load: Load, computed: Promise<Loaded>, late: Promise<Entry | undefined>): Promise<Loaded> => {
    const { context } = load;
    const replied = late.then((entry) => {
      if (entry === undefined || context.begunHere()) return computed;
      context.cancel();
      return loadedFrom('store', load.prepared, entry);
    });
    // A load that was refused at once (an open breaker, a full queue) waits a moment for the reply, because the load
    // has no other source of a page.
    const computedOrLate = computed.catch(async (error: unknown) => {
      const entry = context.begunHere()
        ? undefined
        : await within(late, { maxWaitMs: LATE_REPLY_GRACE_MS, monotonicMs: clock.monotonicMs }).catch(() => undefined);
      if (entry === undefined) throw error;
      return loadedFrom('store', load.prepared, entry);
    });
    return Promise.race([computedOrLate, replied]);
  };

  const run = (
    prepared: PreparedSearch,
    l2: Lookup | undefined,
    context: LoadContext,
    { newerThanMs, above }: { readonly newerThanMs: number | undefined; readonly above: Span | undefined },
  ): Promise<Loaded> => {
    const load = { prepared, context, newerThanMs, storeIsUp: storeIsUp(l2) };
    const start = (own: Span | undefined): Promise<Loaded> => {
      context.span = own;
      const computed = compute(load);
      return l2?.kind === 'missed' && l2.late !== undefined ? orLateReply(load, computed, l2.late) : computed;
    };
    return inSpan(above, 'load', start, ({ from }) => ({ 'serpcache.from': from, 'serpcache.key': prepared.key }));
  };

  /**
   * One load per key in this process. The key is free again before the result is delivered: these are the first handlers of
   * the promise, and they also handle the failure of a load that no client waits for.
   */
  const join = (key: string, context: LoadContext, start: () => Promise<Loaded>): LoadJoin => {
    const running = loads.get(key);
    if (running !== undefined) {
      running.context.escalate(context.priority(), context.deadlineAtMs());
      return { result: running.result, leads: false, started: running.context.begun, span: running.context.span };
    }
    const result = start();
    loads.set(key, { result, context });
    const free = (): void => void loads.delete(key);
    result.then(free, free);
    return { result, leads: true, started: context.begun, span: context.span };
  };

  /** A load for a client that waits. */
  const interactive =
    (keyOf: (key: string) => string, newerThanMs: number | undefined) =>
    (prepared: PreparedSearch, l2: Lookup | undefined, { deadlineAtMs, span: above }: LoadClient): LoadJoin => {
      const context = createLoadContext(INTERACTIVE, deadlineAtMs);
      return join(keyOf(prepared.key), context, () => run(prepared, l2, context, { newerThanMs, above }));
    };

  return {
    /** Joins the key's load or starts it. `l2`: the lookup that missed; a reply that it still expects may end the load. */
    load: interactive((key) => key, ANY_FRESH),
    /** As `load`, but ignores a running load of the key and every stored page: an operator wants the engine's page. */
    reload: interactive((key) => `reload ${key}`, undefined),
    /**
     * As `load`, in the background: it takes only permits that no client needs, and stays in the queue no longer than the
     * engine's deadline.
     */
    refresh: (prepared: PreparedSearch, { priority, readStore, newerThanMs }: BackgroundLoad): LoadJoin => {
      const context = createLoadContext(priority, clock.monotonicMs() + deadlineMs);
      const refreshed = async (above: Span | undefined): Promise<Loaded> => {
        const l2 = readStore
          ? await inSpan(above, 'l2', () => promised<Lookup>((done) => tiers.fromStore(prepared, done)), factsOfLookup)
          : undefined;
        if (l2?.kind === 'found') tiers.hold(prepared, l2.entry);
        const entry = l2 && freshEntry(l2, newerThanMs);
        return entry ? loadedFrom('store', prepared, entry) : run(prepared, l2, context, { newerThanMs, above });
      };
      return join(prepared.key, context, () => {
        const root = options.tracer?.begin({ name: priority, kind: 'internal' });
        return untilSettled(root, refreshed(root), ({ from }) => ({
          'serpcache.domain': domain,
          'serpcache.from': from,
        }));
      });
    },
    /** Whether a load of that key is running: joining it costs the engine nothing. */
    isLoading: (key: string): boolean => loads.has(key),
    size: (): number => loads.size,
  };
}

function freshEntry(found: Lookup, newerThanMs: number): Entry | undefined {
  if (found.kind !== 'found' || found.freshness !== 'fresh') return undefined;
  return found.entry.createdAtMs > newerThanMs ? found.entry : undefined;
}

/** An answer does not claim to be stored in a store that has just failed. After a miss without a fault it does. */
function storeIsUp(l2: Lookup | undefined): boolean {
  if (l2 === undefined || l2.kind === 'found') return true;
  return l2.reason !== 'node-open' && l2.reason !== 'store-down' && l2.reason !== 'store-saturated';
}

type LoadContext = ReturnType<typeof createLoadContext>;

/**
 * The priority and the deadline of a load. Both change while it runs: a client that joins a refresh raises its priority
 * at once. When an attempt to get a permit has expired, the load makes another one if a caller has joined since: under
 * overload the newest waiter is served first, and a load is as new as its latest client.
 */
export function createLoadContext(firstPriority: Priority, firstDeadlineAtMs: number) {
  let priority = firstPriority;
  let deadlineAtMs = firstDeadlineAtMs;
  let cancelled = false;
  let joined = false;
  let begunHere = false;
  let attempt = new AbortController();
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  return {
    priority: () => priority,
    /** Monotonic time: the latest deadline of the clients. */
    deadlineAtMs: () => deadlineAtMs,
    /** Begins an attempt to get a permit. The signal ends the attempt: another one is due, or the load is cancelled. */
    attempt: (): AbortSignal => {
      joined = false;
      if (!cancelled) attempt = new AbortController();
      return attempt.signal;
    },
    /** Whether a caller has joined since the attempt began. */
    hasNewWaiters: () => joined,
    /** Another caller joins. A higher priority ends the attempt. */
    escalate: (wanted: Priority, wantedAtMs: number): void => {
      deadlineAtMs = Math.max(deadlineAtMs, wantedAtMs);
      joined = true;
      if (PRIORITIES.indexOf(wanted) >= PRIORITIES.indexOf(priority)) return;
      priority = wanted;
      attempt.abort();
    },
    /** Called when the engine call begins, in this process or in the one that holds the lease. */
    begin: (where: 'here' | 'elsewhere'): void => {
      begunHere ||= where === 'here';
      resolve();
    },
    /** Resolved by the first `begin`. */
    begun,
    begunHere: () => begunHere,
    /** The page came from elsewhere: the load gives up. */
    cancel: (): void => {
      cancelled = true;
      attempt.abort();
    },
    cancelled: () => cancelled,
    /** The load's span, from its start on. */
    span: undefined as Span | undefined,
  };
}
