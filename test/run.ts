/**
 * `npm test`: installs the servers that are missing, runs node's own runner over every test file, and looks at what
 * that left behind. Arguments are passed on:
 * `npm test -- test/cache`, `npm test -- --test-name-pattern=follower`.
 *
 * Some servers overwrite their own environment, so a child is known by its working directory as well: every temporary
 * folder of this run lies in one place.
 */
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { k6Program } from '../loadtest/run/k6-program.ts';

/** Some files start clusters of their own: more at once than this and a small machine only waits. */
const CONCURRENT_FILES = 2;
/** The whole run; a test that hangs must not take the machine that runs it along. */
const LIMIT_MS = 13 * 60_000;
/** Without a word for so long a file hangs: node's own limit is for tests, and an open handle outlives them. */
const SILENCE_MS = 4 * 60_000;
/** A server told to stop when the last test ended may still be on its way out. */
const GRACE_MS = 3000;

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'serpcache-test-'));
const marker = `SERPCACHE_TEST_RUN=${folder}`;

try {
  const installed = spawnSync(process.execPath, [join(root, 'loadtest/stack/install.ts')], { stdio: 'inherit' });
  const code = installed.status === 0 && (await builtK6()) ? await runTests() : 1;
  const left = await endSurvivors();
  for (const line of left) console.error(`serpcache: a test left a process running, ended now: ${line}`);
  process.exitCode = code === 0 && left.length > 0 ? 1 : code;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Two files want it at the same time; built beforehand it is built once. */
async function builtK6(): Promise<boolean> {
  if (!wantedFiles().some((file) => file.startsWith(join('test', 'loadtest')))) return true;
  try {
    await k6Program(process.env['K6'] || undefined, (text) => console.error(`serpcache: ${text}`));
    return true;
  } catch (error) {
    console.error(`serpcache: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

async function runTests(): Promise<number> {
  const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
  const child = spawn(
    process.execPath,
    ['--test', `--test-concurrency=${CONCURRENT_FILES}`, ...options, ...wantedFiles()],
    {
      cwd: root,
      stdio: ['inherit', 'pipe', 'inherit'],
      env: {
        ...process.env,
        TMPDIR: folder,
        SERPCACHE_TEST_RUN: folder,
        ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
      },
    },
  );
  // Told to end, node's runner names the files that were running.
  const stopAfter = (ms: number, why: string): NodeJS.Timeout =>
    setTimeout(() => {
      console.error(`serpcache: ${why} ${ms / 60_000} minutes; the tests are stopped`);
      child.kill('SIGTERM');
    }, ms);
  const limit = stopAfter(LIMIT_MS, 'the tests took more than');
  const silence = stopAfter(SILENCE_MS, 'no test has ended for');
  child.stdout.on('data', (chunk) => {
    silence.refresh();
    process.stdout.write(chunk);
  });
  // Ctrl-C reaches the child by itself; this process stays to look after what is left.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? 1)));
  clearTimeout(limit);
  clearTimeout(silence);
  return code;
}

function wantedFiles(): string[] {
  const paths = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
  return (paths.length > 0 ? paths : ['test']).flatMap((path) =>
    statSync(join(root, path)).isDirectory() ? globSync(join(path, '**', '*.test.ts'), { cwd: root }).sort() : [path],
  );
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

/** Where there is no /proc there is nothing to look at. */
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
