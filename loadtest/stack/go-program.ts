import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const ANSWER_LIMIT_MS = 10_000;
/** Debian's Go is 60 MB, and another installation may hold the lock. */
const INSTALL_LIMIT_MS = 10 * 60_000;
/** Go 1.21 and later fetch the version that a module asks for (https://go.dev/doc/toolchain). */
const FETCHES_SINCE = '1.21';
const FETCHES = /(?:^|\+)auto$/;
/** Neither folder has to be in PATH: the first is go.dev's, the second Debian's. */
const GO_FOLDERS = ['/usr/local/go/bin', '/usr/bin'];

interface GoProgram {
  readonly name: string;
  /** As Go writes it: `v2.5.0`; for a folder, a text that tells one state of its sources from another. */
  readonly version: string;
  /** The package of a published module, without version (`go.k6.io/k6`), or a folder of this project with a `go.mod`. */
  readonly from: { readonly module: string } | { readonly folder: string };
  /** The oldest Go that builds it, `1.25`; absent: any. */
  readonly leastGo?: string;
  readonly limitMs: number;
}

/** Programs that are built or fetched once stay here. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'serpcache');
}

/**
 * The path of a program that is built with Go, once, into the user's cache: with a Go on this machine that is new enough or
 * can fetch a newer one, else with Debian's own, which is installed.
 * @throws with one line that says which command helps, or with the words of Go.
 */
export async function goProgram(wanted: GoProgram): Promise<string> {
  const { name, version, from, limitMs } = wanted;
  const cache = cacheFolder();
  const program = join(cache, `${name}-${version}`);
  if (isProgram(program)) return program;
  const go = await goFor(wanted);

  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'build-'));
  try {
    console.error(`serpcache: building ${name} ${version} with ${go}`);
    const env = { ...process.env, GOBIN: folder };
    const [what, cwd] = 'module' in from ? [`${from.module}@${version}`] : ['.', from.folder];
    await run(go, ['install', what], { cwd, env, timeout: limitMs, maxBuffer: 4 * 2 ** 20 });
    // Go names it by the module's last word.
    const [built] = await readdir(folder);
    if (built === undefined) throw new Error('Go built nothing');
    // Renamed in one step: two concurrent builds both end with a whole program.
    await rename(join(folder, built), program);
    return program;
  } catch (error) {
    throw new Error(`cannot build ${name}: ${reasonOf(error, limitMs)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether a file may be executed. Every folder may, so it has to be a file. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The paths of programs with this name, in the order of PATH. */
export function inPath(name: string, further: readonly string[] = []): readonly string[] {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...further];
  const files = [...new Set(folders)].map((folder) => join(folder, name));
  return files.filter(isProgram);
}

type Go = Awaited<ReturnType<typeof ask>>;

async function goFor({ name, leastGo }: GoProgram): Promise<string> {
  const candidates = async (): Promise<readonly Go[]> => Promise.all(inPath('go', GO_FOLDERS).map(ask));
  let found = await candidates();
  let suited = suitedGo(found, leastGo);
  const problem = suited === undefined ? await installGo(leastGo) : undefined;
  if (suited === undefined && problem === undefined) {
    found = await candidates();
    suited = suitedGo(found, leastGo);
  }
  if (suited !== undefined) return suited;
  const needed = neededWords(leastGo);
  const has = found.map(({ path, version = 'no Go', toolchain }) => {
    const isKept = toolchain !== '' && !FETCHES.test(toolchain);
    return `${path} is ${version}${isKept ? ` and GOTOOLCHAIN=${toolchain} keeps it from fetching another` : ''}`;
  });
  throw new Error(
    `${name} is built with ${needed}, and ${has.join(', ') || 'there is none'}: ${problem ?? `install ${needed}`}`,
  );
}

function neededWords(leastGo: string | undefined): string {
  return leastGo === undefined ? 'Go' : `Go ${leastGo} or newer`;
}

/** Prefers a Go that is new enough to one that has to fetch another. */
function suitedGo(candidates: readonly Go[], leastGo: string | undefined): string | undefined {
  const isSince = ({ version }: Go, least: string): boolean => version !== undefined && isAtLeast(version, least);
  const newEnough = candidates.find((go) => isSince(go, leastGo ?? '0'));
  const fetching = candidates.find((go) => isSince(go, FETCHES_SINCE) && FETCHES.test(go.toolchain));
  return (newEnough ?? fetching)?.path;
}

async function ask(path: string) {
  // GOTOOLCHAIN of the environment or of Go's own configuration; empty before Go 1.21.
  const [said, toolchain] = await Promise.all([answer(path, ['version']), answer(path, ['env', 'GOTOOLCHAIN'])]);
  // `1.26.8`; undefined when it prints none.
  return { path, version: /\bgo(\d+\.\d+(?:\.\d+)?)/.exec(said)?.[1], toolchain: toolchain.trim() };
}

/** @returns '' when it does not answer. */
async function answer(program: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(program, args, { timeout: ANSWER_LIMIT_MS })).stdout;
  } catch {
    return '';
  }
}

/** Compares versions that are numbers with dots between; a missing number is 0. */
export function isAtLeast(version: string, least: string): boolean {
  const [have, need] = [version.split('.').map(Number), least.split('.').map(Number)];
  for (let at = 0; at < Math.max(have.length, need.length); at += 1) {
    const [one = 0, other = 0] = [have[at], need[at]];
    if (one !== other) return one > other;
  }
  return true;
}

async function installGo(leastGo: string | undefined): Promise<string | undefined> {
  const toolchain = process.env['GOTOOLCHAIN'] || 'auto';
  // Debian's Go is an old one: it has to be allowed to fetch another.
  if (leastGo !== undefined && !FETCHES.test(toolchain)) return `unset GOTOOLCHAIN, or install ${neededWords(leastGo)}`;
  if (!existsSync('/usr/bin/apt-get')) return `install ${neededWords(leastGo)}`;
  const script = join(import.meta.dirname, 'install.ts');
  console.error('serpcache: no Go here is new enough: installing golang-go');
  try {
    await run(process.execPath, [script, 'go'], { timeout: INSTALL_LIMIT_MS });
    return undefined;
  } catch (error) {
    // The last line tells what can be done.
    return reasonOf(error, INSTALL_LIMIT_MS).replace(/^.*serpcache: /s, '');
  }
}

function reasonOf(error: unknown, limitMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if ('killed' in error && error.killed === true) return `it took more than ${limitMs / 60_000} minutes`;
  const said = 'stderr' in error ? String(error.stderr).trim().split('\n').slice(-3).join(' ') : '';
  return said || error.message;
}
