import type { Clock } from '../clock.ts';

/** When the next query may be begun: never faster than the rate, and not at all for a while after the engine refused. */
export interface Pace {
  /** Whether one may begin now; then it is counted. */
  readonly pass: () => boolean;
  /** It was in the cache: the engine has not been asked, and most of its turn is given back. */
  readonly refund: () => void;
  /** It was computed: the engine is well. */
  readonly succeeded: () => void;
  /** It was shed, or failed. */
  readonly refused: () => void;
  /** Until one may begin, as far as it is known now; 0: at once. */
  readonly waitMs: () => number;
  /** Held up by refusals. */
  readonly isPausing: () => boolean;
  /** Refused since the last that was computed: one at a time is enough to find out when it is well again. */
  readonly isProbing: () => boolean;
}

/** What may begin at once after a quiet time, as a share of a second's. */
const BURST_SECONDS = 0.05;
/** Finding a page in the cache costs a look at the store, so it is no faster than ten times the rate. */
const CACHED_COST = 0.1;
/** Doubles with each refusal in a row. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8000;

export function createPace(maxPerSecond: number, clock: Pick<Clock, 'monotonicMs'>): Pace {
  const most = Math.max(1, maxPerSecond * BURST_SECONDS);
  let turns = 1;
  let filledMs = clock.monotonicMs();
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let pauseMs = FIRST_PAUSE_MS;

  const fill = (): void => {
    const nowMs = clock.monotonicMs();
    turns = Math.min(most, turns + ((nowMs - filledMs) * maxPerSecond) / 1000);
    filledMs = nowMs;
  };
  const isPausing = (): boolean => clock.monotonicMs() < pausedUntilMs;

  return {
    isPausing,
    isProbing: () => pauseMs > FIRST_PAUSE_MS,
    pass: () => {
      fill();
      if (turns < 1 || isPausing()) return false;
      turns -= 1;
      return true;
    },
    refund: () => {
      turns = Math.min(most, turns + 1 - CACHED_COST);
    },
    succeeded: () => {
      pauseMs = FIRST_PAUSE_MS;
    },
    refused: () => {
      // Several that were under way together are one refusal.
      if (isPausing()) return;
      pausedUntilMs = clock.monotonicMs() + pauseMs;
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    },
    waitMs: () => {
      fill();
      const turnMs = ((1 - turns) * 1000) / maxPerSecond;
      return Math.max(0, turnMs, pausedUntilMs - clock.monotonicMs());
    },
  };
}
