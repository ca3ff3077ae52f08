import { createBoundedMap } from '../cache/bounded-map.ts';
import type { Entry } from '../cache/entry.ts';
import type { Clock } from '../clock.ts';
import { Shed } from '../resilience/guard.ts';
import type { PreparedSearch } from './answer.ts';
import type { SearchEvent } from './events.ts';
import { Unanswered } from './failure.ts';
import type { MissPath } from './flight.ts';
import { toUnanswered } from './unanswered.ts';

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
