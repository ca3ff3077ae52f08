import { parentPort, workerData } from 'node:worker_threads';
import { openIndex } from '../../../src/engines/sqlite/open-index.ts';
import type { Question, Reply } from '../../../src/engines/sqlite/pool.ts';

/** Replaces worker.ts; the search text commands it: `crash`, `exit`, `hang` (for ever), `slow` (300 ms). */
const index = openIndex(workerData);
const reply = (message: Reply): void => parentPort?.postMessage(message);

parentPort?.on('message', (question: Question) => {
  const text = question.kind === 'search' ? question.request.text : '';
  if (text === 'crash') throw new Error('crashed as asked');
  if (text === 'exit') process.exit(3);
  if (text === 'hang') for (;;);
  if (text === 'slow') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  reply({ kind: 'answer', page: question.kind === 'search' ? index.search(question.request) : undefined });
});
reply({ kind: 'ready', build: index.meta.build });
