import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Time for all rooms, injected so that a test can move it. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: only for entries, documents and times shown to operators. */
  readonly wallMs: () => number;
  /** Monotonic milliseconds, for durations, deadlines and ages. */
  readonly monotonicMs: () => number;
}

/**
 * The parts that every room gets: time, randomness, the id of this process and the reader of its events. `Event` is the union of the
 * events that the room reports.
 */
export interface Runtime<Event> {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** 10–20 characters of base 36, new at every start. */
  readonly processId: string;
  readonly observe: (event: Event) => void;
}

export const systemClock: Clock = {
  wallMs: Date.now,
  monotonicMs: performance.now.bind(performance),
};

/** Takes the end of a call that makes no promise: an error, or a value. It is called once and must not throw. */
export type Done<T> = (error: unknown, value?: T) => void;

/** The promise of such a call, for a caller that waits for one. */
export function promised<T>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    start((error, value) => {
      if (error === undefined) resolve(value as T);
      else reject(error);
    }),
  );
}

/**
 * Resolves after `ms`, or when the signal is aborted. Does not keep the process alive. The global timer is used, because tests
 * can replace it.
 */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal?.addEventListener('abort', end);
  });
}

/**
 * Does the work, which must not reject, again and again: `waitMs()` after its end, so that slow work has no second one beside it.
 * @param firstMs time before the first one, which begins at once without it
 * @returns ends it; work that has begun goes on
 */
export function repeat(work: () => Promise<unknown>, waitMs: () => number, firstMs?: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const wait = (ms: number): void => {
    if (!ended) timer = setTimeout(run, ms).unref();
  };
  const run = (): void => void work().then(() => wait(waitMs()));
  if (firstMs === undefined) run();
  else wait(firstMs);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** Resolves when `holds` returns true, asked every 10 ms, or after `timeoutMs`. */
export async function waitFor(holds: () => boolean, timeoutMs: number, clock: Clock): Promise<void> {
  const untilMs = clock.monotonicMs() + timeoutMs;
  while (!holds() && clock.monotonicMs() < untilMs) await sleep(10);
}

/**
 * The value of a promise that resolves within `ms`; undefined when it takes longer. Timers run before sockets are read: what waits
 * in a socket after a blocked event loop is in time.
 */
export async function settledWithin<Value>(
  work: Promise<Value>,
  ms: number,
): Promise<{ readonly value: Value } | undefined> {
  const waited = new AbortController();
  const late = sleep(ms, undefined, { signal: waited.signal })
    .then(() => nextTurn(undefined))
    .catch(() => undefined);
  try {
    return await Promise.race([work.then((value) => ({ value })), late]);
  } finally {
    waited.abort();
  }
}

/** Runs `work` for each item, at most `atOnce` at a time. @returns the results in the order of the items */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, at: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const left = items.entries();
  const results: Result[] = [];
  const worker = async (): Promise<void> => {
    for (const [at, item] of left) results[at] = await work(item, at);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

export type Throttle = ReturnType<typeof createThrottle>;

/** Limits log lines per second, and counts those that were omitted. */
export function createThrottle(options: { readonly perSecond: number; readonly monotonicMs: () => number }) {
  let windowStartMs = Number.NEGATIVE_INFINITY;
  let passed = 0;
  let omitted = 0;
  return {
    /** The count of lines omitted since the last one that passed; undefined when this line is omitted too. */
    pass: (): number | undefined => {
      const nowMs = options.monotonicMs();
      if (nowMs - windowStartMs >= 1000) {
        windowStartMs = nowMs;
        passed = 0;
      }
      if (passed >= options.perSecond) {
        omitted += 1;
        return undefined;
      }
      passed += 1;
      const before = omitted;
      omitted = 0;
      return before;
    },
  };
}

/** The latest `maxEntries` keys written; the oldest write is evicted first. For hints, never for answers. */
export function createBoundedMap<V>(maxEntries: number) {
  const map = new Map<string, V>();
  return {
    get: (key: string): V | undefined => map.get(key),
    set: (key: string, value: V): void => {
      map.delete(key);
      map.set(key, value);
      if (map.size <= maxEntries) return;
      const oldest = map.keys().next();
      if (!oldest.done) map.delete(oldest.value);
    },
    delete: (key: string): boolean => map.delete(key),
  };
}

/** Ends the connection whose bytes a library reads. */
type EndConnection = (fault: unknown) => void;

const readers = new AsyncLocalStorage<EndConnection>();

/**
 * Lets a library read bytes of a connection. A fault of the library ends that connection, also one that it throws in a later
 * tick, where no caller can catch it, once `endFailedReaders` was called. A fault of our own, in a callback of the
 * library, is thrown on.
 */
export function readAs(end: EndConnection, read: () => void): void {
  readers.run(end, () => {
    try {
      read();
    } catch (fault) {
      if (!isOfLibrary(fault)) throw fault;
      end(fault);
    }
  });
}

/** For the whole process. @param onEnded called with each fault that has ended its connection; any other ends the process */
export function endFailedReaders(onEnded: (fault: unknown) => void): void {
  process.on('uncaughtException', (fault, origin) => {
    const end = readers.getStore();
    // Only our own code leaves a promise unhandled, also when it was rejected with an error of a library.
    if (end === undefined || origin === 'unhandledRejection' || !isOfLibrary(fault)) {
      console.error(fault);
      process.exit(1);
    }
    end(fault);
    onEnded(fault);
  });
}

/** Whether the first function on the stack that is not of Node or V8 belongs to an installed package other than this one. */
function isOfLibrary(fault: unknown): boolean {
  const frames = (fault instanceof Error ? fault.stack : '')?.match(/^ +at .+$/gm) ?? [];
  const [first = ''] = frames.filter((frame) => !frame.includes('node:') && !frame.includes('(<anonymous>)'));
  return /node_modules[\\/](?!serpcache[\\/])(?!.*node_modules)/.test(first);
}
