import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '../../kit/lab.ts';
import { inNamespace } from './namespace.ts';
import type { ReaderPlan, ReaderSaid } from './reader-plan.ts';

const MAIN = join(import.meta.dirname, 'reader.ts');
const AROUND_MS = 25_000;
const MOST_ERROR = 2000;

/** Runs a reader whose names are looked up at our name server; what it says is heard at once. @throws when it fails. */
export async function runReader(lab: Lab, plan: ReaderPlan, hear: (said: ReaderSaid) => void): Promise<void> {
  const file = join(lab.folder, `reader-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(plan));
  const words = inNamespace(lab.folder, [process.execPath, MAIN, file]);
  const { keptMs = 0, cutMs = 0, backWaitMs = 0 } = plan.then ?? {};
  const limitMs = plan.startWaitMs + keptMs + cutMs + backWaitMs + AROUND_MS;
  const last: ReaderSaid['kind'] = plan.then === undefined ? 'started' : 'back';
  const child = spawn('taskset', ['-c', lab.cores.generator, ...words], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    signal: AbortSignal.any([lab.signal, AbortSignal.timeout(limitMs)]),
    killSignal: 'SIGKILL',
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MOST_ERROR);
  });
  let isDone = false;
  child.on('message', (message: ReaderSaid) => {
    hear(message);
    if (message.kind !== last) return;
    isDone = true;
    child.kill('SIGKILL');
  });
  const problem = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, killed) => resolve(isDone ? undefined : `ended with ${killed ?? code}`));
  });
  if (problem !== undefined) throw new Error(`the reader of names: ${problem}: ${said.trim()}`);
}
