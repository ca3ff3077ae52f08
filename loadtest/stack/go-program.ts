import { execFile } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
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

interface BuiltProgram {
  readonly name: string;
  readonly version: string;
  /** The oldest Go that builds it, `1.25`; absent: any. */
  readonly leastGo?: string;
  readonly limitMs: number;
}

/** A program of a published module. Its version is as Go writes it: `v2.5.0`. */
interface GoProgram extends BuiltProgram {
  /** The package that is built, without version: `go.k6.io/k6`. */
  readonly module: string;
}

/** A program of this project. Its version tells one state of its sources from another. */
interface OwnGoProgram extends BuiltProgram {
  readonly folder: string;
}

/** Where Go comes from; tests have their own source. */
export interface GoSource {
  /** Paths in the order of preference. */
  readonly atHand: () => Promise<readonly string[]>;
  /** @returns undefined after success, else the reason and a command that helps, in one line. */
  readonly install: (leastGo: string | undefined) => Promise<string | undefined>;
}

const MACHINE: GoSource = { atHand: () => inPath('go', GO_FOLDERS), install: installGo };

/**
 * The path of a program that is built with Go, once, into the user's cache: with a Go on this machine that is new enough or
 * can fetch a newer one, else with Debian's own, which is installed.
 * @throws with one line that says which command helps, or with the words of Go.
 */
export function goProgram(wanted: GoProgram, source: GoSource = MACHINE): Promise<string> {
  return built(wanted, source, { args: ['install', `${wanted.module}@${wanted.version}`] });
}

/** The same for a folder of this project with a `go.mod`. */
export function goBuild(wanted: OwnGoProgram, source: GoSource = MACHINE): Promise<string> {
  return built(wanted, source, { args: ['install', '.'], cwd: wanted.folder });
}

/** Programs that are built or fetched once stay here. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'serpcache');
}

async function built(
  wanted: BuiltProgram,
  source: GoSource,
  build: { readonly args: readonly string[]; readonly cwd?: string },
): Promise<string> {
  const { name, version, limitMs } = wanted;
  const cache = cacheFolder();
  const program = join(cache, `${name}-${version}`);
  if (await isProgram(program)) return program;
  const go = await goFor(wanted, source);

  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'build-'));
  try {
    console.error(`serpcache: building ${name} ${version} with ${go}`);
    const env = { ...process.env, GOBIN: folder };
    await run(go, [...build.args], { cwd: build.cwd, env, timeout: limitMs, maxBuffer: 4 * 2 ** 20 });
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
export async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** The paths of programs with this name, in the order of PATH. */
export async function inPath(name: string, further: readonly string[] = []): Promise<readonly string[]> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...further];
  const files = [...new Set(folders)].map((folder) => join(folder, name));
  const there = await Promise.all(files.map(isProgram));
  return files.filter((_, at) => there[at]);
}

type Go = Awaited<ReturnType<typeof ask>>;

async function goFor({ name, leastGo }: BuiltProgram, { atHand, install }: GoSource): Promise<string> {
  const candidates = async (): Promise<readonly Go[]> => Promise.all((await atHand()).map(ask));
  const before = await candidates();
  const suited = suitedGo(before, leastGo);
  if (suited !== undefined) return suited;
  const problem = await install(leastGo);
  const found = problem === undefined ? await candidates() : before;
  const installed = suitedGo(found, leastGo);
  if (installed !== undefined) return installed;
  const needed = leastGo === undefined ? 'Go' : `Go ${leastGo} or newer`;
  const has = found.map(({ path, version = 'no Go', toolchain }) => {
    const isKept = toolchain !== '' && !FETCHES.test(toolchain);
    return `${path} is ${version}${isKept ? ` and GOTOOLCHAIN=${toolchain} keeps it from fetching another` : ''}`;
  });
  throw new Error(
    `${name} is built with ${needed}, and ${has.join(', ') || 'there is none'}: ${problem ?? `install ${needed}`}`,
  );
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
  if (leastGo !== undefined && !FETCHES.test(toolchain)) return `unset GOTOOLCHAIN, or install Go ${leastGo} or newer`;
  if (!existsSync('/usr/bin/apt-get')) return `install Go${leastGo === undefined ? '' : ` ${leastGo} or newer`}`;
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
