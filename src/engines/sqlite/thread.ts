import { Worker } from 'node:worker_threads';
import { SearchError } from '../../resilience/search-error.ts';
import type { ResultPage } from '../../search/engine.ts';
import type { OpenIndexOptions } from './open-index.ts';
import type { Question, Reply } from './worker.ts';

/**
 * A worker thread with the index open. It answers one question at a time.
 * @param program the module that the thread runs: worker.ts, or a faulty one in tests.
 */
export function startThread(program: URL, options: OpenIndexOptions) {
  const worker = new Worker(program, { workerData: options });
  const opening = Promise.withResolvers<string>();
  let asked: PromiseWithResolvers<ResultPage | undefined> | undefined;
  let isReady = false;
  let isAlive = true;
  let cause: Error | undefined;

  worker.on('message', (reply: Reply) => {
    switch (reply.kind) {
      case 'ready':
        isReady = true;
        opening.resolve(reply.build);
        return;
      case 'answer':
        asked?.resolve(reply.page);
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
    /** Resolves with the build of the index it opened, once it can answer. Rejects with a SearchError. */
    ready: opening.promise,
    /** Resolves with a page, or undefined for a probe. Rejects with a SearchError, also when the thread dies. */
    ask: (question: Question): Promise<ResultPage | undefined> => {
      asked = Promise.withResolvers();
      if (isAlive) worker.postMessage(question);
      else asked.reject(new SearchError('engine-unavailable', 'a search worker ended before it was asked'));
      return asked.promise;
    },
    /**
     * Ends the thread. JavaScript stops at once, but SQLite finishes the statement that it is running: nothing can interrupt
     * it from here.
     */
    end: async (): Promise<void> => {
      await worker.terminate();
      await ended;
    },
    /** False as soon as the thread has ended, before the end settles any of its promises. */
    alive: (): boolean => isAlive,
    ended,
  };
}

export type Thread = ReturnType<typeof startThread>;
