import { EngineError, type ResultPage } from '../../search/engine.ts';
import type { SqliteEvent } from './engine.ts';
import type { Question, Thread } from './thread.ts';

export interface PoolOptions {
  readonly start: () => Thread;
  readonly size: number;
  /** Questions that may wait for a thread; past it they are refused as `engine-overloaded`. */
  readonly maxWaiting: number;
  /** How long a thread may go on with a question whose asker has left, before it is ended and replaced. */
  readonly abortGraceMs: number;
  /** In [0, 1): spreads the pauses between restarts. */
  readonly random: () => number;
  readonly observe: (event: SqliteEvent) => void;
}

/** Threads that answer one question each at a time; a thread that is lost is replaced, its question alone fails. */
export interface Pool {
  /** Rejects with an EngineError; with `engine-timeout` as soon as the signal aborts. */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<ResultPage | undefined>;
  /** Resolves when all threads can answer; rejects with the first EngineError of a start. */
  readonly ready: Promise<void>;
  readonly close: () => Promise<void>;
}

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 5_000;

interface Job extends PromiseWithResolvers<ResultPage | undefined> {
  readonly question: Question;
  /** Runs once its asker has left. */
  grace: NodeJS.Timeout | undefined;
}

/** A place for one thread. `resting`: the last one crashed and the next is not due yet. */
interface Slot {
  state: 'starting' | 'idle' | 'busy' | 'ending' | 'resting';
  thread: Thread | undefined;
  build: string;
  job: Job | undefined;
  restart: NodeJS.Timeout | undefined;
}

export function createPool({ start, size, maxWaiting, abortGraceMs, random, observe }: PoolOptions): Pool {
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
      // The thread may be alive with nothing to do; its end is what schedules the next start.
      void thread.end();
      throw error;
    }
    if (!thread.alive() || slot.state !== 'starting') return;
    observe({ kind: 'worker', state: 'ready' });
    slot.state = 'idle';
    // The file was replaced since the others opened it: they follow, so that pages of two builds never mix for long.
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
    const pause = Math.min(LONGEST_RESTART_MS, FIRST_RESTART_MS * 2 ** Math.min(crashes - 1, 10));
    const restartMs = pause * (0.5 + random() / 2);
    observe({ kind: 'worker', state: 'crashed', detail, restartMs });
    slot.state = 'resting';
    slot.restart = setTimeout(() => launch(slot).catch(() => undefined), restartMs);
    if (slots.every(({ state }) => state === 'resting')) rejectWaiting(`no search worker is up: ${lastCrash}`);
  }

  /** The next one starts when this one is gone: there are never more threads than slots. */
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
    // A thread that died or is being ended has its own way back; a question given to it now would wait for ever.
    if (!thread.alive() || slot.state !== 'busy') return;
    slot.state = 'idle';
    if (slot.build !== build) end(slot);
    assign();
  }

  function abandon(job: Job): void {
    job.reject(new EngineError('engine-timeout', 'the search was given up at its hard deadline'));
    const position = waiting.indexOf(job);
    if (position >= 0) waiting.splice(position, 1);
    const slot = slots.find((candidate) => candidate.job === job);
    if (slot === undefined || slot.state !== 'busy') return;
    job.grace = setTimeout(() => end(slot), abortGraceMs);
  }

  function rejectWaiting(message: string): void {
    for (const job of waiting.splice(0)) job.reject(new EngineError('engine-unavailable', message));
  }

  async function ask(question: Question, signal: AbortSignal): Promise<ResultPage | undefined> {
    if (closing !== undefined) throw new EngineError('engine-unavailable', 'the engine is closed');
    if (signal.aborted) throw new EngineError('engine-timeout', 'the deadline had passed before the search began');
    if (slots.every(({ state }) => state === 'resting')) {
      throw new EngineError('engine-unavailable', `no search worker is up: ${lastCrash}`);
    }
    if (waiting.length >= maxWaiting && !slots.some(({ state }) => state === 'idle')) {
      throw new EngineError('engine-overloaded', `${maxWaiting} searches wait for ${size} workers already`);
    }
    const job: Job = { question, grace: undefined, ...Promise.withResolvers<ResultPage | undefined>() };
    const onAbort = (): void => abandon(job);
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
        job?.reject(new EngineError('engine-unavailable', 'the engine was closed'));
      }
      await Promise.all(slots.map(({ thread }) => thread?.end()));
    })();
    return closing;
  }

  return { ask, ready, close };
}
