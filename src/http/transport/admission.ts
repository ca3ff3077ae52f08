import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../runtime.ts';
import type { Answer } from '../../search/answer.ts';
import type { PreparedSearch } from '../../search/key.ts';
import type { Search } from '../../search/search.ts';
import { SearchError } from '../../search/search-error.ts';
import type { MissBudget } from './client.ts';
import { type Problem, Refusal } from './problem.ts';

/** What stands between a request that memory cannot answer and the core: room for it, and its client's budget. */
export interface Door {
  /** @throws Refusal `busy`, and what `Search.search` throws. */
  readonly search: (asked: AskedSearch) => Promise<Answer>;
  /**
   * To be asked before a page is drawn, from memory too: a page costs several times as much as a hit of `/search`, so while
   * the event loop is late it is shed. With every place taken and the loop in time, pages in memory are drawn.
   * @throws Refusal `busy`.
   */
  readonly admitPage: () => void;
  /** Answers in order, from memory first; each other search takes its own place, and one that gets none costs the others nothing. */
  readonly searchMany: (
    many: readonly PreparedSearch[],
    request: IncomingMessage,
  ) => Promise<readonly (Answer | Error)[]>;
}

export interface AskedSearch {
  readonly prepared: PreparedSearch;
  readonly request: IncomingMessage;
  readonly bypass?: boolean;
}

export interface DoorOptions {
  readonly search: Search;
  /** Absent: nothing is shed here. */
  readonly pressure?: Pressure;
  /** Absent: clients may miss as they like. */
  readonly budget?: { readonly misses: MissBudget; readonly clientOf: (request: IncomingMessage) => string };
}

export function createDoor({ search, pressure, budget }: DoorOptions): Door {
  // One for all: where it was thrown says nothing, and to find out costs more than the rest of a refusal.
  const busy = new Refusal(BUSY);
  const enter = (): boolean => pressure === undefined || pressure.enter();

  const askMany = async (
    inside: readonly PreparedSearch[],
    request: IncomingMessage,
  ): Promise<readonly (Answer | Error)[]> => {
    if (inside.length === 0) return [];
    const tab = budget === undefined ? undefined : openTab(budget, request);
    try {
      const results = await search.searchMany(inside, tab === undefined ? undefined : { mayMiss: tab.mayMiss });
      inside.forEach((prepared, i) => {
        tab?.settle(prepared, results[i]);
      });
      return results;
    } finally {
      for (const _ of inside) pressure?.leave();
    }
  };

  return {
    search: async ({ prepared, request, bypass }) => {
      if (!enter()) throw busy;
      const tab = budget === undefined ? undefined : openTab(budget, request);
      try {
        const answer = await search.search(prepared, {
          ...(bypass ? { bypass } : {}),
          ...(tab === undefined ? {} : { mayMiss: tab.mayMiss }),
        });
        tab?.settle(prepared, answer);
        return answer;
      } catch (error) {
        tab?.settle(prepared, error);
        throw error;
      } finally {
        pressure?.leave();
      }
    },
    admitPage: () => {
      if (pressure?.isLate() === true) throw busy;
    },
    searchMany: async (many, request) => {
      const near = many.map((prepared) => search.fromMemory(prepared));
      const admitted = near.map((answer) => answer === undefined && enter());
      const inside = many.filter((_, i) => admitted[i]);
      const answered = (await askMany(inside, request)).values();
      return near.map((answer, i): Answer | Error => {
        if (answer !== undefined) return answer;
        if (!admitted[i]) return busy;
        return answered.next().value ?? new Error('searchMany gave fewer answers than it was asked for');
      });
    },
  };
}

/**
 * What one request spends. The client is named at once: a connection that is gone by the time of a miss has no address.
 * A miss that the guard turned away, or that was answered without the engine, is given back. Otherwise an engine's bad minute would be followed by one in which its
 * clients are refused for what they never got.
 */
function openTab({ misses, clientOf }: NonNullable<DoorOptions['budget']>, request: IncomingMessage) {
  const client = clientOf(request);
  const spent = new Set<PreparedSearch>();
  return {
    mayMiss: (prepared: PreparedSearch): boolean => {
      const allowed = misses.mayMiss(client);
      if (allowed) spent.add(prepared);
      return allowed;
    },
    settle: (prepared: PreparedSearch, result: unknown): void => {
      if (spent.has(prepared) && gotNothing(result)) misses.refund(client, 1);
    },
  };
}

/** The engine turned it away; or something else was served in the engine's stead. */
function gotNothing(result: unknown): boolean {
  if (result instanceof SearchError) return result.code === 'overloaded' || result.code === 'engine-open';
  const outcome = typeof result === 'object' && result !== null && 'outcome' in result ? result.outcome : undefined;
  return outcome === 'lifeboat' || outcome === 'stale';
}

const BUSY: Problem = {
  code: 'busy',
  detail: 'This process has more to do than it can; for now only pages in its memory are served.',
  retryAfterMs: 1000,
};

/**
 * What the process can take. `@fastify/under-pressure` is not used: it is a hook of Fastify, and a hit is answered before
 * Fastify is asked; it looks once a second, knows nothing of searches in flight, and refuses hits as well, which cost no
 * more than the refusal.
 */
export interface Pressure {
  /** A place for a search that memory cannot answer; false: shed it. Whoever got one leaves it. */
  readonly enter: () => boolean;
  readonly leave: () => void;
  /** The event loop is past its bound: whatever costs more than its refusal is to be shed, hits too. */
  readonly isLate: () => boolean;
  readonly status: () => PressureStatus;
  readonly close: () => void;
}

export interface PressureStatus {
  readonly inFlight: number;
  readonly maxInFlight: number;
  readonly loopDelayMs: number;
  readonly maxLoopDelayMs: number;
  /** `degraded`: near its bounds for a while now. `down`: past them, so that only what memory holds is answered. */
  readonly state: 'ok' | 'degraded' | 'down';
  /** False: a balancer should look elsewhere. A burst of a moment is shed without that. */
  readonly ready: boolean;
}

export interface PressureOptions {
  readonly clock: Clock;
  readonly maxInFlight: number;
  readonly maxLoopDelayMs: number;
}

/** Degraded from these shares of the bounds, so that a balancer looks elsewhere before anybody is refused. */
const WARN_IN_FLIGHT = 0.75;
const WARN_LOOP_DELAY = 0.5;
/** A batch or a collection passes in less, and a balancer should not hear of it. */
const SUSTAINED_MS = 500;

export function createPressure({ clock, maxInFlight, maxLoopDelayMs }: PressureOptions): Pressure {
  let inFlight = 0;
  /** When a sample first was above the warning, without one below since. */
  let warnedSinceMs: number | undefined;
  const delay = createLoopDelay(clock, (nowMs) => {
    const isHigh = inFlight >= maxInFlight * WARN_IN_FLIGHT || delay.currentMs() >= maxLoopDelayMs * WARN_LOOP_DELAY;
    warnedSinceMs = isHigh ? (warnedSinceMs ?? nowMs) : undefined;
  });

  const isLate = (): boolean => delay.currentMs() > maxLoopDelayMs;
  const isFull = (): boolean => inFlight >= maxInFlight || isLate();
  const isReady = (): boolean => warnedSinceMs === undefined || clock.monotonicMs() - warnedSinceMs < SUSTAINED_MS;

  return {
    enter: () => {
      if (isFull()) return false;
      inFlight += 1;
      return true;
    },
    leave: () => {
      inFlight -= 1;
    },
    isLate,
    status: () => {
      const ready = isReady();
      const state = isFull() ? 'down' : ready ? 'ok' : 'degraded';
      return { inFlight, maxInFlight, loopDelayMs: delay.currentMs(), maxLoopDelayMs, state, ready };
    },
    close: delay.close,
  };
}

export interface LoopDelay {
  /** How late the event loop runs, milliseconds, smoothed. */
  readonly currentMs: () => number;
  readonly close: () => void;
}

/** 0.2 % of a core; twice that at 20 ms, and no less by reading `monitorEventLoopDelay` ten times a second. */
const INTERVAL_MS = 50;
/** A lone pause of the collector counts half; a loop that is late again and again counts in full after a few samples. */
const WEIGHT = 0.5;

/**
 * Measures how late a timer comes. Each sample weighs half, so that after a stall of any length the value is back below
 * a threshold within a few samples: a stall of a minute is a millisecond after 16 of them, 0.8 s.
 */
export function createLoopDelay(clock: Clock, onSample: (nowMs: number) => void): LoopDelay {
  let delayMs = 0;
  let lastMs = clock.monotonicMs();
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    const late = Math.max(0, nowMs - lastMs - INTERVAL_MS);
    delayMs += (late - delayMs) * WEIGHT;
    lastMs = nowMs;
    onSample(nowMs);
  }, INTERVAL_MS);
  timer.unref();
  return { currentMs: () => delayMs, close: () => clearInterval(timer) };
}
