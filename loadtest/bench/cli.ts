/**
 * `npm run bench [-- l1 control l2 page signing] [--commit | --checkout FOLDER]`: hits through the whole service against the least a Node server
 * can do, with one page of about 4 KB. Server on one processor, client (and store) on another, rounds alternated, ratios within
 * each start: absolute rates of a shared machine say little. Needs wrk and two processors; load goes to loopback only.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT, type ParsedArguments, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { commitOf } from '../labs/kit/machine.ts';
import { inPath } from '../stack/go-program.ts';
import { processorsHere, processorsOf } from '../stack/processors.ts';
import { BENCHES, type Bench, versionBenches } from './benches.ts';
import { MEASURED_SECONDS, measureStart, type StartMeasured } from './measure.ts';
import { type BenchCores, createServers } from './servers.ts';
import {
  COMMITTED_STARTS,
  committedOf,
  differs,
  exitStatusOf,
  figureOf,
  readCommitted,
  STARTS,
  type Verdict,
  verdictOf,
  writeCommitted,
} from './verdict.ts';

const PROGRAM: Program = {
  command: 'npm run bench --',
  usage: `[${Object.keys(BENCHES).join('] [')}] [--commit | --checkout FOLDER]`,
  about: [
    'Hits through the whole service against bare Node servers; those with a committed figure unless named, in 6 minutes.',
    'Passed: as fast as committed; negative: slower by more than the committed noise. Installs Redis and wrk.',
  ],
  options: [
    { name: 'commit', about: 'measure twice as many starts, and write the committed figures' },
    {
      name: 'checkout',
      takes: 'FOLDER',
      about: 'l1 and l2 against another checkout of serpcache, and that one against itself: what chance does',
    },
  ],
  takes: { min: 0, max: 64 },
};
const INSTALL = join(import.meta.dirname, '..', 'stack', 'install.ts');

process.exitCode = await runProgram(PROGRAM, main);

async function main({ positionals: named, has, text }: ParsedArguments): Promise<number> {
  const isCommitting = has('commit');
  const unknown = named.filter((name) => !Object.hasOwn(BENCHES, name));
  if (unknown.length > 0) {
    throw new UsageError(`no bench "${unknown.join(', ')}"; allowed: ${Object.keys(BENCHES).join(', ')}`);
  }
  const cores = await benchCores();
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  // By exiting: all servers end with this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(EXIT.undecided));
  const other = text('checkout');
  if (other !== undefined) return compareVersions(other, named, { folder, cores });
  const verdicts: Verdict[] = [];
  const commit = commitOf(join(import.meta.dirname, '..', '..'));
  for (const [name, bench] of Object.entries(BENCHES)) {
    // A bench without a committed figure is not judged, so it runs only by name.
    if (named.length === 0 ? Object.hasOwn(readCommitted(), name) : named.includes(name))
      verdicts.push(await run({ name, bench, folder, cores, commit, isCommitting }));
  }
  return exitStatusOf(verdicts);
}

/** Negative when a median of this checkout lies outside of all starts of the other checkout against itself. */
async function compareVersions(
  other: string,
  named: readonly string[],
  where: Pick<Run, 'folder' | 'cores'>,
): Promise<number> {
  let status: number = EXIT.passed;
  for (const name of ['l1', 'l2'] as const) {
    if (named.length > 0 && !named.includes(name)) continue;
    const ratios = { ours: [] as number[], same: [] as number[] };
    for (const [kind, first] of [
      ['same', other],
      ['ours', undefined],
    ] as const) {
      const bench = versionBenches(first, other)[name];
      console.log(`${bench.title}, ${kind === 'ours' ? 'this checkout' : 'the other'} against the other checkout:`);
      await measureStarts({ bench, isCommitting: false, ...where }, ratios[kind]);
    }
    const [ours, same] = [figureOf(ratios.ours).figure, figureOf(ratios.same).figure];
    const isDifferent = differs(ratios.ours, ratios.same);
    const range = `${Math.min(...ratios.same).toFixed(3)} to ${Math.max(...ratios.same).toFixed(3)}`;
    console.log(
      `  ${isDifferent ? 'different' : 'equal'}: median ${ours.toFixed(3)}; the other against itself ${same.toFixed(3)} (${range})`,
    );
    if (isDifferent !== false) status = EXIT.failed;
  }
  return status;
}

/** @throws when nothing can be measured here. */
async function benchCores(): Promise<BenchCores> {
  const { status } = spawnSync(process.execPath, [INSTALL, 'redis', 'wrk'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('redis and wrk are needed, see above');
  if ((await inPath('taskset')).length === 0) {
    throw new Error('there is no taskset: install what Debian calls util-linux');
  }
  const [server, client] = processorsOf(processorsHere());
  if (server === undefined || client === undefined) throw new Error('two processors are needed');
  return { server, client };
}

interface Run {
  readonly name: string;
  readonly bench: Bench;
  readonly folder: string;
  readonly cores: BenchCores;
  readonly commit: string | undefined;
  readonly isCommitting: boolean;
}

async function run(wanted: Run): Promise<Verdict> {
  const { name, bench, commit, isCommitting } = wanted;
  console.log(`${bench.title}, against ${bench.baseline}, by requests per second of processor time:`);
  const startedAt = new Date().toISOString();
  const starts: number[] = [];
  let verdict: Verdict;
  try {
    await measureStarts(wanted, starts);
    if (isCommitting) {
      writeCommitted(name, await committedOf({ name, commit, starts, seconds: MEASURED_SECONDS, startedAt }));
    }
    verdict = verdictOf(starts, readCommitted()[name]);
  } catch (error) {
    verdict = { kind: 'not judged', reason: error instanceof Error ? error.message : String(error) };
  }
  console.log(`  ${verdictText(verdict, starts)}`);
  return verdict;
}

/** Adds the ratio of each start. @throws at the first that cannot be measured: the others would be too few. */
async function measureStarts(
  { bench, folder, cores, isCommitting }: Pick<Run, 'bench' | 'folder' | 'cores' | 'isCommitting'>,
  ratios: number[],
): Promise<void> {
  await using shared = createServers(folder, cores);
  const start = await bench.prepare(shared);
  for (let count = 0; count < (isCommitting ? COMMITTED_STARTS : STARTS); count += 1) {
    await using servers = createServers(folder, cores);
    const measured = await measureStart(bench, await start(servers), { folder, cores });
    ratios.push(measured.serpcache.perCpu / measured.bare.perCpu);
    console.log(`  start ${ratios.length}: ${textOf(bench, measured)}`);
  }
}

function textOf({ outcome }: Bench, { serpcache, bare, share }: StartMeasured): string {
  const [byCpu, byRate] = [serpcache.perCpu / bare.perCpu, serpcache.perSecond / bare.perSecond];
  const rates = [serpcache.perCpu, bare.perCpu, serpcache.perSecond, bare.perSecond].map(Math.round);
  return (
    `${byCpu.toFixed(3)} (${rates[0]} : ${rates[1]}); requests/s ${byRate.toFixed(3)} (${rates[2]} : ${rates[3]}); ` +
    `${(share * 100).toFixed(1)} % were ${outcome}`
  );
}

function verdictText(verdict: Verdict, starts: readonly number[]): string {
  const [median, lowest, highest] =
    starts.length === 0 ? [] : [figureOf(starts).figure, Math.min(...starts), Math.max(...starts)];
  const measured =
    median === undefined
      ? ''
      : `; the median of ${starts.length} starts is ${median.toFixed(3)} (${lowest?.toFixed(3)} to ${highest?.toFixed(3)})`;
  if (verdict.kind === 'not judged') return `not judged: ${verdict.reason}${measured}`;
  const { figure, noise } = verdict.committed;
  return `${verdict.kind}${measured}, committed is ${figure.toFixed(3)} with a noise of ${noise.toFixed(3)}`;
}
