import { execFile, spawnSync } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The last that Debian 12's own Go can build. */
const VERSION = 'v2.5.0';
const MODULE = `github.com/Shopify/toxiproxy/v2/cmd/server@${VERSION}`;
const BUILD_LIMIT_MS = 5 * 60_000;

/**
 * The toxiproxy server's path. When it is not in the user's cache yet it is built there with Go, which is installed
 * when the machine has none: half a minute, once.
 * @throws with one clear line when there is no Go, or with what Go said.
 */
export async function toxiproxyProgram(): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'serpcache');
  const program = join(cache, `toxiproxy-${VERSION}`);
  if (await isProgram(program)) return program;
  const go = (await findGo()) ?? (installGo() ? await findGo() : undefined);
  if (go === undefined) throw new Error('toxiproxy is built with Go: put Go into PATH or /usr/local/go/bin');

  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'build-'));
  try {
    console.error(`serpcache: building toxiproxy ${VERSION} with ${go}`);
    await run(go, ['install', MODULE], { env: { ...process.env, GOBIN: folder }, timeout: BUILD_LIMIT_MS });
    // In one step: two that build at once both end with a whole program.
    await rename(join(folder, 'server'), program);
    return program;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').slice(-3) : [];
    throw new Error(`cannot build toxiproxy: ${said.join(' ') || error}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findGo(): Promise<string | undefined> {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/go/bin']) {
    if (folder !== '' && (await isProgram(join(folder, 'go')))) return join(folder, 'go');
  }
  return undefined;
}

function installGo(): boolean {
  const install = join(import.meta.dirname, '..', 'stack', 'install.ts');
  return spawnSync(process.execPath, [install, 'go'], { stdio: 'inherit' }).status === 0;
}

function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
