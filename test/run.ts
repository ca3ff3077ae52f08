/**
 * `npm test`: installs missing servers, runs the test files with node's own runner, and judges the run as a whole: the
 * number of tests, the skips, and the processes and files left over.
 *
 *     npm test                                          every test file but *.slow.test.ts
 *     npm test -- --all                                 these too: npm run test:all
 *     npm test -- --quick                               only files that start no server, no browser, no other program
 *     npm test -- test/cache 'test/http/*budget*'       the test files of files, folders and patterns
 *     npm test -- --test-name-pattern=follower          options of node's own runner; see npm test -- --help
 *
 * A process of this run is recognised by its environment, or by its working directory, because some servers overwrite
 * their environment. For this, all temporary folders of a run are in one folder.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout as sleep } from 'node:timers/promises';
import { k6Program } from '../loadtest/runner/k6-program.ts';
import { manticoreFolder } from '../loadtest/stack/sphinx.ts';
import { EXIT, refuse } from '../src/commands/arguments.ts';
import floor from './floor.json' with { type: 'json' };
import { OPTIONAL_FILE, type OptionalSuite } from './optional.ts';
import { type FinishedRun, judge, type SkippedTest } from './runner/judge.ts';
import { type RequestedRun, requestedRun, TEST_PROGRAM } from './runner/requested-run.ts';
import type { Unit } from './runner/units.ts';

/** Processes of test files at once. Many of them wait for servers most of the time. */
const CONCURRENT_UNITS = 5;
/**
 * A run without an event for this time hangs. Node's own timeout is for tests, and an open handle outlives them. Node
 * reports the processes in turn, so that a long first one hides the progress of the others.
 */
const SILENCE_MS = 10 * 60_000;
/** Maximum number of failed tests that the end of a run names. */
const NAMED_FAILURES = 40;
/** Time for a server to end that was stopped after the last test. */
const GRACE_MS = 3000;
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'serpcache-test-'));
const marker = `SERPCACHE_TEST_RUN=${folder}`;

try {
  const requested = requestedRun(process.argv.slice(2), root);
  process.exitCode = requested.kind === 'run' ? await completeRun(requested) : refuse(requested, TEST_PROGRAM);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function completeRun(requested: RequestedRun): Promise<number> {
  if (requested.parts.length > 0) {
    const install = [join(root, 'loadtest/stack/install.ts'), ...requested.parts];
    if (spawnSync(process.execPath, install, { stdio: 'inherit' }).status !== 0) return EXIT.notDone;
  }
  if (requested.parts.includes('sphinx') && !unpackedManticore()) return EXIT.notDone;
  if (requested.startsK6 && !(await builtK6())) return EXIT.notDone;
  const before = new Set(untrackedFiles());
  const ran = await runUnits(requested);
  const left = (await endSurvivors()).map((line) => `a test left a process running, ended now: ${line}`);
  const { faults, notes, lastLine } = judge(
    {
      ...ran,
      scope: requested.scope,
      narrowed: requested.narrowed,
      skipsAllowed: !process.env['CI'] || process.getuid?.() !== 0,
      optional: optionalSuites(),
      newFiles: untrackedFiles().filter((file) => !before.has(file)),
    },
    floor,
  );
  for (const line of [...notes, ...left, ...(ran.stopped ? [] : faults)]) console.log(`serpcache: ${line}`);
  if (lastLine !== undefined) console.log(`serpcache: ${lastLine}`);
  for (const name of ran.failed.slice(0, NAMED_FAILURES)) console.log(`serpcache: failed: ${name}`);
  if (ran.failed.length > NAMED_FAILURES) console.log(`serpcache: and ${ran.failed.length - NAMED_FAILURES} more`);
  return ran.passed && left.length + faults.length === 0 ? EXIT.passed : EXIT.failed;
}

/** Builds k6 before the run, because two files would build it at the same time. */
async function builtK6(): Promise<boolean> {
  try {
    await k6Program(process.env['K6'] || undefined, (text) => console.error(`serpcache: ${text}`));
    return true;
  } catch (error) {
    console.error(`serpcache: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

/** Unpacks Manticore before the run, because several files would unpack it at the same time. */
function unpackedManticore(): boolean {
  try {
    process.env['SERPCACHE_MANTICORE'] = manticoreFolder() ?? '';
    return true;
  } catch (error) {
    console.error(`serpcache: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

interface RanFiles extends Pick<FinishedRun, 'tests' | 'testsOf' | 'skips'> {
  readonly passed: boolean;
  /** Stopped for its silence or by a signal, so that some files are missing. */
  readonly stopped: boolean;
  /** The failed tests: the file, and the names of the suites and of the test. */
  readonly failed: readonly string[];
}

async function runUnits({ quick, units, node }: RequestedRun): Promise<RanFiles> {
  const entries = new Map(units.map((unit, index) => [entryOf(unit, index), unit]));
  const testsOf = new Map(units.flat().map((file) => [file, 0]));
  let tests = 0;
  const skips: SkippedTest[] = [];
  const failed: string[] = [];
  let passed = false;
  // When the signal aborts, node's runner names the running files and the reason.
  const stop = new AbortController();
  const why = `no test has ended for ${SILENCE_MS / 60_000} minutes; the tests are stopped`;
  const silence = setTimeout(() => stop.abort(new Error(why)), SILENCE_MS);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => stop.abort(new Error(signal)));

  const events = run({
    ...node,
    concurrency: node.concurrency ?? CONCURRENT_UNITS,
    cwd: root,
    files: [...entries.keys()],
    signal: stop.signal,
    execArgv: quick ? ['--import', join(import.meta.dirname, 'runner/no-programs.ts')] : [],
    // With compiled modules kept for all files and the next run, a file starts in half the time.
    env: {
      ...process.env,
      TMPDIR: folder,
      SERPCACHE_TEST_RUN: folder,
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
    },
  });
  events.on('data', () => silence.refresh());
  const skipped = (event: { file?: string; name: string; skip?: string | boolean; todo?: string | boolean }): void => {
    const kind = event.todo === undefined ? 'skip' : 'todo';
    const reason = event[kind];
    if (reason === undefined || reason === false) return;
    skips.push({ kind, file: shown(event.file), name: event.name, reason: reason === true ? '' : reason });
  };
  const counted = ({ file, name, details }: { file?: string; name: string; details: { type?: string } }): void => {
    const before = testsOf.get(shown(file));
    // Node reports a process without tests as a test by the name of its module.
    if (before === undefined || entries.has(name) || details.type === 'suite') return;
    testsOf.set(shown(file), before + 1);
  };
  events.on('test:pass', (event) => {
    counted(event);
    skipped(event);
  });
  // Node reports the tests of a process in order, a suite before its tests.
  const path: string[] = [];
  events.on('test:start', ({ nesting, name }) => path.splice(nesting, path.length, name));
  events.on('test:fail', (event) => {
    counted(event);
    skipped(event);
    if (Object(event.details.error).failureType === 'subtestsFailed') return;
    const unit = entries.get(event.name);
    if (unit === undefined) {
      failed.push(`${shown(event.file)}: ${[...path.slice(0, event.nesting), event.name].join(' > ')}`);
      return;
    }
    // Files whose process ended before their tests do not count as files without tests.
    for (const file of unit) if (testsOf.get(file) === 0) testsOf.delete(file);
    failed.push(unit.join(', '));
  });
  events.on('test:summary', ({ file, counts, success }) => {
    if (file === undefined) {
      passed = success;
      return;
    }
    tests += counts.tests;
    // A file alone in its process registers all its tests, also those that are written in another module.
    const [only, ...others] = entries.get(file) ?? [];
    if (only !== undefined && others.length === 0) testsOf.set(only, counts.tests);
  });
  await pipeline(events, new spec(), process.stdout, { end: false });
  clearTimeout(silence);
  return { tests, testsOf, skips, passed, stopped: stop.signal.aborted, failed };
}

/** The module that runs the files of a unit. It imports all of them before the first test begins. */
function entryOf(unit: Unit, index: number): string {
  const paths = unit.map((file) => join(root, file));
  if (paths.length === 1) return paths.join();
  const entry = join(folder, `unit-${index}.mjs`);
  writeFileSync(entry, paths.map((path) => `import ${JSON.stringify(path)};\n`).join(''));
  return entry;
}

function shown(file = ''): string {
  return relative(root, file);
}

function optionalSuites(): OptionalSuite[] {
  const file = join(folder, OPTIONAL_FILE);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as OptionalSuite).map((suite) => ({ ...suite, file: shown(suite.file) }));
}

/** Untracked files that git does not ignore; without git, the entries of the project's folder. */
function untrackedFiles(): string[] {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.split('\0').filter(Boolean) : readdirSync(root);
}

/** @returns a line for each process that had to be ended. */
async function endSurvivors(): Promise<string[]> {
  const deadline = performance.now() + GRACE_MS;
  let left = survivors();
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(100);
    left = survivors();
  }
  const lines = left.map((pid) => `${pid} ${read(pid, 'cmdline').replaceAll('\0', ' ').trim()}`);
  for (const pid of left) process.kill(pid, 'SIGKILL');
  return lines;
}

function survivors(): number[] {
  const pids = listPids().filter((pid) => pid !== process.pid);
  return pids.filter((pid) => {
    const state = /^\d+ \(.*\) (\S)/s.exec(read(pid, 'stat'))?.[1];
    if (state === undefined || state === 'Z') return false;
    return read(pid, 'environ').split('\0').includes(marker) || `${workingFolder(pid)}${sep}`.startsWith(folder + sep);
  });
}

/** All processes; none on a system without /proc. */
function listPids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function workingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
