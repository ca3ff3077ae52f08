import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { goProgram, inPath, isAtLeast, isProgram } from '../stack/go-program.ts';

const run = promisify(execFile);

/** The oldest version that the scripts were run with. */
const LEAST_K6 = '1.8';
/** Of go.mod in k6 v1.8.1. */
const LEAST_GO = '1.25';
/** A minute and a half on two cores, and the modules have to be fetched. */
const BUILD_LIMIT_MS = 15 * 60_000;
const ANSWER_LIMIT_MS = 10_000;

export interface K6Program {
  readonly path: string;
  /** `v1.8.1` */
  readonly version: string;
}

/**
 * The k6 that runs the scripts: the one that was named, else the first in PATH that is not too old, else one of the
 * version in package.json that is built, once, into the user's cache.
 * @throws with one line that says which command helps.
 */
export async function k6Program(named: string | undefined, say: (text: string) => void): Promise<K6Program> {
  const pinned = await pinnedVersion();
  if (named !== undefined) return namedProgram(resolve(named), pinned, say);
  for (const path of await inPath('k6')) {
    const version = await versionOf(path);
    if (version === undefined) continue;
    // A candidate for a release, `v1.8.0-rc1`, counts as the release.
    if (isAtLeast(version.replace(/^v|[-+].*$/g, ''), LEAST_K6)) return told({ path, version }, pinned, say);
    say(`${path} is k6 ${version}; the scripts need ${LEAST_K6} or newer`);
  }
  try {
    const build = { name: 'k6', module: 'go.k6.io/k6', leastGo: LEAST_GO, limitMs: BUILD_LIMIT_MS };
    return { path: await goProgram({ ...build, version: pinned }), version: pinned };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}; or install k6 ${LEAST_K6} or newer, or name one with --k6 FILE (K6)`);
  }
}

/** `config.k6` of package.json: what the scripts are tried with. */
async function pinnedVersion(): Promise<string> {
  const file = join(import.meta.dirname, '..', '..', 'package.json');
  const { config } = JSON.parse(await readFile(file, 'utf8')) as { readonly config?: { readonly k6?: string } };
  if (config?.k6 === undefined) throw new Error('package.json does not say which k6: config.k6 is missing');
  return config.k6;
}

async function namedProgram(path: string, pinned: string, say: (text: string) => void): Promise<K6Program> {
  if (!(await isProgram(path))) throw new Error(`--k6 (or K6): ${path} is no program`);
  const version = await versionOf(path);
  if (version === undefined) throw new Error(`--k6 (or K6): ${path} is not k6: it does not tell its version`);
  return told({ path, version }, pinned, say);
}

function told(program: K6Program, pinned: string, say: (text: string) => void): K6Program {
  const { path, version } = program;
  if (version !== pinned) say(`${path} is k6 ${version}; the scripts are tried with ${pinned}`);
  return program;
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['version'], { timeout: ANSWER_LIMIT_MS });
    // It calls itself by the name of its file.
    return /^\S+ (v\d+\.\d+\.\d+\S*) \(.*\bgo1\./.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
