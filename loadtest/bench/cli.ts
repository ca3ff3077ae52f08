/**
 * `npm run bench [-- l1 l2 …]`: hits through the whole service beside the servers that one would use instead, with one page of about
 * 4 KB. Servers on one processor, client and stores on another, rounds alternated, ratios within each start: absolute
 * rates of a shared machine say little. Load goes to loopback only.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { EXIT, type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { percentText } from '../../src/report/format.ts';
import { commitOf } from '../labs/kit/machine.ts';
import { checkSections } from '../labs/kit/publish.ts';
import { inPath } from '../stack/go-program.ts';
import { areInstalled } from '../stack/parts.ts';
import { processorsHere, processorsOf } from '../stack/processors.ts';
import { BENCHES, type Bench, OTHER_CHECKOUT, SERPCACHE, versionBenches } from './benches.ts';
import type { Generator } from './load.ts';
import { MEASURED_SECONDS, measureStart, profileStart, type StartMeasured } from './measure.ts';
import { createProcesses } from './processes.ts';
import { PAGE, publishPage, SECTION, tableLines } from './tables.ts';
import { runTail, type Version } from './tail.ts';
import {
  type BenchResult,
  type BenchResults,
  COMMITTED_FILE,
  COMMITTED_STARTS,
  differs,
  exitStatusOf,
  figureOf,
  type Rates,
  ratiosOf,
  readResults,
  resultOf,
  STARTS,
  type Verdict,
  verdictOf,
  writeResult,
} from './verdict.ts';

/** The latency of hits beside other work: a program of its own, not a ratio that is judged. */
const TAIL = 'tail';
const PROGRAM: Program = {
  command: 'npm run bench --',
  usage: `[${Object.keys(BENCHES).join('] [')}] [option…] | ${TAIL} [--checkout FOLDER] [--node OPTION]`,
  about: [
    'Hits through the whole service beside other servers, by requests per second of processor time; without a name all',
    'but page and signing, in 35 minutes. Passed: as fast as committed; negative: slower by more than the committed noise.',
    'Installs the servers that are missing.',
  ],
  options: [
    { name: 'starts', takes: 'N', about: `starts of each bench (${STARTS}); fewer are not judged` },
    { name: 'commit', about: `${COMMITTED_STARTS} starts, written as the committed figures and into the page` },
    { name: 'out', takes: 'FILE', about: 'adds the results to this JSON file' },
    { name: 'against', takes: 'FILE', about: 'judges by the results in this file instead of the committed ones' },
    { name: 'profile', about: 'profiles the service once for each bench into data/profiles, and judges nothing' },
    {
      name: 'checkout',
      takes: 'FOLDER',
      about:
        'l1, l2 and miss against another checkout of serpcache, and that one against itself: what chance does; tail beside it',
    },
    { name: 'node', takes: 'OPTION', about: 'tail: this checkout a second time, with an option of Node' },
  ],
  takes: { min: 0, max: 64 },
};
const ROOT = resolve(import.meta.dirname, '..', '..');
const PARTS = ['redis', 'wrk', 'nginx', 'nginx-lua', 'varnish', 'sphinx'];
const FUNCTIONS = 20;

process.exitCode = await runProgram(PROGRAM, main);

interface Settings {
  readonly generator: Generator;
  readonly starts: number;
  readonly commit: string | undefined;
  readonly isCommitting: boolean;
  readonly out: string | undefined;
  readonly reference: BenchResults;
}

async function main(given: ParsedArguments): Promise<number> {
  const { positionals: named, has, text } = given;
  const isTail = named.length === 1 && named[0] === TAIL;
  const unknown = named.filter((name) => !isTail && !Object.hasOwn(BENCHES, name));
  if (unknown.length > 0) {
    throw new UsageError(`no bench "${unknown.join(', ')}"; allowed: ${Object.keys(BENCHES).join(', ')}`);
  }
  const starts = given.number('starts', { least: 1, most: 100, whole: true });
  const isCommitting = has('commit');
  if (isCommitting && starts !== undefined) throw new UsageError(`--commit takes ${COMMITTED_STARTS} starts`);
  if (isCommitting) checkSections(PAGE, [SECTION]);
  const reference = readResults(text('against') ?? COMMITTED_FILE);
  const cores = await benchCores();
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  // By exiting: all servers end with this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(EXIT.undecided));
  if (isTail) {
    console.log((await runTail(tailVersions(given), { folder, cores })).join('\n'));
    return EXIT.passed;
  }
  const settings: Settings = {
    generator: { folder, cores },
    starts: isCommitting ? COMMITTED_STARTS : (starts ?? STARTS),
    commit: commitOf(ROOT),
    isCommitting,
    out: text('out'),
    reference,
  };
  const chosen = Object.entries(BENCHES).filter(([name, { byName }]) =>
    named.length === 0 ? !byName : named.includes(name),
  );
  const other = text('checkout');
  if (other !== undefined) return compareVersions(resolve(other), named, settings);
  if (has('profile')) {
    for (const [name, bench] of chosen) await profile(name, bench, settings.generator);
    return EXIT.passed;
  }
  const verdicts: Verdict[] = [];
  let results: BenchResults = {};
  for (const [name, bench] of chosen) {
    const { verdict, result } = await run(name, bench, settings);
    verdicts.push(verdict);
    if (result !== undefined) results = { ...results, [name]: result };
  }
  console.log(tableLines(results).join('\n'));
  return exitStatusOf(verdicts);
}

function tailVersions({ text }: ParsedArguments): readonly Version[] {
  const [checkout, option] = [text('checkout'), text('node')];
  return [
    ...(checkout === undefined ? [] : [{ name: 'the other checkout', checkout: resolve(checkout) }]),
    { name: SERPCACHE },
    ...(option === undefined ? [] : [{ name: `with ${option}`, nodeOptions: [option] }]),
  ];
}

/** @throws when nothing can be measured here. */
async function benchCores(): Promise<Generator['cores']> {
  if (!areInstalled(PARTS)) throw new Error(`${PARTS.join(', ')} are needed, see above`);
  if ((await inPath('taskset')).length === 0) {
    throw new Error('there is no taskset: install what Debian calls util-linux');
  }
  const [server, client] = processorsOf(processorsHere());
  if (server === undefined || client === undefined) throw new Error('two processors are needed');
  return { server, client };
}

/** Without a result when a start could not be measured. */
async function run(name: string, bench: Bench, settings: Settings) {
  const { commit, isCommitting, out } = settings;
  console.log(`${name}: ${bench.title}, against ${bench.baseline}, by requests per second of processor time:`);
  const command = `npm run bench -- ${name}${isCommitting ? ' --commit' : ` --starts ${settings.starts}`}`;
  const startedAt = new Date().toISOString();
  const rates: Rates[] = [];
  let verdict: Verdict;
  let result: BenchResult | undefined;
  try {
    await measureStarts(bench, settings, rates);
    const how = { name, baseline: bench.baseline, subject: SERPCACHE, command, startedAt };
    result = await resultOf({ ...how, commit, rates, seconds: MEASURED_SECONDS });
    if (isCommitting) publishPage(writeResult(name, result));
    if (out !== undefined) writeResult(name, result, out);
    const reference = isCommitting ? result : settings.reference[name];
    verdict = verdictOf(result.starts, reference);
  } catch (error) {
    verdict = { kind: 'not judged', reason: error instanceof Error ? error.message : String(error) };
  }
  console.log(`  ${verdictText(verdict, ratiosOf(rates, SERPCACHE, bench.baseline))}`);
  return { verdict, result };
}

/** Adds the rates of each start. @throws at the first that cannot be measured: the others would be too few. */
async function measureStarts(
  bench: Bench,
  { generator, starts }: Pick<Settings, 'generator' | 'starts'>,
  rates: Rates[],
): Promise<void> {
  const { folder, cores } = generator;
  await using shared = createProcesses(folder, cores);
  const start = await bench.prepare(shared);
  for (let count = 0; count < starts; count += 1) {
    await using processes = createProcesses(folder, cores);
    const measured = await measureStart(bench, await start(processes), generator);
    rates.push(measured.perCpu);
    console.log(`  start ${rates.length}: ${startText(bench, measured)}`);
  }
}

/** `0.713 (38,211/s); net probe 1.72, …; 100 % were hit-l1`, each relative to the baseline. */
function startText({ baseline, outcome }: Bench, { perCpu, share, note }: StartMeasured): string {
  const ratioTo = (name: string): number => (perCpu[name] ?? 0) / (perCpu[baseline] ?? 0);
  const others = Object.keys(perCpu).filter((name) => name !== SERPCACHE && name !== baseline);
  return [
    `${ratioTo(SERPCACHE).toFixed(3)} (${perCpu[SERPCACHE]} : ${perCpu[baseline]})`,
    ...others.map((name) => `${name} ${ratioTo(name).toFixed(2)}`),
    `${percentText(share)} were ${outcome}`,
    ...(note === undefined ? [] : [note]),
  ].join('; ');
}

function verdictText(verdict: Verdict, starts: readonly number[]): string {
  const middle = starts.length === 0 ? '' : `${figureOf(starts).figure.toFixed(3)} (${rangeText(starts)})`;
  const measured = middle && `; the median of ${starts.length} starts is ${middle}`;
  if (verdict.kind === 'not judged') return `not judged: ${verdict.reason}${measured}`;
  const { figure, noise } = verdict.committed;
  return `${verdict.kind}${measured}, to compare with ${figure.toFixed(3)} and a noise of ${noise.toFixed(3)}`;
}

function rangeText(starts: readonly number[]): string {
  return `${Math.min(...starts).toFixed(3)} to ${Math.max(...starts).toFixed(3)}`;
}

async function profile(name: string, bench: Bench, generator: Generator): Promise<void> {
  const { folder, cores } = generator;
  await using processes = createProcesses(folder, cores, true);
  const start = await bench.prepare(processes);
  const file = join(ROOT, 'data', 'profiles', `${name}.cpuprofile`);
  const functions = await profileStart(await start(processes), generator, file);
  console.log(
    `${name}: ${bench.title}; share of the time that was not idle, by function; all in ${relative(ROOT, file)}`,
  );
  for (const one of functions.slice(0, FUNCTIONS)) console.log(`  ${percentText(one.share).padStart(7)}  ${one.name}`);
}

/** Negative when a median of this checkout lies below all starts of the other checkout against itself. */
async function compareVersions(other: string, named: readonly string[], settings: Settings): Promise<number> {
  let status: number = EXIT.passed;
  const names = ['l1', 'l2', 'miss'] as const;
  const unknown = named.filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0) throw new UsageError(`--checkout takes ${names.join(', ')}, not ${unknown.join(', ')}`);
  for (const name of names) {
    if (named.length > 0 && !named.includes(name)) continue;
    const ratios = { ours: [] as number[], same: [] as number[] };
    for (const [kind, first] of [
      ['same', other],
      ['ours', undefined],
    ] as const) {
      const bench = versionBenches(first, other)[name];
      console.log(`${bench.title}, ${kind === 'ours' ? 'this checkout' : 'the other'} against the other checkout:`);
      const rates: Rates[] = [];
      await measureStarts(bench, settings, rates);
      ratios[kind] = ratiosOf(rates, SERPCACHE, OTHER_CHECKOUT);
    }
    const [ours, same] = [figureOf(ratios.ours).figure, figureOf(ratios.same).figure];
    const isDifferent = differs(ratios.ours, ratios.same);
    const word = isDifferent ? (ours < same ? 'slower' : 'faster') : 'equal';
    console.log(
      `  ${word}: median ${ours.toFixed(3)}; the other against itself ${same.toFixed(3)} (${rangeText(ratios.same)})`,
    );
    if (isDifferent === undefined || word === 'slower') status = EXIT.failed;
  }
  return status;
}
