import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CannotRun } from '../judge/record.ts';
import { goProgram, inPath, isAtLeast, isProgram } from '../stack/go-program.ts';
import { type NumberName, RANGES, type RunOptions } from './arguments.ts';

const run = promisify(execFile);

/** The oldest version with which the scripts were run. */
const LEAST_K6 = '1.8';
/** From go.mod in k6 v1.8.1. */
const LEAST_GO = '1.25';
/** A build takes a minute and a half on two cores, and the modules must be fetched. */
const BUILD_LIMIT_MS = 15 * 60_000;
const ANSWER_LIMIT_MS = 10_000;

export interface K6Program {
  readonly path: string;
  /** `v1.8.1` */
  readonly version: string;
}

/**
 * The k6 that runs the scripts: the given one, else the first in PATH that is not too old, else the version in package.json,
 * built once into the user's cache.
 * @throws with one line that names the command that helps.
 */
export async function k6Program(named: string | undefined, say: (text: string) => void): Promise<K6Program> {
  const pinned = await pinnedVersion();
  if (named !== undefined) return namedProgram(resolve(named), pinned, say);
  for (const path of inPath('k6')) {
    const version = await versionOf(path);
    if (version === undefined) continue;
    // A release candidate, `v1.8.0-rc1`, counts as the release.
    if (isAtLeast(version.replace(/^v|[-+].*$/g, ''), LEAST_K6)) return noteVersion({ path, version }, pinned, say);
    say(`${path} is k6 ${version}; the scripts need ${LEAST_K6} or newer`);
  }
  try {
    const from = { module: 'go.k6.io/k6' };
    const build = { name: 'k6', version: pinned, from, leastGo: LEAST_GO, limitMs: BUILD_LIMIT_MS };
    return { path: await goProgram(build), version: pinned };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}; or install k6 ${LEAST_K6} or newer, or name one with --k6 FILE (K6)`);
  }
}

/** `config.k6` of package.json: the version with which the scripts are tested. */
async function pinnedVersion(): Promise<string> {
  const project = JSON.parse(await readFile(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'));
  return project.config.k6;
}

async function namedProgram(path: string, pinned: string, say: (text: string) => void): Promise<K6Program> {
  if (!isProgram(path)) throw new Error(`--k6 (or K6): ${path} is no program`);
  const version = await versionOf(path);
  if (version === undefined) throw new Error(`--k6 (or K6): ${path} is not k6: it does not tell its version`);
  return noteVersion({ path, version }, pinned, say);
}

function noteVersion(program: K6Program, pinned: string, say: (text: string) => void): K6Program {
  const { path, version } = program;
  if (version !== pinned) say(`${path} is k6 ${version}; the scripts are tried with ${pinned}`);
  return program;
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['version'], { timeout: ANSWER_LIMIT_MS });
    // The first word is the name of its file.
    return /^\S+ (v\d+\.\d+\.\d+\S*) \(.*\bgo1\./.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

interface EnvironmentOptions extends Pick<RunOptions, 'baseUrls' | 'adminUrls' | 'adminToken' | 'numbers'> {
  readonly id: string;
  readonly baseRps: number;
  /** Absolute: k6 looks beside the script. */
  readonly queries: string;
}

/** The variables of a script. Options that were not given are left out: the script has its own defaults. */
export function k6Environment(wanted: EnvironmentOptions): NodeJS.ProcessEnv {
  const { id, baseUrls, adminUrls, adminToken, baseRps, queries, numbers } = wanted;
  const wishes = Object.entries({ ...numbers, 'base-rps': baseRps }) as [NumberName, number][];
  return {
    RUN_ID: id,
    BASE_URL: baseUrls.join(','),
    ADMIN_URL: adminUrls.join(','),
    // Not as an argument: arguments are visible in the list of processes.
    ADMIN_TOKEN: adminToken,
    QUERIES: queries,
    ...Object.fromEntries(wishes.map(([name, value]) => [RANGES[name].variable, String(value)])),
  };
}

/** This process's environment without k6's own variables, which would change the run without a trace. */
export function surroundings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('K6_')));
}

/** k6 reads the script and its queries twice. */
const LIMIT_MS = 120_000;
/** k6's default for a script that sets none. */
const DEFAULT_SETUP_MS = 60_000;
const LAST_LINES = 12;

export interface K6Script {
  readonly program: K6Program;
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The maximum duration that k6 plans: scenarios, their grace, set-up and tear-down. This runs the top level of the script,
 * so that a broken script fails before anything is sent.
 * @throws CannotRun with k6's last lines.
 */
export async function plannedMs({ program, file, env }: K6Script): Promise<number> {
  const args = ['inspect', '--execution-requirements', '--include-system-env-vars', '--log-format=raw', file];
  try {
    const options = { env: { ...surroundings(process.env), ...env }, timeout: LIMIT_MS, maxBuffer: 16 * 2 ** 20 };
    const { stdout } = await run(program.path, args, options);
    const { totalDuration, setupTimeout, teardownTimeout } = JSON.parse(stdout) as Record<string, unknown>;
    const total = durationMs(totalDuration);
    if (total === undefined) throw new CannotRun(`k6 does not say how long ${file} takes`);
    return total + (durationMs(setupTimeout) ?? DEFAULT_SETUP_MS) + (durationMs(teardownTimeout) ?? DEFAULT_SETUP_MS);
  } catch (error) {
    if (error instanceof CannotRun) throw error;
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new CannotRun(said === '' ? `k6 cannot read ${file}: ${error}` : lastLines(said));
  }
}

/** `1h2m3.5s` as k6 writes it; undefined for anything else. */
export function durationMs(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const [whole, hours = '0', minutes = '0', seconds = '0', rest = '0'] =
    /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?(?:(\d+)ms)?$/.exec(text) ?? [];
  if (whole === undefined || whole === '') return undefined;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(rest);
}

export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
}
