import type { Clock } from '../../../src/runtime.ts';

/** Hours in seconds: timers run in order, and time passes only between them. */
export interface VirtualTime {
  readonly clock: Clock;
  readonly at: (atMs: number, run: () => void) => void;
  /** Runs everything due until then, each with what its promises lead to. */
  readonly runUntil: (endMs: number) => Promise<void>;
  /** Gives the process its own timers back. */
  readonly close: () => void;
}

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  /** A timer that was cleared stays in the heap until its time. */
  cancelled: boolean;
}

/** Takes the process's `setTimeout` and `clearTimeout` over, so that what is measured is the code that runs in production. */
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
        // Lets every promise settle before time goes on.
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
