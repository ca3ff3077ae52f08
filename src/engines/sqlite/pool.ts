import { SearchError } from '../../resilience/search-error.ts';
import type { ResultPage } from '../../search/engine.ts';
import type { Thread } from './thread.ts';
import type { Question } from './worker.ts';

/** Events of the worker threads of one index, for metrics, logs and tests. */
export type SqliteEvent =
  | { readonly kind: 'worker'; readonly state: 'ready' | 'ended' }
  /** The thread ended by itself or could not start; the next start is tried after `restartMs`. */
  | { readonly kind: 'worker'; readonly state: 'crashed'; readonly detail: string; readonly restartMs: number };

interface PoolOptions {
  readonly start: () => Thread;
  readonly size: number;
  /** Questions that may wait for a thread; more are refused as `engine-overloaded`. */
  readonly maxWaiting: number;
  /** Time that a thread may go on with an aborted question, before it is ended and replaced. */
  readonly abortGraceMs: number;
  /** In [0, 1): spreads the delays of restarts. */
  readonly random: () => number;
  readonly observe: (event: SqliteEvent) => void;
}

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 5_000;

interface Job extends PromiseWithResolvers<ResultPage | undefined> {
  readonly question: Question;
  /** Set when the question was aborted. */
  grace: NodeJS.Timeout | undefined;
}

/** One thread and its replacements. `resting`: the last thread crashed and the next is not due yet. */
interface Slot {
  state: 'starting' | 'idle' | 'busy' | 'ending' | 'resting';
  thread: Thread | undefined;
  build: string;
  job: Job | undefined;
  restart: NodeJS.Timeout | undefined;
}

/** Threads that answer one question each at a time. A lost thread is replaced; only its question fails. */
export function createPool({ start, size, maxWaiting, abortGraceMs, random, observe }: PoolOptions) {
  const waiting: Job[] = [];
  /** Crashes since the last answer. */
  let crashes = 0;
  let build = '';
  let lastCrash = '';
  let closing: Promise<void> | undefined;

  const slots: Slot[] = Array.from({ length: size }, () => ({
    state: 'resting',
    thread: undefined,
    build: '',
    job: undefined,
    restart: undefined,
  }));
  /** Resolves when all threads can answer; rejects with the first SearchError of a start. */
  const ready = Promise.all(slots.map((slot) => launch(slot))).then(() => undefined);

  async function launch(slot: Slot): Promise<void> {
    const thread = start();
    slot.state = 'starting';
    slot.thread = thread;
    let failure: string | undefined;
    thread.ended.then((detail) => onEnded(slot, failure ?? detail));
    try {
      slot.build = await thread.ready;
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      // The thread may still be alive and idle; its end schedules the next start.
      void thread.end();
      throw error;
    }
    if (!thread.alive() || slot.state !== 'starting') return;
    observe({ kind: 'worker', state: 'ready' });
    slot.state = 'idle';
    // The file was replaced since the other threads opened it. They are restarted too, so that pages of two builds do not mix for long.
    if (build !== '' && slot.build !== build) {
      for (const other of slots) if (other.state === 'idle' && other.build !== slot.build) end(other);
    }
    build = slot.build;
    assign();
  }

  function onEnded(slot: Slot, detail: string): void {
    const wanted = slot.state === 'ending';
    slot.thread = undefined;
    if (closing !== undefined) return;
    if (wanted) {
      observe({ kind: 'worker', state: 'ended' });
      launch(slot).catch(() => undefined);
      return;
    }
    crashes += 1;
    lastCrash = detail;
    const delayMs = Math.min(LONGEST_RESTART_MS, FIRST_RESTART_MS * 2 ** Math.min(crashes - 1, 10));
    const restartMs = delayMs * (0.5 + random() / 2);
    observe({ kind: 'worker', state: 'crashed', detail, restartMs });
    slot.state = 'resting';
    slot.restart = setTimeout(() => launch(slot).catch(() => undefined), restartMs);
    if (slots.every(({ state }) => state === 'resting')) rejectWaiting(`no search worker is up: ${lastCrash}`);
  }

  /** The next thread starts when this one is gone: there are never more threads than slots. */
  function end(slot: Slot): void {
    slot.state = 'ending';
    void slot.thread?.end();
  }

  function assign(): void {
    for (const slot of slots) {
      if (slot.state !== 'idle') continue;
      const job = waiting.shift();
      if (job === undefined) return;
      void run(slot, job);
    }
  }

  async function run(slot: Slot, job: Job): Promise<void> {
    const { thread } = slot;
    if (thread === undefined) throw new Error('an idle slot has a thread');
    slot.state = 'busy';
    slot.job = job;
    try {
      job.resolve(await thread.ask(job.question));
      crashes = 0;
    } catch (error) {
      job.reject(error);
    }
    slot.job = undefined;
    clearTimeout(job.grace);
    // A dead or ending thread is replaced by `onEnded`; a question given to it now would wait for ever.
    if (!thread.alive() || slot.state !== 'busy') return;
    slot.state = 'idle';
    if (slot.build !== build) end(slot);
    assign();
  }

  function abort(job: Job): void {
    job.reject(new SearchError('engine-timeout', 'the search was given up at its hard deadline'));
    const position = waiting.indexOf(job);
    if (position >= 0) waiting.splice(position, 1);
    const slot = slots.find((candidate) => candidate.job === job);
    if (slot === undefined || slot.state !== 'busy') return;
    job.grace = setTimeout(() => end(slot), abortGraceMs);
  }

  function rejectWaiting(message: string): void {
    for (const job of waiting.splice(0)) job.reject(new SearchError('engine-unavailable', message));
  }

  /** Rejects with a SearchError; with `engine-timeout` as soon as the signal aborts. */
  async function ask(question: Question, signal: AbortSignal): Promise<ResultPage | undefined> {
    if (closing !== undefined) throw new SearchError('engine-unavailable', 'the engine is closed');
    if (signal.aborted) throw new SearchError('engine-timeout', 'the deadline had passed before the search began');
    if (slots.every(({ state }) => state === 'resting')) {
      throw new SearchError('engine-unavailable', `no search worker is up: ${lastCrash}`);
    }
    if (waiting.length >= maxWaiting && !slots.some(({ state }) => state === 'idle')) {
      throw new SearchError('engine-overloaded', `${maxWaiting} searches wait for ${size} workers already`);
    }
    const job: Job = { question, grace: undefined, ...Promise.withResolvers<ResultPage | undefined>() };
    const onAbort = (): void => abort(job);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.push(job);
    assign();
    try {
      return await job.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      rejectWaiting('the engine was closed');
      for (const { job, restart } of slots) {
        clearTimeout(restart);
        clearTimeout(job?.grace);
        job?.reject(new SearchError('engine-unavailable', 'the engine was closed'));
      }
      await Promise.all(slots.map(({ thread }) => thread?.end()));
    })();
    return closing;
  }

  return { ask, ready, close };
}
