import { createBoundedMap } from '../cache/bounded-map.ts';
import type { Entry } from '../cache/entry.ts';
import { freshnessOf, remainingMs } from '../cache/freshness.ts';
import type { Tiers } from '../cache/tiers.ts';
import { Shed } from '../resilience/admission.ts';
import type { Clock } from '../runtime.ts';
import type { SearchEvent } from './events.ts';
import type { MissPath } from './load.ts';
import type { PreparedSearch } from './read-path.ts';
import { toUnanswered, Unanswered } from './search-error.ts';

/** Computes a page anew behind the back of whoever is served the one at hand. Never rejects, never waits. */
export interface Refresh {
  /** Of an entry that is not fresh any more. `askStore`: unless the store itself has just given it. */
  readonly stale: (prepared: PreparedSearch, askStore: boolean) => void;
  /** Of one that is still fresh: only a newer page will do. */
  readonly ahead: (prepared: PreparedSearch, entry: Pick<Entry, 'createdAtMs'>) => void;
}

export interface RefreshOptions {
  readonly domain: string;
  readonly missPath: Pick<MissPath, 'flyBehind'>;
  readonly deadlineMs: number;
  readonly hasStore: boolean;
  readonly breakerRetryAfterMs: () => number;
  /** How many times the engine has come back. A pause from before the last time is over. */
  readonly revivals: () => number;
  readonly clock: Clock;
  readonly observe: (event: SearchEvent) => void;
}

/** After a refresh that changed nothing the stale entry is left alone so long: one attempt a second, not one a request. */
const REFRESH_PAUSE_MS = 1000;
const REMEMBERED_PAUSES = 1024;

export function createRefresh(options: RefreshOptions): Refresh {
  const { domain, missPath, hasStore, revivals, clock, observe } = options;
  const pauses = createBoundedMap<{ readonly untilMs: number; readonly revivals: number }>(REMEMBERED_PAUSES);
  const isPaused = (key: string): boolean => {
    const pause = pauses.get(key);
    return pause !== undefined && pause.untilMs > clock.monotonicMs() && pause.revivals === revivals();
  };

  const fly = (prepared: PreparedSearch, askStore: boolean, newerThanMs: number): void => {
    if (isPaused(prepared.key)) return;
    const deadlineAtMs = clock.monotonicMs() + options.deadlineMs;
    const begunAfter = revivals();
    const { result, leads } = missPath.flyBehind(prepared, {
      priority: 'refresh',
      deadlineAtMs,
      askStore,
      newerThanMs,
    });
    if (!leads) return;
    const pause = (): void =>
      pauses.set(prepared.key, { untilMs: clock.monotonicMs() + REFRESH_PAUSE_MS, revivals: begunAfter });
    result.then(
      ({ from, stored }) => {
        // A partial page or one too large has not taken the stale one's place: the next request would ask again.
        if (!stored.l1) pause();
        observe({ kind: 'refresh', domain, result: from === 'engine' ? 'from-engine' : 'from-store' });
      },
      (error: unknown) => {
        pause();
        if (error instanceof Shed && error.why === 'leased') {
          observe({ kind: 'refresh', domain, result: 'leased' });
          return;
        }
        const failure = toUnanswered(error, options.breakerRetryAfterMs());
        if (failure instanceof Unanswered) observe({ kind: 'refresh', domain, result: failure.code });
      },
    );
  };

  return {
    stale: (prepared, askStore) => fly(prepared, hasStore && askStore, 0),
    ahead: (prepared, entry) => fly(prepared, hasStore, entry.createdAtMs),
  };
}

/**
 * Computes popular pages anew before anybody has to be served a stale one, or wait, with what the engine has to spare:
 * nothing while people want its places. Of a large search engine's result cache it was freshness, not eviction, that was
 * the problem, and age × frequency the order that paid (Cambazoglu et al., WWW 2010).
 */
export interface RefreshAhead {
  readonly close: () => void;
}

export interface RefreshAheadOptions {
  /** The most asked, most first. */
  readonly popular: () => readonly PopularSearch[];
  /** What L1 holds and may serve, without counting as a use. */
  readonly peek: (
    prepared: PreparedSearch,
  ) => { readonly entry: Entry /** Fresh by age, stale by decision. */; readonly outdated: boolean } | undefined;
  /** Starts it and returns at once. May do nothing: one that is under way, or has just failed, is the callee's business. */
  readonly refresh: (prepared: PreparedSearch, entry: Entry) => void;
  /** Places of the engine that nobody wants now. */
  readonly spare: () => number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly intervalMs?: number;
  /** Queries looked at in one tick; more popular ones come first. */
  readonly maxLookedAt?: number;
  /** An entry is due once this part of its fresh life is left. */
  readonly lastPart?: number;
  /** What certainly was asked less often of late is left to whoever asks for it. */
  readonly minCount?: number;
  /** A refresh that has not made the entry fresh after so long is tried again. */
  readonly againAfterMs?: number;
}

export interface PopularSearch {
  readonly item: PreparedSearch;
  /** Decayed. */
  readonly count: number;
  /** Of the count, what may be another query's. */
  readonly error: number;
}

interface Due {
  readonly prepared: PreparedSearch;
  readonly entry: Entry;
  readonly priority: number;
}

export function createRefreshAhead(options: RefreshAheadOptions): RefreshAhead {
  const { clock, random, intervalMs = 250, maxLookedAt = 500, minCount = 2, againAfterMs = 3000 } = options;
  const { lastPart = 0.2 } = options;
  const triedAtMs = createBoundedMap<number>(2 * maxLookedAt);

  const dueOf = ({ item, count, error }: PopularSearch, nowMs: number): Due | undefined => {
    const asked = count - error;
    if (asked < minCount) return undefined;
    const held = options.peek(item);
    if (held === undefined) return undefined;
    const { entry, outdated } = held;
    if (!outdated && remainingMs(entry, nowMs) > lastPart * entry.freshForMs) return undefined;
    if (freshnessOf(entry, nowMs) === 'lapsed') return undefined;
    if (nowMs - (triedAtMs.get(item.key) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return undefined;
    return { prepared: item, entry, priority: asked * (nowMs - entry.bornMs) };
  };

  const refreshDue = (): void => {
    const places = Math.floor(options.spare());
    if (places <= 0) return;
    const nowMs = clock.monotonicMs();
    const due: Due[] = [];
    for (const popular of options.popular().slice(0, maxLookedAt)) {
      const one = dueOf(popular, nowMs);
      if (one !== undefined) due.push(one);
    }
    due.sort((one, other) => other.priority - one.priority);
    for (const { prepared, entry } of due.slice(0, places)) {
      triedAtMs.set(prepared.key, nowMs);
      options.refresh(prepared, entry);
    }
  };

  let timer: NodeJS.Timeout;
  const tick = (): void => {
    refreshDue();
    rest();
  };
  const rest = (): void => {
    // Spread by ±20 %, so that the processes of a fleet do not all find a page due in the same moment.
    timer = setTimeout(tick, intervalMs * (0.8 + 0.4 * random())).unref();
  };
  rest();

  return { close: () => clearTimeout(timer) };
}

/**
 * One search of a warm-up: after people and refreshes, and only for what is not fresh in the cache already. Rejects when
 * the engine has nothing to spare, or fails.
 */
export type Warmer = (prepared: PreparedSearch) => Promise<'cached' | 'computed'>;

export interface WarmerOptions {
  readonly tiers: Tiers;
  readonly missPath: MissPath;
  /** The engine's: how long it may wait for a place. */
  readonly deadlineMs: number;
  readonly clock: Clock;
}

export function createWarmer({ tiers, missPath, deadlineMs, clock }: WarmerOptions): Warmer {
  return async (prepared) => {
    const held = tiers.fromMemory(prepared);
    if (held.kind === 'found' && held.freshness === 'fresh') return 'cached';
    const { result } = missPath.flyBehind(prepared, {
      priority: 'warm-up',
      deadlineAtMs: clock.monotonicMs() + deadlineMs,
      askStore: tiers.hasStore,
      newerThanMs: 0,
    });
    const { from } = await result;
    return from === 'engine' ? 'computed' : 'cached';
  };
}
