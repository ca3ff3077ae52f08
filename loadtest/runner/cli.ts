import { join } from 'node:path';
import { EXIT, type Program, refuse } from '../../src/commands/arguments.ts';
import type { RunRecord } from '../judge/record.ts';
import { columns } from '../labs/kit/arguments.ts';
import { checkSections } from '../labs/kit/publish.ts';
import { publishRun } from '../report/section.ts';
import { OPTIONS, readArguments, SCRIPTS } from './arguments.ts';
import { keepResults } from './keep-results.ts';
import { calibrate } from './local-stack.ts';
import { run } from './run.ts';

/**
 * `npm run loadtest -- <script>`: runs a k6 script of loadtest/k6 against the local stack, which it starts and takes down,
 * or against addresses that were named, and leaves a folder with the report. See usage.ts.
 */

const PAGE = join(import.meta.dirname, '..', 'README.md');

// Whoever reads this may go away (a pipe, a terminal): the stack must be taken down all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.exitCode = await main();

async function main(): Promise<number> {
  const read = readArguments(process.argv.slice(2), process.env);
  if (read.kind !== 'run') return refuse(read, LOADTEST);
  const stopping = new AbortController();
  const stop = (): void => {
    if (!stopping.signal.aborted) say('stopping: what was started is ended first');
    stopping.abort();
  };
  // Never `once`: who presses Ctrl-C twice must not leave a stack behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  try {
    if (read.options.isPublished) checkSections(PAGE, [read.options.script]);
    const ran = await run(read.options, { say, signal: stopping.signal, calibrate });
    const { record, text } = await keepResults(ran);
    console.log(text);
    return read.options.isPublished && !isPublished(record) ? record.exitCode || EXIT.notDone : record.exitCode;
  } catch (error) {
    console.error(`loadtest: ${error instanceof Error ? error.message : error}`);
    return EXIT.notDone;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.removeListener(signal, stop);
  }
}

function isPublished(record: RunRecord): boolean {
  try {
    publishRun(record, PAGE);
    return true;
  } catch (error) {
    console.error(`loadtest: not published: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

function say(text: string): void {
  console.log(`  ${text}`);
}

/** How `npm run loadtest` describes itself. */
export const LOADTEST: Omit<Program, 'takes'> = {
  command: 'npm run loadtest --',
  usage: '<script> [options]',
  about: [
    '',
    ...columns(Object.entries(SCRIPTS).map(([name, { purpose }]) => [name, purpose] as const)),
    '',
    'The variables in brackets say the same; ADMIN_TOKEN is only taken from there. Each run leaves a folder with',
    'report.html and run.json. A run whose generator spoiled it is undecided.',
  ],
  options: OPTIONS,
};
