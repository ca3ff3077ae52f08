import { execFile, spawnSync } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface GoProgram {
  readonly name: string;
  /** Of the module, as Go writes it: `v2.5.0`. */
  readonly version: string;
  /** What is built, without version: `go.k6.io/k6`. */
  readonly module: string;
  /** The oldest Go that builds it, `1.25`; absent: any, so that Debian's own is installed when there is none. */
  readonly leastGo?: string;
  readonly limitMs: number;
}

/**
 * The path of a program that is built with Go, once, into the user's cache.
 * @throws with one clear line when no Go at hand can build it, or with what Go said.
 */
export async function goProgram({ name, version, module, leastGo, limitMs }: GoProgram): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'serpcache');
  const program = join(cache, `${name}-${version}`);
  if (await isProgram(program)) return program;
  const go = await goFor(name, leastGo);

  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'build-'));
  try {
    console.error(`serpcache: building ${name} ${version} with ${go}`);
    const env = { ...process.env, GOBIN: folder };
    await run(go, ['install', `${module}@${version}`], { env, timeout: limitMs, maxBuffer: 4 * 2 ** 20 });
    // Go names it by the module's last word, whatever it is called here.
    const [built] = await readdir(folder);
    if (built === undefined) throw new Error('Go built nothing');
    // In one step: two that build at once both end with a whole program.
    await rename(join(folder, built), program);
    return program;
  } catch (error) {
    throw new Error(`cannot build ${name}: ${reasonOf(error, limitMs)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether a file may be executed. */
export function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The places where a program of this name lies, in the order of PATH. */
export async function inPath(name: string, further: readonly string[] = []): Promise<readonly string[]> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...further];
  const files = [...new Set(folders)].map((folder) => join(folder, name));
  const there = await Promise.all(files.map(isProgram));
  return files.filter((_, at) => there[at]);
}

async function goFor(name: string, leastGo: string | undefined): Promise<string> {
  const found = await gosAtHand();
  if (leastGo === undefined) {
    const [go] = found.length > 0 || !installGo() ? found : await gosAtHand();
    if (go === undefined) throw new Error(`${name} is built with Go: put Go into PATH or /usr/local/go/bin`);
    return go;
  }
  // Whatever a distribution would install is too old for a program that asks for a version.
  const versions = await Promise.all(found.map(versionOf));
  const newEnough = found.find((_, at) => isAtLeast(versions[at] ?? '0', leastGo));
  if (newEnough !== undefined) return newEnough;
  for (const go of found) if (await fetchesNewer(go)) return go;
  const has = found.map((file, index) => `${file} is ${versions[index] ?? 'something else'}`);
  throw new Error(
    `${name} is built with Go ${leastGo} or newer, in PATH or /usr/local/go/bin: ${has.join(', ') || 'there is none'}`,
  );
}

function gosAtHand(): Promise<readonly string[]> {
  return inPath('go', ['/usr/local/go/bin']);
}

/** `1.26.8`; undefined when it does not say. */
async function versionOf(go: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(go, ['version'], { timeout: 10_000 });
    return /\bgo(\d+\.\d+(?:\.\d+)?)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

/** Of versions that are numbers with dots between; what is left out is 0. */
export function isAtLeast(version: string, least: string): boolean {
  const [have, need] = [version.split('.').map(Number), least.split('.').map(Number)];
  for (let at = 0; at < Math.max(have.length, need.length); at += 1) {
    const [one = 0, other = 0] = [have[at], need[at]];
    if (one !== other) return one > other;
  }
  return true;
}

/** Go 1.21 and later get the version a module asks for, unless they were told not to (https://go.dev/doc/toolchain). */
async function fetchesNewer(go: string): Promise<boolean> {
  try {
    const { stdout } = await run(go, ['env', 'GOTOOLCHAIN'], { timeout: 10_000 });
    return /(?:^|\+)auto$/.test(stdout.trim());
  } catch {
    return false;
  }
}

function installGo(): boolean {
  const install = join(import.meta.dirname, 'install.ts');
  return spawnSync(process.execPath, [install, 'go'], { stdio: 'inherit' }).status === 0;
}

function reasonOf(error: unknown, limitMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if ('killed' in error && error.killed === true) return `it took more than ${limitMs / 60_000} minutes`;
  const said = 'stderr' in error ? String(error.stderr).trim().split('\n').slice(-3).join(' ') : '';
  return said || error.message;
}
