import type { Clock } from '../../../src/runtime.ts';

interface ModelEngineOptions {
  readonly time: VirtualTime;
  readonly atOnce: number;
  /** Mean duration of one query without its wait. */
  readonly meanMs: number;
  /** Standard deviation of the logarithm: with 0.4 the p99 is 2.3 × the mean. */
  readonly spread: number;
  /** Share of the queries that take ten times as long. */
  readonly costly: number;
  readonly random: () => number;
}

/** An engine with a maximum of concurrent queries. It queues the others itself, where they cannot be shed. */
export function createModelEngine(options: ModelEngineOptions) {
  const { time, atOnce, meanMs, spread, costly, random } = options;
  const queue: (() => void)[] = [];
  let busy = 0;
  let slowness = 1;

  const workMs = (): number => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return meanMs * slowness * Math.exp(spread * normal - spread ** 2 / 2) * (random() < costly ? 10 : 1);
  };

  const begin = (): void => {
    const done = busy < atOnce ? queue.shift() : undefined;
    if (done === undefined) return;
    busy += 1;
    time.at(time.clock.monotonicMs() + workMs(), () => {
      busy -= 1;
      done();
      begin();
    });
  };

  return {
    ask: () =>
      new Promise<void>((resolve) => {
        queue.push(resolve);
        begin();
      }),
    /** Current capacity, in answers a second. */
    perSecond: () => (1000 * atOnce) / (meanMs * slowness * (1 + 9 * costly)),
    /** Multiplies the duration of queries that start from now on. */
    slowDown: (factor: number) => {
      slowness = factor;
    },
  };
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
  /** A cleared timer stays in the list until its time. */
  cancelled: boolean;
}

export type VirtualTime = ReturnType<typeof createVirtualTime>;

/**
 * Simulated time: timers run in order, and time passes only between them, so hours take seconds. Replaces `setTimeout` and
 * `clearTimeout` of the process, so that the production code runs unchanged.
 */
export function createVirtualTime() {
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  /** The next timer is the last one. */
  const timers: Timer[] = [];
  let nowMs = 0;

  const schedule = (atMs: number, run: () => void): Timer => {
    const timer: Timer = { atMs: Math.max(nowMs, atMs), run, cancelled: false };
    // Timers of the same time run in the order in which they were set.
    timers.splice(timers.findLastIndex((other) => other.atMs > timer.atMs) + 1, 0, timer);
    return timer;
  };

  globalThis.setTimeout = ((run: () => void, delayMs = 0) =>
    schedule(nowMs + Math.max(1, Math.trunc(delayMs)), run)) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: Timer | undefined) => {
    if (timer !== undefined) timer.cancelled = true;
  }) as unknown as typeof clearTimeout;

  return {
    clock: { wallMs: () => nowMs, monotonicMs: () => nowMs } satisfies Clock,
    at: schedule,
    /** Runs all timers until then. Promises settle after each timer. */
    runUntil: async (endMs: number): Promise<void> => {
      for (let next = timers.at(-1); next !== undefined && next.atMs <= endMs; next = timers.at(-1)) {
        timers.pop();
        if (next.cancelled) continue;
        nowMs = next.atMs;
        next.run();
        // All promises settle before time goes on.
        await new Promise((resolve) => setImmediate(resolve));
      }
      nowMs = endMs;
    },
    [Symbol.dispose]: () => Object.assign(globalThis, real),
  };
}
