import { parentPort, workerData } from 'node:worker_threads';
import type { EngineReason } from '../../resilience/search-error.ts';
import { type OpenIndexOptions, openIndex } from './open-index.ts';
import type { Question, Reply } from './pool.ts';
import { fileIdentity } from './schema.ts';
import { updateIndex } from './update.ts';

/** The program of each search thread: opens the index, then answers one question after the other. */

const SQLITE_ERROR = 1;

const options = workerData as OpenIndexOptions;
const reply = (message: Reply): void => parentPort?.postMessage(message);

try {
  let identity = fileIdentity(options.file);
  let index = openIndex(options);
  /** Opens the file that has taken the place of the open one. To look costs a few microseconds. */
  const followFile = (): void => {
    const found = fileIdentity(options.file);
    if (found === identity || found === undefined) return;
    identity = found;
    try {
      const replacement = openIndex(options);
      index.close();
      index = replacement;
      reply({ kind: 'ready', build: index.meta.build });
    } catch (error) {
      reply({ kind: 'kept', message: messageOf(error) });
    }
  };
  const answerTo = (question: Question) => {
    switch (question.kind) {
      case 'search':
        return index.search(question.request);
      case 'probe':
        // An update that the feed is not told counts as a replacement.
        if (index.probe() !== index.meta.build) identity = undefined;
        followFile();
        return undefined;
      case 'update':
        return updateIndex({ ...options, ...question });
    }
  };
  parentPort?.on('message', (question: Question) => {
    try {
      followFile();
      reply({ kind: 'answer', value: answerTo(question) });
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
