import { createBoundedMap } from '../cache/bounded-map.ts';
import type { Entry } from '../cache/entry.ts';
import { freshnessOf, remainingMs } from '../cache/freshness.ts';
import type { Clock } from '../clock.ts';
import type { PreparedSearch } from './answer.ts';

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
