import { join } from 'node:path';
import { EXIT, refuse } from '../../src/commands/arguments.ts';
import type { RunRecord } from '../judge/record.ts';
import { checkSections } from '../labs/kit/publish.ts';
import { publishRun } from '../report/section.ts';
import { stopOnSignals } from '../stack/process.ts';
import { LOADTEST, readArguments } from './arguments.ts';
import { keepResults } from './keep-results.ts';
import { run } from './run.ts';

/**
 * `npm run loadtest -- <script>`: runs a k6 script of loadtest/k6 against the local stack, which it starts and takes down,
 * or against given addresses, and leaves a folder with the report. Options: arguments.ts.
 */

const PAGE = join(import.meta.dirname, '..', 'README.md');

// The reader of the output (a pipe, a terminal) may close: the stack must be taken down all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.exitCode = await main();

async function main(): Promise<number> {
  const read = readArguments(process.argv.slice(2), process.env);
  if (read.kind !== 'run') return refuse(read, LOADTEST);
  using stopping = stopOnSignals(say);
  try {
    if (read.options.isPublished) checkSections(PAGE, [read.options.script]);
    const ran = await run(read.options, { say, signal: stopping.signal });
    const { record, text } = await keepResults(ran);
    console.log(text);
    return read.options.isPublished && !isPublished(record) ? record.exitCode || EXIT.notDone : record.exitCode;
  } catch (error) {
    console.error(`loadtest: ${error instanceof Error ? error.message : error}`);
    return EXIT.notDone;
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
