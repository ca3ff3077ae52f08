import { type Entry, remainingMs } from '../cache/entry.ts';
import type { MissReason } from '../cache/events.ts';
import type { Lookup, Tiers } from '../cache/tiers.ts';
import { SearchError } from '../resilience/search-error.ts';
import type { Clock, Done } from '../runtime.ts';
import type { SearchRequest } from './domain.ts';
import type { AnswerOutcome } from './events.ts';
import type { PreparedSearch } from './key.ts';
import { factsOfLookup, faultOf, type Span } from './trace.ts';

/** A page, its source, and what each tier did for it. */
export interface Answer {
  readonly entry: Entry;
  readonly outcome: AnswerOutcome;
  /** Time until the entry stops being fresh; negative while it is served stale. */
  readonly remainingMs: number;
  readonly l1: TierStatus;
  /** Absent where the domain has no store, or L1 answered. */
  readonly l2?: TierStatus;
  /** Why the tiers missed (`missReason`); absent when a tier answered without a load. */
  readonly reason?: MissReason;
  /** Duration of each part that ran, for Server-Timing. */
  readonly timings: { readonly l2Ms?: number; readonly engineMs?: number };
}

/** The part of one tier in an answer, in the terms of RFC 9211. */
export type TierStatus =
  | { readonly kind: 'hit' }
  | {
      readonly kind: 'forward';
      readonly why: 'uri-miss' | 'stale' | 'bypass';
      /** The HTTP status of a forwarded request that failed; the tier then served a stale entry. */
      readonly forwardStatus?: 429 | 502 | 503 | 504;
      readonly stored?: boolean;
      readonly collapsed?: boolean;
      readonly detail?: MissReason | 'lifeboat';
    };

/** The results of the lookups in both tiers. */
export interface Lookups {
  readonly l1: Lookup;
  /** Absent where the domain has no store. */
  readonly l2?: Lookup;
  /** Duration of the L2 read. */
  readonly l2Ms?: number;
}

/** Maximum number of searches in one batch. */
export const MAX_BATCH = 50;

/** The part of a search that belongs to its client, not to its key. Members are called as methods. */
export interface SearchClient {
  /** Called once for each search that L1 does not answer. False: the process has no room; refused with `busy`. */
  admit?(prepared: PreparedSearch): boolean;
  /**
   * Called when an engine would have to be asked for this client; false refuses with `over-budget`, unless a stale entry
   * may be served. Hits, stale entries and joins of running loads are free. Absent: the misses are not limited.
   */
  mayMiss?(prepared: PreparedSearch): boolean;
  /** Called once at the end of each admitted search, before its answer is delivered. */
  settle?(prepared: PreparedSearch, result: unknown): void;
  /** For an operator: asks the engine whatever the tiers hold, and overwrites both. */
  readonly bypass?: boolean;
  /** The span above the stages of this search; absent where it is not traced. */
  readonly span?: Span | undefined;
}

/** Answers a search that neither tier could answer. @param deadlineAtMs monotonic: the client leaves then. @throws SearchError */
export type AnswerMiss = (
  prepared: PreparedSearch,
  lookups: Lookups,
  client: SearchClient,
  deadlineAtMs: number,
) => Promise<Answer>;

export type ReadPath = ReturnType<typeof createReadPath>;

interface ReadPathOptions {
  readonly tiers: Tiers<SearchRequest>;
  readonly missPath: { readonly answer: AnswerMiss };
  /** While true, an entry of the stale-if-error window is served at once, as if the engine had failed already. */
  readonly engineTroubled: () => boolean;
  readonly refreshStale: (prepared: PreparedSearch, readStore: boolean) => void;
  /** Called for every fresh hit, in the same turn: it must cost next to nothing. */
  readonly auditHit?: ((prepared: PreparedSearch, entry: Entry) => void) | undefined;
  /** The store node of a name, for spans; undefined where there is no store. */
  readonly nodeOf: (storeName: string) => string | undefined;
  /** Called for every search that is not refused at once: it measures the popularity of queries. */
  readonly note: (key: string, prepared: PreparedSearch) => void;
  /**
   * Maximum number of searches of one batch that are on the miss path at once: the number of permits, so that a batch
   * does not overload an idle engine.
   */
  readonly batchConcurrency: () => number;
  /** The maximum time a client waits in all, from the L1 lookup on. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

/** One error for all: its stack trace says nothing, and would cost more than the rest of a refusal. */
const BUSY = new SearchError('busy');

/** The searches of one domain. Every search ends in one Answer or one error, a SearchError unless it is a bug. */
export function createReadPath(options: ReadPathOptions) {
  const { tiers, missPath, engineTroubled, refreshStale, auditHit, nodeOf, note, patienceMs, clock } = options;

  /**
   * True for an entry that may be served without a load. The stale window is short while the engine is healthy, and long
   * while it is not.
   */
  const isServable = (lookup: Lookup): lookup is Extract<Lookup, { kind: 'found' }> =>
    lookup.kind === 'found' && (lookup.freshness !== 'stale-if-error' || engineTroubled());

  /** The answer of L1: a stale entry is served, and refreshed in the background. Undefined: none may be served as it is. */
  const fromL1 = (prepared: PreparedSearch, l1: Lookup): Answer | undefined => {
    if (!isServable(l1)) return undefined;
    const nowMs = clock.monotonicMs();
    if (l1.freshness === 'fresh') {
      auditHit?.(prepared, l1.entry);
      return answerOf(l1.entry, 'hit-l1', nowMs, L1_HIT);
    }
    refreshStale(prepared, true);
    return answerOf(l1.entry, 'stale', nowMs, L1_HIT);
  };

  /** The answer of L2, as that of L1. */
  const fromL2 = (prepared: PreparedSearch, { l1, l2, l2Ms }: Lookups): Answer | undefined => {
    if (l2 === undefined || !isServable(l2)) return undefined;
    const status = { l1: forwarded(l1), l2: HIT };
    const timings = l2Ms === undefined ? NO_TIMINGS : { l2Ms };
    const nowMs = clock.monotonicMs();
    if (l2.freshness === 'fresh') {
      auditHit?.(prepared, l2.entry);
      return answerOf(l2.entry, 'hit-l2', nowMs, status, timings);
    }
    // The store has just given this entry: a refresh need not read it again.
    refreshStale(prepared, false);
    return answerOf(l2.entry, 'stale', nowMs, status, timings);
  };

  const lookInMemory = (prepared: PreparedSearch, { span, bypass }: SearchClient): Lookup => {
    if (bypass === true) return BYPASSED;
    const own = span?.begin('l1');
    const lookup = tiers.fromMemory(prepared);
    own?.end(factsOfLookup(lookup));
    return lookup;
  };

  /** The answer of L1, the refusal, or undefined: the search goes on. */
  const answerNear = (prepared: PreparedSearch, l1: Lookup, client: SearchClient): Answer | Error | undefined => {
    const near = fromL1(prepared, l1);
    if (near === undefined && client.admit?.(prepared) === false) return BUSY;
    if (client.bypass !== true) note(prepared.key, prepared);
    return near;
  };

  /**
   * L1 again: while the store was read, or a batch waited for its turn, another request may have filled it. Nothing is
   * awaited between this lookup and the join of the load, so no page can arrive in between: either it is in L1 already, or
   * its load is still running and is joined.
   */
  const missed: AnswerMiss = async (prepared, lookups, client, deadlineAtMs) => {
    const near = client.bypass === true ? undefined : fromL1(prepared, tiers.fromMemory(prepared));
    return near ?? missPath.answer(prepared, lookups, client, deadlineAtMs);
  };

  const searchFar = (prepared: PreparedSearch, l1: Lookup, client: SearchClient, done: Done<Answer>): void => {
    const startedMs = clock.monotonicMs();
    const miss = (lookups: Lookups): void =>
      void missed(prepared, lookups, client, startedMs + patienceMs).then((answer) => done(undefined, answer), done);
    if (!tiers.hasStore || client.bypass === true) {
      miss(tiers.hasStore ? { l1, l2: BYPASSED } : { l1 });
      return;
    }
    const own = client.span?.begin('l2');
    tiers.fromStore(prepared, (failure, l2) => {
      own?.end(l2 && factsOfLookup(l2, nodeOf(prepared.storeName)), l2 === undefined ? faultOf(failure) : undefined);
      if (l2 === undefined) {
        done(failure);
        return;
      }
      const lookups = { l1, l2, l2Ms: clock.monotonicMs() - startedMs };
      const found = fromL2(prepared, lookups);
      if (found === undefined) miss(lookups);
      else done(undefined, found);
    });
  };

  /** One L2 read for each distinct key that L1 could not answer. */
  const readL2 = async (
    wanted: readonly PreparedSearch[],
    span: Span | undefined,
  ): Promise<ReadonlyMap<string, Lookup>> => {
    const distinct = [...new Map(wanted.map((prepared) => [prepared.key, prepared])).values()];
    const own = span?.begin('l2');
    const lookups = await tiers.fromStoreMany(distinct);
    own?.end({ 'serpcache.keys': distinct.length, 'serpcache.found': lookups.filter(isFound).length });
    return new Map(distinct.map(({ key }, i) => [key, lookups[i] ?? UNSEEN]));
  };

  return {
    /**
     * L1 → admission → L2 → the miss path; a fresh or servable stale entry ends the search at its tier. `done` is called once
     * and must not throw: for an entry of L1 before this returns, at the latest within the domain's patience plus the
     * lifeboat's deadline where there is one.
     */
    search: (prepared: PreparedSearch, client: SearchClient, done: Done<Answer>): void => {
      let end = done;
      try {
        const l1 = lookInMemory(prepared, client);
        const near = answerNear(prepared, l1, client);
        if (near === undefined) {
          end = (error, answer) => {
            client.settle?.(prepared, answer ?? error);
            done(error, answer);
          };
          searchFar(prepared, l1, client, end);
        } else if (near instanceof Error) done(near);
        else done(undefined, near);
      } catch (error) {
        end(error);
      }
    },

    /** Results in order; each search fails alone. L2 is read in per-node pipelines; misses share the loads of single searches. */
    searchMany: async (many: readonly PreparedSearch[], client: SearchClient): Promise<readonly (Answer | Error)[]> => {
      const startedMs = clock.monotonicMs();
      /** The admitted searches that are not settled yet. */
      const open = new Set<{ readonly prepared: PreparedSearch; readonly l1: Lookup }>();
      try {
        const found = many.map((prepared) => {
          const search = { prepared, l1: lookInMemory(prepared, client) };
          const near = answerNear(prepared, search.l1, client);
          if (near === undefined) open.add(search);
          return near ?? search;
        });
        const wanted = Array.from(open, ({ prepared }) => prepared);
        const l2Of = tiers.hasStore && wanted.length > 0 ? await readL2(wanted, client.span) : undefined;
        const l2Ms = clock.monotonicMs() - startedMs;
        const deadlineAtMs = startedMs + patienceMs;

        // The cached pages of the batch do not wait for the pages that must be computed, and are not refused because of them.
        const tasks = found.map((search) => {
          if (!('prepared' in search)) return () => search;
          const { prepared, l1 } = search;
          const lookups = l2Of === undefined ? { l1 } : { l1, l2: l2Of.get(prepared.key) ?? UNSEEN, l2Ms };
          const stored = fromL2(prepared, lookups);
          return async () => {
            const result = await (stored ?? missed(prepared, lookups, client, deadlineAtMs).catch(errorOf));
            if (open.delete(search)) client.settle?.(prepared, result);
            return result;
          };
        });
        return await runConcurrently(tasks, options.batchConcurrency());
      } finally {
        // Only a fault of this process leaves searches open here. They give their places back, so that others can be admitted.
        for (const { prepared } of open) client.settle?.(prepared, undefined);
        open.clear();
      }
    },
  };
}

function isFound({ kind }: Lookup): boolean {
  return kind === 'found';
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

const UNSEEN: Lookup = { kind: 'missed', reason: 'unseen' };
const BYPASSED: Lookup = { kind: 'missed', reason: 'bypass' };

/** Runs tasks in order, at most `maxAtOnce` at a time. @returns their results in order @throws what a task throws */
export async function runConcurrently<T>(
  tasks: readonly (() => T | Promise<T>)[],
  maxAtOnce: number,
): Promise<readonly T[]> {
  const results: T[] = [];
  const queue = tasks.entries();
  const worker = async (): Promise<void> => {
    for (const [i, task] of queue) results[i] = await task();
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, tasks.length) }, worker));
  return results;
}

const NO_TIMINGS: Answer['timings'] = {};

export function answerOf(
  entry: Entry,
  outcome: Answer['outcome'],
  monotonicMs: number,
  status: Pick<Answer, 'l1' | 'l2' | 'reason'>,
  timings = NO_TIMINGS,
): Answer {
  const leftMs = remainingMs(entry, monotonicMs);
  // An entry that operators declared outdated is served as stale whatever its age: it has no fresh lifetime left.
  return { entry, outcome, remainingMs: outcome === 'stale' ? Math.min(leftMs, -1) : leftMs, ...status, timings };
}

export const HIT: TierStatus = { kind: 'hit' };
const L1_HIT = { l1: HIT };

type Forward = Extract<TierStatus, { kind: 'forward' }>;

/** The status of a tier that had no servable entry. */
export function forwarded(lookup: Lookup, extra: Partial<Forward> = {}): TierStatus {
  return { kind: 'forward', why: whyForwarded(lookup), ...extra };
}

/** RFC 9211 §2.2: `stale` when the tier had an entry that could not be used as it was, `uri-miss` when it had none. */
function whyForwarded(lookup: Lookup): Forward['why'] {
  if (lookup.kind === 'found') return 'stale';
  switch (lookup.reason) {
    case 'bypass':
      return 'bypass';
    case 'expired':
    case 'flushed':
    case 'suppressed':
    case 'deleted':
      return 'stale';
    default:
      return 'uri-miss';
  }
}

/**
 * Why both tiers missed: the first of MISS_REASONS that holds. The reason of L2 is the more precise one. When L2 only
 * says `unseen`, or there is no store, the reason of L1 counts.
 */
export function missReason({ l1, l2 }: Lookups, wasNotStorable: boolean): MissReason {
  const fromL2 = l2 === undefined ? 'unseen' : reasonIn(l2);
  const known = fromL2 === 'unseen' ? reasonIn(l1) : fromL2;
  return known === 'unseen' && wasNotStorable ? 'not-storable' : known;
}

/** An entry that may only be served when the engine fails counts as expired, or as changed. */
function reasonIn(lookup: Lookup): MissReason {
  return lookup.reason ?? 'expired';
}
