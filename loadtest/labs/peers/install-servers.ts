import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDER = join(import.meta.dirname, 'servers');

/**
 * What the Fastify peers are made of, in a folder of its own: it has another ioredis than the project. Does nothing when
 * it is there already. @throws with npm's own words.
 */
export async function installServers(): Promise<void> {
  if (isInstalled()) return;
  const node = join(process.execPath, '..');
  const env = { ...process.env, PATH: `${node}:${process.env['PATH'] ?? ''}` };
  await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: FOLDER, env, timeout: 240_000 });
}

/** npm notes what it installed, of which version. */
function isInstalled(): boolean {
  const wanted = packagesOf(join(FOLDER, 'package-lock.json'));
  const found = packagesOf(join(FOLDER, 'node_modules', '.package-lock.json'));
  return Object.entries(wanted).every(([path, version]) => path === '' || found[path] === version);
}

function packagesOf(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, { version?: string }> };
  return Object.fromEntries(Object.entries(packages).map(([path, { version = '' }]) => [path, version]));
}
