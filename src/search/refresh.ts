import { type Entry, freshnessOf, remainingMs } from '../cache/entry.ts';
import type { Tiers } from '../cache/tiers.ts';
import { SearchError } from '../resilience/search-error.ts';
import { type Clock, createBoundedMap } from '../runtime.ts';
import type { SearchRequest } from './domain.ts';
import type { SearchEvent } from './events.ts';
import type { PreparedSearch } from './key.ts';
import type { Loader } from './load.ts';

interface RefreshOptions {
  readonly domain: string;
  readonly loader: Pick<Loader, 'refresh'>;
  readonly hasStore: boolean;
  /** Number of times that the engine has recovered. Each recovery ends all pauses before it. */
  readonly revivals: () => number;
  readonly clock: Clock;
  readonly observe: (event: SearchEvent) => void;
}

/** After a refresh that changed nothing: one attempt per second and key, not one per request. */
const REFRESH_PAUSE_MS = 1000;
const REMEMBERED_PAUSES = 1024;

/** Loads a page in the background while the one at hand is served. Never rejects, never waits. */
export function createRefresh({ domain, loader, hasStore, revivals, clock, observe }: RefreshOptions) {
  const pauses = createBoundedMap<{ readonly untilMs: number; readonly revivals: number }>(REMEMBERED_PAUSES);
  const isPaused = (key: string): boolean => {
    const pause = pauses.get(key);
    return pause !== undefined && pause.untilMs > clock.monotonicMs() && pause.revivals === revivals();
  };

  const refresh = (prepared: PreparedSearch, readStore: boolean, newerThanMs: number): void => {
    if (isPaused(prepared.key)) return;
    // When the engine recovers during a refresh that then fails, the key is not paused.
    const revivalsAtStart = revivals();
    const { result, leads } = loader.refresh(prepared, { priority: 'refresh', readStore, newerThanMs });
    if (!leads) return;
    const pause = (): void =>
      pauses.set(prepared.key, { untilMs: clock.monotonicMs() + REFRESH_PAUSE_MS, revivals: revivalsAtStart });
    result.then(
      ({ from, stored }) => {
        // A partial page or one that is too large has not replaced the stale one: the next request would load again.
        if (!stored.l1) pause();
        observe({ kind: 'refresh', domain, result: from === 'engine' ? 'from-engine' : 'from-store' });
      },
      (error: unknown) => {
        pause();
        if (!(error instanceof SearchError)) return;
        const { reason, code } = error;
        observe({ kind: 'refresh', domain, result: reason === 'leased' ? reason : code });
      },
    );
  };

  return {
    /** For an entry that is no longer fresh. @param readStore false when the store itself has just given the entry. */
    stale: (prepared: PreparedSearch, readStore: boolean): void => refresh(prepared, hasStore && readStore, 0),
    /** For an entry that is still fresh: only a newer page is wanted. */
    ahead: (prepared: PreparedSearch, { createdAtMs }: Pick<Entry, 'createdAtMs'>): void =>
      refresh(prepared, hasStore, createdAtMs),
  };
}

interface RefreshAheadOptions {
  /** The `n` most popular searches, most popular first. */
  readonly popular: (n: number) => readonly PopularSearch[];
  /** The entry in L1, if it may be served; `outdated` by a flush. The lookup does not count as a use. */
  readonly peek: (prepared: PreparedSearch) => { readonly entry: Entry; readonly outdated: boolean } | undefined;
  /** Starts a refresh and returns at once. It skips one that is running or has just failed. */
  readonly refresh: (prepared: PreparedSearch, entry: Entry) => void;
  /** Permits that no client needs now. */
  readonly spare: () => number;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Time between two ticks. */
const AHEAD_INTERVAL_MS = 250;
/** Maximum number of queries that one tick checks. */
const MAX_CHECKED = 200;

/** An entry is due when this part of its fresh lifetime or less is left. */
const LAST_PART = 0.2;
/** Minimum of the certain part of the count (`count − error`): a query below it is not refreshed. */
const MIN_COUNT = 2;
/** The time after which a refresh that has not made the entry fresh is tried again. */
const AGAIN_AFTER_MS = 3000;

export interface PopularSearch {
  readonly item: PreparedSearch;
  /** Decayed. */
  readonly count: number;
  /** The part of the count that may belong to another query. */
  readonly error: number;
}

/**
 * Refreshes popular pages before a client has to get a stale one or wait, with the permits that no client needs. In the
 * result cache of a large search engine freshness, not eviction, was the problem, and age × frequency was the best
 * order of refreshes (Cambazoglu et al., WWW 2010).
 */
export function createRefreshAhead(options: RefreshAheadOptions) {
  const { clock, random } = options;
  const triedAtMs = createBoundedMap<number>(2 * MAX_CHECKED);

  const dueOf = ({ item, count, error }: PopularSearch, nowMs: number) => {
    const certain = count - error;
    if (certain < MIN_COUNT) return undefined;
    const held = options.peek(item);
    if (held === undefined) return undefined;
    const { entry, outdated } = held;
    if (!outdated && remainingMs(entry, nowMs) > LAST_PART * entry.freshForMs) return undefined;
    if (freshnessOf(entry, nowMs) === 'expired') return undefined;
    if (nowMs - (triedAtMs.get(item.key) ?? Number.NEGATIVE_INFINITY) < AGAIN_AFTER_MS) return undefined;
    return { prepared: item, entry, priority: certain * (nowMs - entry.bornMs) };
  };

  const refreshDue = (): void => {
    const spare = Math.floor(options.spare());
    if (spare <= 0) return;
    const nowMs = clock.monotonicMs();
    const due = options.popular(MAX_CHECKED).flatMap((popular) => dueOf(popular, nowMs) ?? []);
    due.sort((one, other) => other.priority - one.priority);
    for (const { prepared, entry } of due.slice(0, spare)) {
      triedAtMs.set(prepared.key, nowMs);
      options.refresh(prepared, entry);
    }
  };

  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    // Spread by ±20 %, so that the processes of a fleet do not all find a page due at the same moment.
    timer = setTimeout(tick, AHEAD_INTERVAL_MS * (0.8 + 0.4 * random())).unref();
  };
  const tick = (): void => {
    refreshDue();
    schedule();
  };
  schedule();

  return { close: () => clearTimeout(timer) };
}

/**
 * One search of a warm-up. Its priority is below clients and refreshes, and it loads only a page that is not fresh in
 * the cache.
 * @throws SearchError when the engine has no permit to spare, or fails
 */
export type Warmer = (prepared: PreparedSearch) => Promise<'cached' | 'computed'>;

export function createWarmer(tiers: Tiers<SearchRequest>, loader: Pick<Loader, 'refresh'>): Warmer {
  return async (prepared) => {
    const l1 = tiers.fromMemory(prepared);
    if (l1.kind === 'found' && l1.freshness === 'fresh') return 'cached';
    const options = { priority: 'warm-up', readStore: tiers.hasStore, newerThanMs: 0 } as const;
    const { from } = await loader.refresh(prepared, options).result;
    return from === 'engine' ? 'computed' : 'cached';
  };
}
