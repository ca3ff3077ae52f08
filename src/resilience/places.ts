import { PRIORITIES, type Priority } from './priority.ts';

/** Counts the calls that run, by priority, and measures how long they stay. */
export interface Places {
  readonly inFlight: () => number;
  readonly max: () => number;
  /** How many more of this priority may start now. */
  readonly room: (priority: Priority) => number;
  /** Idempotent release. */
  readonly take: (priority: Priority) => () => void;
  /**
   * Until `waiting` more calls would all have started and the last of them ended, at the mean duration of calls. The calls
   * under way tell of an engine that has become slower before the first of them is back.
   */
  readonly answeredMs: (waiting: number) => number;
}

export interface PlacesOptions {
  /** A call's duration until the first has ended. */
  readonly guessMs: number;
  /** May change at any time; less than 1 counts as 1. */
  readonly max: () => number;
  readonly monotonicMs: () => number;
  readonly onRelease: () => void;
}

/** The part of all places that a priority and everything less urgent may hold together: people always find most of them. */
const SHARE: Readonly<Record<Priority, number>> = { people: 1, refresh: 1 / 2, 'warm-up': 1 / 4, shadow: 1 / 4 };
/** Duration of a call ÷ mean age of the calls under way: 1 just before they end together, 2 when they began in turn. */
const AGE_FACTOR = 1.5;
/** Weight of the newest stay in the mean of all. */
const STAY_WEIGHT = 0.1;

export function createPlaces(options: PlacesOptions): Places {
  const { monotonicMs, onRelease } = options;
  const held: Record<Priority, number> = { people: 0, refresh: 0, 'warm-up': 0, shadow: 0 };
  let inFlight = 0;
  /** Sum over the calls that run. */
  let sumOfStartsMs = 0;
  let meanStayMs: number | undefined;
  const callMs = (): number => Math.max(meanStayMs ?? options.guessMs, AGE_FACTOR * meanAgeMs());

  const max = (): number => {
    const asked = options.max();
    return asked >= 1 ? Math.floor(asked) : 1;
  };

  const room = (priority: Priority): number => {
    const places = max();
    let left = places - inFlight;
    let heldFromHere = inFlight;
    for (const each of PRIORITIES) {
      left = Math.min(left, Math.max(1, Math.floor(places * SHARE[each])) - heldFromHere);
      heldFromHere -= held[each];
      if (each === priority) break;
    }
    return Math.max(0, left);
  };

  /** Calls that run longer than the mean show that an engine has just become slow, before the first of them is back. */
  const meanAgeMs = (): number => (inFlight === 0 ? 0 : monotonicMs() - sumOfStartsMs / inFlight);

  return {
    inFlight: () => inFlight,
    max,
    room,
    take: (priority) => {
      const startedAtMs = monotonicMs();
      held[priority] += 1;
      inFlight += 1;
      sumOfStartsMs += startedAtMs;
      let holds = true;
      return () => {
        if (!holds) return;
        holds = false;
        held[priority] -= 1;
        inFlight -= 1;
        // Sums of fractions keep a rounding error: none outlives a moment without calls.
        sumOfStartsMs = inFlight === 0 ? 0 : sumOfStartsMs - startedAtMs;
        const stayMs = monotonicMs() - startedAtMs;
        meanStayMs = meanStayMs === undefined ? stayMs : meanStayMs + STAY_WEIGHT * (stayMs - meanStayMs);
        onRelease();
      };
    },
    answeredMs: (waiting) => callMs() * (1 + waiting / max()),
  };
}
