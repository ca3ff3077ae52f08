import type { Clock } from '../../../src/runtime.ts';

/** An engine with a maximum of concurrent queries. It queues the others itself, where they cannot be shed. */
export interface ModelEngine {
  readonly ask: () => Promise<void>;
  /** Its current capacity, in answers a second. */
  readonly perSecond: () => number;
  /** Multiplies the duration of queries that start from now on. */
  readonly slowDown: (factor: number) => void;
}

export interface ModelEngineOptions {
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

export function createModelEngine(options: ModelEngineOptions): ModelEngine {
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
      new Promise((resolve) => {
        queue.push(resolve);
        begin();
      }),
    perSecond: () => (1000 * atOnce) / (meanMs * slowness * (1 + 9 * costly)),
    slowDown: (factor) => {
      slowness = factor;
    },
  };
}

/** Simulated time: timers run in order, and time passes only between them, so hours take seconds. */
export interface VirtualTime {
  readonly clock: Clock;
  readonly at: (atMs: number, run: () => void) => void;
  /** Runs all timers until then. Promises settle after each timer. */
  readonly runUntil: (endMs: number) => Promise<void>;
  /** Restores the timers of the process. */
  readonly close: () => void;
}

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  /** A cleared timer stays in the heap until its time. */
  cancelled: boolean;
}

/** Replaces `setTimeout` and `clearTimeout` of the process, so that the production code runs unchanged. */
export function createVirtualTime(): VirtualTime {
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  const heap: Due[] = [];
  let nowMs = 0;
  let order = 0;

  const schedule = (atMs: number, run: () => void): Due => {
    order += 1;
    const due: Due = { atMs: Math.max(nowMs, atMs), order, run, cancelled: false };
    push(heap, due);
    return due;
  };

  globalThis.setTimeout = ((run: () => void, delayMs = 0) =>
    schedule(nowMs + Math.max(1, Math.trunc(delayMs)), run)) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: Due | undefined) => {
    if (timer !== undefined) timer.cancelled = true;
  }) as unknown as typeof clearTimeout;

  return {
    clock: { wallMs: () => nowMs, monotonicMs: () => nowMs },
    at: (atMs, run) => void schedule(atMs, run),
    runUntil: async (endMs) => {
      for (let due = heap[0]; due !== undefined && due.atMs <= endMs; due = heap[0]) {
        pop(heap);
        if (due.cancelled) continue;
        nowMs = due.atMs;
        due.run();
        // All promises settle before time goes on.
        await new Promise((resolve) => setImmediate(resolve));
      }
      nowMs = endMs;
    },
    close: () => Object.assign(globalThis, real),
  };
}

const before = (a: Due | undefined, b: Due | undefined): boolean =>
  a !== undefined && (b === undefined || a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order));

function push(heap: Due[], due: Due): void {
  let at = heap.length;
  for (let parent = (at - 1) >> 1; at > 0 && before(due, heap[parent]); parent = (at - 1) >> 1) {
    heap[at] = heap[parent] as Due;
    at = parent;
  }
  heap[at] = due;
}

function pop(heap: Due[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const child = before(heap[left + 1], heap[left]) ? left + 1 : left;
    if (!before(heap[child], last)) break;
    heap[at] = heap[child] as Due;
    at = child;
  }
  heap[at] = last;
}
