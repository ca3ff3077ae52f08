import { join } from 'node:path';
import { EXIT, type Option, type ParsedArguments, runProgram, UsageError } from '../../../src/commands/arguments.ts';
import { isProgram } from '../../stack/go-program.ts';
import { areInstalled } from '../../stack/parts.ts';
import { stopOnSignals } from '../../stack/process.ts';
import { processorsHere } from '../../stack/processors.ts';
import type { FindingRecord } from './finding.ts';
import { checkOut, keepFinding } from './keep.ts';
import { coresOf, type Experiment, inLab, type LabOptions } from './lab.ts';
import { commitOf, machineWords } from './machine.ts';
import { othersCores, processorTimes } from './meters.ts';
import { columns, printFinding } from './print.ts';
import { checkPage, publishFinding } from './publish.ts';

interface LabCommand {
  /** The npm script: `experiments`. */
  readonly program: string;
  readonly about: string;
  readonly experiments: Readonly<Record<string, Experiment>>;
  readonly comparing: readonly string[];
  /** The page that `--publish` writes; its plots and records are beside it. */
  readonly page: string;
  /** Programs whose versions the figures depend on. */
  readonly programs: readonly string[];
}

const ALL = 'all';
const SECONDS = { least: 0.1, most: 60 } as const;
const OPTIONS: readonly Option[] = [
  {
    name: 'seconds',
    takes: 'n',
    about: `duration of each row in seconds, ${SECONDS.least} to ${SECONDS.most}; default: its own`,
  },
  { name: 'server', takes: 'path,…', about: 'further Redis-protocol servers to compare' },
  { name: 'out', takes: 'folder', about: 'where tables and plots are kept (loadtest/results)' },
  { name: 'publish', about: 'show the results on the page that stands beside the code' },
];

/** An experiment should take at most two minutes; after this time it is stopped. */
const LIMIT_MS = 12 * 60_000;
const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Runs the experiments that the arguments of this process name, in turn. @returns the exit status: 0 when every row was measured. */
export function labCommand(command: LabCommand): Promise<number> {
  const argv = process.argv.slice(2);
  const names = Object.entries(command.experiments).map(([name, { varies }]) => [name, varies] as const);
  return runProgram(
    {
      command: `npm run ${command.program} --`,
      usage: '<name…|all> [options]',
      about: [command.about, '', ...columns(names)],
      options: OPTIONS.filter(({ name }) => name !== 'server' || command.comparing.length > 0),
      takes: { min: 0, max: Number.POSITIVE_INFINITY },
    },
    (words) => runAll(command, words),
    argv.length === 0 && names.length > 1 ? ['--help'] : argv,
  );
}

/** @throws UsageError with all faults. */
export async function wishOf(
  { experiments, comparing }: Pick<LabCommand, 'experiments' | 'comparing'>,
  words: ParsedArguments,
) {
  const known = Object.keys(experiments);
  const wanted = words.positionals.length === 0 && known.length === 1 ? known : words.positionals;
  const there = `${known.join(', ')}, or ${ALL}`;
  const names = known.filter((name) => wanted.includes(ALL) || wanted.includes(name));
  const servers = words.text('server')?.split(',') ?? [];
  const faults = wanted
    .filter((name) => name !== ALL && !known.includes(name))
    .map((name) => `there is no "${name}"; there are ${there}`);
  if (wanted.length === 0) faults.push(`which? There are ${there}`);
  if (words.has('seconds') && words.has('publish'))
    faults.push('--publish goes without --seconds: a page shows rows measured as long as they should be');
  if (servers.length > 0 && names.length > 0 && !names.some((name) => comparing.includes(name)))
    faults.push(`--server: nothing here compares servers but ${comparing.join(', ')}`);
  for (const path of servers)
    if (!(path.includes('/') && (await isProgram(path))))
      faults.push(`--server: "${path}" is not allowed; the path of a program is, such as /opt/bin/keydb-server`);
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return {
    /** In the order of the registry. */
    names,
    servers,
    rowSeconds: words.number('seconds', SECONDS),
    isPublished: words.has('publish'),
    out: words.text('out') ?? 'loadtest/results',
  };
}

async function runAll(command: LabCommand, words: ParsedArguments): Promise<number> {
  const wish = await wishOf(command, words);
  checkOut(wish.out);
  if (wish.isPublished) checkPage(command.page, wish.names);
  using stopping = stopOnSignals(say);
  const cores = coresOf(processorsHere());
  if (cores.store === cores.generator) say('one processor for stores and generators: every row is limited by both');
  const commit = commitOf(ROOT);
  const failed: string[] = [];
  for (const [name, experiment] of Object.entries(command.experiments)) {
    if (!wish.names.includes(name)) continue;
    try {
      stopping.signal.throwIfAborted();
      const { parts } = experiment;
      if (!areInstalled(parts)) throw new Error(`${parts.join(', ')} could not be installed`);
      const missing = await experiment.cannotRun?.();
      if (missing !== undefined) throw new Error(missing);
      say(`${name}: ${experiment.varies}`);
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(LIMIT_MS)]);
      const measured = await measure(experiment, { ...wish, cores, signal, say: (text) => say(`  ${text}`) });
      const record: FindingRecord = {
        version: 2,
        finding: { name, ...measured.finding },
        machine: await machineWords([...command.programs, ...wish.servers]),
        ...measured.load,
        commit,
        command: `npm run ${command.program} -- ${name}${wish.rowSeconds === undefined ? '' : ` --seconds ${wish.rowSeconds}`}`,
      };
      console.log(`\n${printFinding(record)}\n`);
      say(`kept in ${await keepFinding(record, wish.out, Date.now())}`);
      if (wish.isPublished) publishFinding(record, command.page);
      const unmeasured = record.finding.tables.flatMap(({ rows }) =>
        rows.filter(({ values }) => values.every((value) => value === undefined)).map((row) => row.name),
      );
      if (unmeasured.length > 0) failed.push(`${name}: no figure for ${unmeasured.join('; ')} (the notes say why)`);
    } catch (error) {
      failed.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  for (const line of failed) console.error(`${command.program}: not measured: ${line}`);
  return failed.length === 0 ? EXIT.passed : EXIT.undecided;
}

async function measure(experiment: Experiment, options: LabOptions) {
  const before = processorTimes(processorsHere());
  const startedAt = new Date().toISOString();
  const startedMs = performance.now();
  const finding = await inLab(options, experiment.run);
  const others = othersCores(before, processorTimes(processorsHere()));
  return { finding, load: { startedAt, tookSeconds: (performance.now() - startedMs) / 1000, othersCores: others } };
}

function say(text: string): void {
  console.error(`  ${text}`);
}
