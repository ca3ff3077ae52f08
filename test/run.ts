/**
 * `npm test`: installs missing servers, runs the test files with node's own runner, and judges the run as a whole: the
 * number of tests, the skips, and the processes and files left over.
 *
 *     npm test                                          every test file
 *     npm test -- --quick                               only files that start no server, no browser, no other program
 *     npm test -- test/cache 'test/http/*budget*'       the test files of files, folders and patterns
 *     npm test -- --test-name-pattern=follower          options of node's own runner; see npm test -- --help
 *
 * A process of this run is recognised by its environment, or by its working directory, because some servers overwrite
 * their environment. For this, all temporary folders of a run are in one folder.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
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
import { orderFiles, type RequestedRun, requestedRun, TEST_PROGRAM } from './runner/requested-run.ts';

/** Files mostly wait, for servers and for lifetimes. Three at once keep two cores busy; with more, tests are late. */
const CONCURRENT_FILES = 3;
/** Maximum time of the whole run, for a test that hangs. */
const LIMIT_MS = 13 * 60_000;
/** A file without an event for this time hangs. Node's own timeout is for tests, and an open handle outlives them. */
const SILENCE_MS = 4 * 60_000;
/** Time for a server to end that was stopped after the last test. */
const GRACE_MS = 3000;
/**
 * Options with which node refuses to start a program, for a quick run: a program may be started in a way that imports
 * do not show.
 */
const NO_PROGRAMS = [
  '--permission',
  '--allow-fs-read=*',
  '--allow-fs-write=*',
  '--allow-worker',
  '--disable-warning=PERM0006',
  // Node 25 and later deny the network as well.
  ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
];
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
  if (requested.startsPrograms) {
    const installed = spawnSync(process.execPath, [join(root, 'loadtest/stack/install.ts')], { stdio: 'inherit' });
    if (installed.status !== 0 || !unpackedManticore()) return EXIT.notDone;
  }
  if (requested.startsK6 && !(await builtK6())) return EXIT.notDone;
  const before = new Set(untrackedFiles());
  const ran = await runFiles(requested);
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

interface RanFiles extends Pick<FinishedRun, 'testsOf' | 'skips'> {
  readonly passed: boolean;
  /** Stopped by a limit or a signal, so that some files are missing. */
  readonly stopped: boolean;
}

async function runFiles({ quick, files, node }: RequestedRun): Promise<RanFiles> {
  const testsOf = new Map<string, number>(files.map((file) => [file, 0]));
  const skips: SkippedTest[] = [];
  let passed = false;
  // When the signal aborts, node's runner names the running files and the reason.
  const stop = new AbortController();
  const stopAfter = (ms: number, why: string): NodeJS.Timeout =>
    setTimeout(() => stop.abort(new Error(`${why} ${ms / 60_000} minutes; the tests are stopped`)), ms);
  const limit = stopAfter(LIMIT_MS, 'the tests took more than');
  const silence = stopAfter(SILENCE_MS, 'no test has ended for');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => stop.abort(new Error(signal)));

  const events = run({
    concurrency: CONCURRENT_FILES,
    ...node,
    cwd: root,
    files: orderFiles(files),
    signal: stop.signal,
    execArgv: quick ? NO_PROGRAMS : [],
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
  events.on('test:pass', skipped);
  events.on('test:fail', (event) => {
    // A file that failed before it registered a test does not count as a file without tests.
    if (testsOf.get(shown(event.file)) === 0) testsOf.delete(shown(event.file));
    skipped(event);
  });
  events.on('test:summary', ({ file, counts, success }) => {
    if (file === undefined) passed = success;
    else testsOf.set(shown(file), counts.tests);
  });
  await pipeline(events, new spec(), process.stdout, { end: false });
  clearTimeout(limit);
  clearTimeout(silence);
  return { testsOf, skips, passed, stopped: stop.signal.aborted };
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
