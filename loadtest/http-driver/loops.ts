import { setTimeout as sleep } from 'node:timers/promises';

interface OpenLoopOptions {
  readonly ratePerSecond: number;
  /** Makes the arrivals a Poisson process of this mean rate. Absent: at equal intervals, the first one at once. */
  readonly random?: () => number;
  /**
   * Sends request `n`, counted from 0. A promise is in flight until it resolves.
   * @param dueMs the start of its latency, by `timedFrom`.
   */
  readonly send: (n: number, dueMs: number) => unknown;
  /** Default: until `stop`. */
  readonly maxRequests?: number;
  /** A request that is due beyond the maximum is sent late, and its latency begins when it was due. Default: no maximum. */
  readonly maxInFlight?: number;
  readonly nowMs?: () => number;
  /** Wait between two looks at the clock. Default: a millisecond. */
  readonly pause?: () => Promise<unknown>;
}

/** Number of latest lags that are kept; up to twice as many at times. A loop may run for an hour. */
const KEPT_LAGS = 100_000;

/** Sends requests at a rate, whether or not earlier ones were answered. */
export function openLoop(options: OpenLoopOptions) {
  const { ratePerSecond, random, send } = options;
  const { maxRequests = Number.POSITIVE_INFINITY, maxInFlight = Number.POSITIVE_INFINITY } = options;
  const { nowMs = () => performance.now(), pause = () => sleep(1) } = options;
  const lag: number[] = [];
  const inFlight = new Set<Promise<unknown>>();
  let isStopped = false;
  const gapMs = (): number => ((random === undefined ? 1 : -Math.log(1 - random())) * 1000) / ratePerSecond;

  const run = async (): Promise<void> => {
    let dueMs = nowMs() + (random === undefined ? 0 : gapMs());
    for (let n = 0; n < maxRequests && !isStopped; ) {
      const now = nowMs();
      if (dueMs > now) await pause();
      else if (inFlight.size >= maxInFlight) await Promise.race(inFlight);
      else {
        lag.push(now - dueMs);
        if (lag.length === 2 * KEPT_LAGS) lag.splice(0, KEPT_LAGS);
        const result = send(n, timedFrom(dueMs, now));
        if (result instanceof Promise) {
          const sent = result.finally(() => inFlight.delete(sent));
          inFlight.add(sent);
        }
        n += 1;
        dueMs += gapMs();
      }
    }
    await Promise.all(inFlight);
  };
  return {
    /** Resolves when no further request is sent and each one has ended. Rejects when `send` rejects. */
    ended: run(),
    stop: (): void => {
      isStopped = true;
    },
    /** Lateness of the latest requests in ms. A generator that is late measures itself. */
    lagMs: (): readonly number[] => lag,
  };
}

/** A timer of one millisecond may be this late. A shorter lateness is not latency of the server. */
const TIMER_MS = 2.5;

/**
 * The time from which a request of an open loop is timed: when it was due. A stall therefore delays every request that
 * was due during it, and not only the one in flight.
 */
export function timedFrom(dueMs: number, nowMs: number): number {
  return nowMs - dueMs < TIMER_MS ? nowMs : dueMs;
}

/** Keeps `count` requests in flight until all items were sent: the next one is sent when one has ended. */
export async function closedLoop<T>(
  items: Iterable<T>,
  count: number,
  send: (item: T, worker: number) => Promise<unknown>,
): Promise<void> {
  // One iterator for all workers.
  const rest = Iterator.from(items);
  const work = async (worker: number): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await send(next.value, worker);
  };
  await Promise.all(Array.from({ length: count }, (_, worker) => work(worker)));
}
