import { parentPort } from 'node:worker_threads';
import type { Question } from '../../../src/engines/sqlite/pool.ts';

/** worker.ts, but the search text commands it: `crash`, `exit`, `hang` (for ever), `slow` (300 ms). */
function obey(question: Question): void {
  const text = question.kind === 'search' ? question.request.text : '';
  if (text === 'crash') throw new Error('crashed as asked');
  if (text === 'exit') process.exit(3);
  if (text === 'hang') for (;;);
  if (text === 'slow') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
}

const port = parentPort;
if (port === null) throw new Error('this is the program of a thread');
const listen = port.on.bind(port);
const obedient = (event: string, take: (question: Question) => void) =>
  listen(event, (question) => {
    obey(question);
    take(question);
  });
Object.assign(port, { on: obedient });
await import('../../../src/engines/sqlite/worker.ts');
