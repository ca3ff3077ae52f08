import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { EXIT, refuse } from '../../../src/commands/arguments.ts';
import { inPath } from '../../stack/go-program.ts';
import { stopOnSignals } from '../../stack/process.ts';
import { type Described, described, type LabArguments, readArguments } from './arguments.ts';
import type { FindingRecord } from './finding.ts';
import { checkOut, keepFinding } from './keep.ts';
import { type Cores, coresOf, type Experiment, inLab } from './lab.ts';
import { commitOf, machineWords } from './machine.ts';
import { othersCores, processorTimes } from './meters.ts';
import { printFinding } from './print.ts';
import { checkPage, publishFinding } from './publish.ts';

interface LabCommand extends Described {
  /** The page that `--publish` writes; its plots and records are beside it. */
  readonly page: string;
  /** Programs whose versions the figures depend on. */
  readonly programs: readonly string[];
}

/** An experiment should take at most two minutes; after this time it is stopped. */
const LIMIT_MS = 12 * 60_000;
const ROOT = join(import.meta.dirname, '..', '..', '..');
const INSTALL = join(ROOT, 'loadtest', 'stack', 'install.ts');

/** Runs the named experiments in turn. @returns the exit status: 0 when every row was measured. */
export async function labCommand(command: LabCommand, argv: readonly string[], allowed: string): Promise<number> {
  const read = await readArguments(argv, Object.keys(command.experiments), command.comparing);
  if (read.kind !== 'run') return refuse(read, described(command));
  const fault = await cannotBegin(command.page, read.arguments);
  if (fault !== undefined) {
    console.error(`${command.program}: ${fault}`);
    return EXIT.notDone;
  }
  using stopping = stopOnSignals(say);
  const cores = coresOf(allowed);
  if (cores.store === cores.generator) say('one processor for stores and generators: every row is limited by both');
  const commit = commitOf(ROOT);
  const failed: string[] = [];
  for (const name of read.arguments.names) {
    if (stopping.signal.aborted) {
      failed.push(`${name}: not begun`);
      continue;
    }
    const step = { command, name, read: read.arguments, cores, allowed, commit, stopping: stopping.signal };
    const problem = await runOne(step);
    if (problem !== undefined) failed.push(`${name}: ${problem}`);
  }
  for (const line of failed) console.error(`${command.program}: not measured: ${line}`);
  return failed.length === 0 ? EXIT.passed : EXIT.undecided;
}

interface Step {
  readonly command: LabCommand;
  readonly name: string;
  readonly read: LabArguments;
  readonly cores: Cores;
  /** Processors that this process may use, as a list for taskset. */
  readonly allowed: string;
  readonly commit: string | undefined;
  readonly stopping: AbortSignal;
}

/** @returns why it could not be measured. */
async function runOne(step: Step): Promise<string | undefined> {
  const { command, name, read } = step;
  const experiment = command.experiments[name];
  if (experiment === undefined) return 'there is none';
  try {
    if (experiment.parts.length > 0) {
      const installed = spawnSync(process.execPath, [INSTALL, ...experiment.parts], { stdio: 'inherit' });
      if (installed.status !== 0) return `${experiment.parts.join(', ')} could not be installed`;
    }
    const missing = await experiment.cannotRun?.();
    if (missing !== undefined) return missing;
    say(`${name}: ${experiment.varies}`);
    const record = await measure(step, experiment);
    console.log(`\n${printFinding(record)}\n`);
    const problems = [
      ...(await problemOf(async () => say(`kept in ${await keepFinding(record, read.out, Date.now())}`))),
      // Also when it could not be kept, because it was measured and printed.
      ...(await problemOf(() => read.isPublished && publishFinding(record, command.page))),
    ];
    const unmeasured = record.finding.tables.flatMap(({ rows }) =>
      rows.filter(({ values }) => values.every((value) => value === undefined)).map((row) => row.name),
    );
    if (unmeasured.length > 0) problems.push(`no figure for ${unmeasured.join('; ')} (the notes say why)`);
    return problems.length === 0 ? undefined : problems.join('; ');
  } catch (error) {
    return messageOf(error);
  }
}

async function problemOf(work: () => unknown): Promise<string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

async function measure(step: Step, experiment: Experiment): Promise<FindingRecord> {
  const { command, name, read, cores, allowed, commit, stopping } = step;
  const before = processorTimes(allowed);
  const startedAt = new Date().toISOString();
  const startedMs = performance.now();
  const finding = await inLab(
    {
      cores,
      say: (text) => say(`  ${text}`),
      signal: AbortSignal.any([stopping, AbortSignal.timeout(LIMIT_MS)]),
      servers: read.servers,
      ...(read.rowSeconds !== undefined && { rowSeconds: read.rowSeconds }),
    },
    experiment.run,
  );
  const others = othersCores(before, processorTimes(allowed));
  return {
    version: 2,
    finding: { name, ...finding },
    machine: await machineWords([...command.programs, ...read.servers]),
    startedAt,
    tookSeconds: (performance.now() - startedMs) / 1000,
    ...(others !== undefined && { othersCores: others }),
    commit,
    command: `npm run ${command.program} -- ${name}${read.rowSeconds === undefined ? '' : ` --seconds ${read.rowSeconds}`}`,
  };
}

function say(text: string): void {
  console.error(`  ${text}`);
}

/** Checks before minutes of measurement. @returns the problem in one line. @param page the page for `--publish`. */
export async function cannotBegin(
  page: string,
  { out, names, isPublished }: Pick<LabArguments, 'out' | 'names' | 'isPublished'>,
): Promise<string | undefined> {
  if ((await inPath('taskset')).length === 0) return 'there is no taskset: install what Debian calls util-linux';
  const [outProblem] = await problemOf(() => checkOut(out));
  if (outProblem !== undefined) return `--out ${out} cannot be written: ${outProblem}`;
  const [pageProblem] = await problemOf(() => isPublished && checkPage(page, names));
  return pageProblem === undefined ? undefined : `--publish: ${pageProblem}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
