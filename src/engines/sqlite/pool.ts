import { Worker } from 'node:worker_threads';
import { type EngineReason, SearchError } from '../../resilience/search-error.ts';
import type { SearchRequest } from '../../search/domain.ts';
import type { DocumentUpdate } from '../../search/engine.ts';
import type { OpenIndexOptions } from './open-index.ts';

/** Events of the worker threads of one index, for metrics, logs and tests. */
export type SqliteEvent =
  | { readonly kind: 'worker'; readonly state: 'ready' | 'ended' | 'reopened' }
  /** The file was replaced by one that cannot be used: the thread goes on with the old one. */
  | { readonly kind: 'worker'; readonly state: 'kept'; readonly detail: string }
  /** The thread ended by itself or could not start; the next start is tried after `restartMs`. */
  | { readonly kind: 'worker'; readonly state: 'crashed'; readonly detail: string; readonly restartMs: number };

export type Question =
  | { readonly kind: 'search'; readonly request: SearchRequest }
  | { readonly kind: 'probe' }
  /** @see updateIndex */
  | { readonly kind: 'update'; readonly updates: readonly DocumentUpdate[]; readonly atMs: number };

/**
 * Messages of the thread: `ready` or `failed` once the index is open, then one answer or `failed` per question. Before an
 * answer the thread looks whether the file was replaced, and says `ready` once more or `kept`.
 */
export type Reply =
  | { readonly kind: 'ready'; readonly build: string }
  /** `value`: the ResultPage of a search, the list of IndexChange of an update. */
  | { readonly kind: 'answer'; readonly value: unknown }
  | { readonly kind: 'kept'; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: EngineReason; readonly message: string };

export interface PoolOptions {
  /** The module that each thread runs: worker.ts, or a faulty one in tests. */
  readonly program: URL;
  readonly index: OpenIndexOptions;
  readonly size: number;
  /**
   * Questions that may wait for a thread; more are refused as `engine-overloaded`. A concurrency limiter stands before the
   * engine, so this bound is seldom reached.
   */
  readonly maxWaiting: number;
  /** Time that a thread may go on with an aborted question, before it is ended and replaced. */
  readonly abortGraceMs: number;
  /** In [0, 1): spreads the delays of restarts. */
  readonly random: () => number;
  readonly observe: (event: SqliteEvent) => void;
  /** The file was replaced, and no search that goes on or begins reads the old one. */
  readonly onReplaced: () => void;
}

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 5_000;

interface Job extends PromiseWithResolvers<unknown> {
  readonly question: Question;
  /** Set when the question was aborted. */
  grace: NodeJS.Timeout | undefined;
}

/** One thread and its replacements. `resting`: the last thread crashed and the next is not due yet. */
const newSlot = () => ({
  state: 'resting' as 'starting' | 'idle' | 'busy' | 'ending' | 'resting',
  thread: undefined as Thread | undefined,
  /** The newest build that the thread has opened, or has looked for and not found. */
  seen: '',
  job: undefined as Job | undefined,
  restart: undefined as NodeJS.Timeout | undefined,
});

type Slot = ReturnType<typeof newSlot>;

/** Threads that answer one question each at a time. A lost thread is replaced; only its question fails. */
export function createPool(options: PoolOptions) {
  const { program, index, size, maxWaiting, abortGraceMs, random, observe, onReplaced } = options;
  const waiting: Job[] = [];
  /** Crashes since the last answer. */
  let crashes = 0;
  let build = '';
  let lastCrash = '';
  let closing: Promise<void> | undefined;

  const slots = Array.from({ length: size }, newSlot);
  /** Resolves when all threads can answer; rejects with the first SearchError of a start. */
  const ready = Promise.all(slots.map((slot) => launch(slot))).then(() => undefined);

  async function launch(slot: Slot): Promise<void> {
    const thread = startThread(program, index, {
      opened: (found) => {
        slot.seen = found;
        if (slot.state !== 'starting') observe({ kind: 'worker', state: 'reopened' });
        noteBuild(found);
      },
      kept: (detail) => observe({ kind: 'worker', state: 'kept', detail }),
    });
    slot.state = 'starting';
    slot.thread = thread;
    let failure: string | undefined;
    thread.ended.then((detail) => onEnded(slot, failure ?? detail));
    try {
      await thread.ready;
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      // The thread may still be alive and idle; its end schedules the next start.
      void thread.end();
      throw error;
    }
    if (!thread.alive() || slot.state !== 'starting') return;
    observe({ kind: 'worker', state: 'ready' });
    slot.state = 'idle';
    assign();
  }

  function noteBuild(found: string): void {
    const isReplaced = build !== '' && build !== found;
    build = found;
    if (!isReplaced) return;
    // A search that is running may read the old file; the next one of its thread looks first.
    void Promise.allSettled(slots.map(({ job }) => job?.promise)).then(onReplaced);
    catchUp();
  }

  /** Lets the idle threads look for the new file, one after the other: each keeps the old one on the disk until then. */
  function catchUp(): void {
    const slot = slots.find(({ state, seen }) => state === 'idle' && seen !== build);
    if (slot === undefined) return;
    slot.seen = build;
    const job = newJob({ kind: 'probe' });
    job.promise.catch(() => undefined);
    void run(slot, job);
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
    assign();
    catchUp();
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
  async function ask(question: Question, signal: AbortSignal): Promise<unknown> {
    if (closing !== undefined) throw new SearchError('engine-unavailable', 'the engine is closed');
    if (signal.aborted) throw new SearchError('engine-timeout', 'the deadline had passed before the search began');
    if (slots.every(({ state }) => state === 'resting')) {
      throw new SearchError('engine-unavailable', `no search worker is up: ${lastCrash}`);
    }
    if (waiting.length >= maxWaiting && !slots.some(({ state }) => state === 'idle')) {
      throw new SearchError('engine-overloaded', `${maxWaiting} searches wait for ${size} workers already`);
    }
    const job = newJob(question);
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

function newJob(question: Question): Job {
  return { question, grace: undefined, ...Promise.withResolvers<unknown>() };
}

interface ThreadPorts {
  /** The thread has opened a build of the index: its first, or the one that replaced it. */
  readonly opened: (build: string) => void;
  readonly kept: (detail: string) => void;
}

/** A worker thread with the index open. It answers one question at a time. */
function startThread(program: URL, index: OpenIndexOptions, { opened, kept }: ThreadPorts) {
  const worker = new Worker(program, { workerData: index });
  const opening = Promise.withResolvers<void>();
  let asked: PromiseWithResolvers<unknown> | undefined;
  let isReady = false;
  let isAlive = true;
  let cause: Error | undefined;

  worker.on('message', (reply: Reply) => {
    switch (reply.kind) {
      case 'ready':
        isReady = true;
        opened(reply.build);
        opening.resolve();
        return;
      case 'answer':
        asked?.resolve(reply.value);
        return;
      case 'kept':
        kept(reply.message);
        return;
      case 'failed':
        (isReady ? asked : opening)?.reject(new SearchError(reply.reason, reply.message));
        return;
    }
  });
  worker.on('error', (error) => {
    cause = error instanceof Error ? error : new Error(String(error));
  });
  /** Resolves when the thread has ended, with the cause as far as it is known; never rejects. */
  const ended = new Promise<string>((resolve) => {
    worker.once('exit', (exitCode) => {
      isAlive = false;
      const detail = `a search worker ended: ${cause?.message ?? `exit code ${exitCode}`}`;
      const error = new SearchError('engine-unavailable', detail, { cause });
      opening.reject(error);
      asked?.reject(error);
      resolve(detail);
    });
  });
  // A start that nothing awaits must not become an unhandled rejection.
  opening.promise.catch(() => undefined);

  return {
    /** Resolves once it can answer. Rejects with a SearchError. */
    ready: opening.promise,
    /** Rejects with a SearchError, also when the thread dies. */
    ask: (question: Question): Promise<unknown> => {
      asked = Promise.withResolvers();
      if (isAlive) worker.postMessage(question);
      else asked.reject(new SearchError('engine-unavailable', 'a search worker ended before it was asked'));
      return asked.promise;
    },
    /** JavaScript stops at once, but SQLite finishes the statement that it is running: nothing can interrupt it. */
    end: async (): Promise<void> => {
      await worker.terminate();
      await ended;
    },
    /** False as soon as the thread has ended, before the end settles any of its promises. */
    alive: (): boolean => isAlive,
    ended,
  };
}

type Thread = ReturnType<typeof startThread>;
