import { readFile, rm, writeFile } from 'node:fs/promises';
import { arch, availableParallelism, release, totalmem, type } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { EXIT, refuse } from '../../src/commands/arguments.ts';
import { compareRuns } from '../judge/compare.ts';
import { judge } from '../judge/judge.ts';
import { CannotRun, type Machine, type RunRecord, type Second } from '../judge/record.ts';
import { finalVerdict, withinLimit } from '../judge/verdict.ts';
import type { Verdict } from '../k6/kit/summary.ts';
import { commitOf, machineWords } from '../labs/kit/machine.ts';
import { checkSections } from '../labs/kit/publish.ts';
import { reportPage } from '../report/page.ts';
import { runText } from '../report/print-run.ts';
import { publishRun } from '../report/section.ts';
import { stopOnSignals } from '../stack/process.ts';
import { commandLine, LOADTEST, readArguments } from './arguments.ts';
import { K6_FILES, logTail, readSummary, secondsOf } from './k6-output.ts';
import type { K6End } from './k6-process.ts';
import type { Pins } from './local-stack.ts';
import { type Ran, run } from './run.ts';

/**
 * `npm run loadtest -- <script>`: runs a k6 script of loadtest/k6 against the local stack, which it starts and takes down,
 * or against given addresses, and leaves a folder with the report. Options: arguments.ts.
 */

const PAGE = join(import.meta.dirname, '..', 'README.md');

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

const EXIT_CODES: Readonly<Record<Verdict['kind'], number>> = {
  passed: EXIT.passed,
  failed: EXIT.failed,
  invalid: EXIT.undecided,
};

/**
 * Makes the record of a run from k6's files and the samples, and writes `run.json` and `report.html`.
 * @returns the record, and a text for the terminal.
 * @throws CannotRun with the last lines of k6's log when k6 has left no summary.
 */
async function keepResults(ran: Ran): Promise<{ readonly record: RunRecord; readonly text: string }> {
  const { options, folder, program, pins, base, end, samples, events, against } = ran;
  const summary = await readSummary(folder.path);
  if (summary === undefined) {
    const why = end.cut === undefined ? '' : `, it was ended (${CUT[end.cut]})`;
    throw new CannotRun(`k6 left no summary in ${folder.path}${why}:\n${await logTail(folder.path)}`);
  }
  const machine = await machineHere(program.version, pins);
  const verdict = unlessCut(end, withinLimit(finalVerdict(summary.verdict, { summary, samples, machine }), samples));
  const commit = commitOf(join(import.meta.dirname, '..', '..'));
  const record: RunRecord = {
    version: 1,
    id: folder.id,
    // With the seed that was used, so that a repetition sends the same searches.
    command: commandLine({ ...options, numbers: { ...options.numbers, seed: summary.queries.seed } }),
    commit,
    stack: options.stack,
    machine,
    summary,
    seconds: await secondsKept(join(folder.path, K6_FILES.seconds)),
    samples,
    events,
    base,
    verdict,
    exitCode: EXIT_CODES[verdict.kind],
  };
  // Written first: if drawing the report fails, it can be drawn again.
  await writeFile(join(folder.path, 'run.json'), JSON.stringify(record));
  const judged = judge(record);
  const reportFile = join(folder.path, 'report.html');
  await writeFile(reportFile, reportPage({ record, judged, against: against && compareRuns(record, against) }));
  return { record, text: runText({ record, judged, reportFile: relative(process.cwd(), reportFile) }) };
}

const CUT: Readonly<Record<NonNullable<K6End['cut']>, string>> = {
  'by hand': 'stopped by hand',
  'too long': 'it took much longer than planned',
};

/** A run that was cut short is invalid, whatever the script found. */
function unlessCut({ cut }: K6End, found: Verdict): Verdict {
  if (cut === undefined) return found;
  const more = found.kind === 'invalid' ? found.reasons : [];
  return { kind: 'invalid', detail: 'This run was not finished.', reasons: [CUT[cut], ...more] };
}

/** Compresses the record of k6's dashboard and reads it; without the file the run has no seconds. */
async function secondsKept(file: string): Promise<readonly Second[]> {
  const record = await readFile(file).catch(() => undefined);
  if (record === undefined) return [];
  await writeFile(`${file}.gz`, await promisify(gzip)(record));
  await rm(file);
  return secondsOf(record.toString());
}

/** Programs of the local stack: the figures depend on their versions. */
const PROGRAMS = ['node', 'redis-server', 'valkey-server', 'searchd'];

async function machineHere(k6Version: string, pins: Pins | undefined): Promise<Machine> {
  return {
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${type()} ${release().split('.').slice(0, 2).join('.')}, ${arch()}`,
    k6: k6Version,
    words: `${await machineWords(PROGRAMS)}, k6 ${k6Version.replace(/^v/, '')}`,
    ...pins,
  };
}

// The reader of the output (a pipe, a terminal) may close: the stack must be taken down all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.exitCode = await main();
