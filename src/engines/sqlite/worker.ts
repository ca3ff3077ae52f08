import { parentPort, workerData } from 'node:worker_threads';
import type { EngineReason } from '../../resilience/search-error.ts';
import { type OpenIndexOptions, openIndex } from './open-index.ts';
import type { Question, Reply } from './pool.ts';

/** The program of each search thread: opens the index, then answers one question after the other. */

const SQLITE_ERROR = 1;

const reply = (message: Reply): void => parentPort?.postMessage(message);

try {
  const index = openIndex(workerData as OpenIndexOptions);
  parentPort?.on('message', (question: Question) => {
    try {
      switch (question.kind) {
        case 'search':
          reply({ kind: 'answer', page: index.search(question.request) });
          return;
        case 'probe':
          index.probe();
          reply({ kind: 'answer', page: undefined });
          return;
      }
    } catch (error) {
      reply({ kind: 'failed', reason: engineReasonOf(error), message: messageOf(error) });
    }
  });
  reply({ kind: 'ready', build: index.meta.build });
} catch (error) {
  reply({ kind: 'failed', reason: 'engine-unavailable', message: messageOf(error) });
}

/** SQLITE_ERROR is about the statement; every other code is about the file or the machine. */
function engineReasonOf(error: unknown): EngineReason {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : SQLITE_ERROR;
  return code === SQLITE_ERROR ? 'engine-rejected' : 'engine-unavailable';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
