// Runs before every npm script, on whatever Node the machine has, so it is plain JavaScript without dependencies:
// brings node_modules in line with the lockfile, then makes sure that the scripts will find Node 24.
// `node src/bootstrap.mjs [dev]`: with `dev` the development dependencies are needed as well.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const wanted = readJson(join(root, 'package-lock.json')).packages;
const needsDev = process.argv[2] === 'dev';

main().catch((error) => {
  console.error(`serpcache: ${error.message}`);
  process.exitCode = 1;
});

async function main() {
  if (majorOf(process.version) < 20) throw new Error(`Node ${process.version} is too old: install Node 20 or newer`);
  if (missingPackage() !== undefined) await exclusively(install);
  checkNode();
}

function install() {
  const missing = missingPackage();
  if (missing === undefined) return; // another start installed it while this one waited
  const npm = majorOf(run('npm', ['--version'], 'pipe') ?? '0');
  if (npm < 9) throw new Error(`npm ${npm === 0 ? 'is missing' : 'is too old'}: install npm 9 or newer`);
  console.error(`serpcache: installing dependencies with npm ci (missing: ${missing})`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const done = run('npm', ['ci', ...quiet, ...(needsDev ? ['--include=dev'] : [])], 'inherit');
  if (done === undefined) throw new Error('npm ci failed, see above; nothing was started');
}

/**
 * The first package of the lockfile that is not installed in that version. npm writes its own list of what it has
 * installed last of all, so an interrupted install has none.
 */
function missingPackage() {
  const list = join(modules, '.package-lock.json');
  const installed = existsSync(list) ? readJson(list).packages : {};
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.optional || entry.devOptional || (entry.dev && !needsDev)) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const have = installed[path];
    if (have === undefined || have.version !== entry.version || have.integrity !== entry.integrity) return name;
    if (!existsSync(join(root, path, 'package.json'))) return name;
  }
  return undefined;
}

/** npm puts node_modules/.bin first in PATH, and node itself is one of the packages. */
function checkNode() {
  const own = join(modules, '.bin');
  const version = run('node', ['--version'], 'pipe', own + delimiter + outerPath());
  if (version !== undefined && majorOf(version) >= 24) return;
  throw new Error(
    `Node 24 is needed and \`node\` is ${version?.trim() ?? 'missing'}: the install script of the npm package "node" ` +
      'did not run. Allow it with `npm rebuild node --ignore-scripts=false`, or install Node 24 on this machine',
  );
}

/** @returns its output ('' when inherited), undefined when it could not run or failed. */
function run(command, args, stdio, path = outerPath()) {
  const env = { ...process.env, PATH: path };
  const shell = process.platform === 'win32'; // npm is a .cmd file there
  const result = spawnSync(command, args, {
    cwd: root,
    env,
    shell,
    encoding: 'utf8',
    stdio: ['ignore', stdio, 'inherit'],
  });
  return result.status === 0 ? (result.stdout ?? '') : undefined;
}

/** PATH without this project's own programs: npm ci removes the very node that would be running it. */
function outerPath() {
  const entries = (process.env.PATH ?? '').split(delimiter);
  return entries.filter((entry) => !entry.startsWith(modules)).join(delimiter);
}

/**
 * One install at a time per checkout. A listening socket is the lock: the kernel drops it with its owner, so
 * that a killed install leaves nothing to clean up.
 */
async function exclusively(task) {
  const name = `serpcache-install-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  const address = { linux: `\0${name}`, win32: `\\\\.\\pipe\\${name}` }[process.platform] ?? join(tmpdir(), name);
  for (let told = false; ; told = true) {
    const server = await listen(address);
    if (server !== undefined) {
      try {
        return task();
      } finally {
        server.close();
      }
    }
    if (!told) console.error('serpcache: waiting for another npm ci in this checkout');
    if ((await closed(address)) === 'refused' && process.platform !== 'win32') rmSync(address, { force: true });
  }
}

function listen(address) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(address, () => resolve(server));
  });
}

function closed(address) {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.resume();
    socket.once('error', (error) => resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'gone'));
    socket.once('close', () => resolve('gone'));
  });
}

function majorOf(version) {
  return Number.parseInt(version.replace(/^v/, ''), 10) || 0;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
