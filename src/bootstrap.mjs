// Every npm script starts with this program: `PATH=$(node src/bootstrap.mjs) && exec node …`. It runs on the machine's
// own Node, 18 or newer, so it is plain JavaScript without dependencies. It ensures a Node of 24 or newer
// and the node_modules of the lockfile, then prints the PATH in which `node` is that Node. A machine without one gets the
// Node of the lockfile in src/node.
// `node src/bootstrap.mjs [dev]`: `dev` installs the development dependencies as well.
// All other output goes to stderr. Exit status 3: something is missing; the message tells how to install it.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MIN_NODE = 24;
const MIN_BOOTSTRAP_NODE = 18;
const MIN_NPM = 9;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const needsDev = process.argv[2] === 'dev';

/**
 * A folder that npm can install: a lockfile, npm's options, and the packages of the lockfile that must be present. Node
 * has its own folder, so that it is downloaded only when the machine's Node is too old.
 */
const PROJECT = {
  folder: root,
  options: needsDev ? ['--include=dev'] : [],
  counts: (_name, entry) => !entry.optional && !entry.devOptional && (needsDev || !entry.dev),
};
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;
const OWN_NODE = {
  folder: join(root, 'src', 'node'),
  options: ['--ignore-scripts'],
  counts: (name) => name === NODE_PACKAGE,
};

main().catch((error) => {
  console.error(`serpcache: ${error.message}`);
  process.exitCode = 3;
});

async function main() {
  if (majorOf(process.version) < MIN_BOOTSTRAP_NODE) throw new Error(newerNodeNeeded());
  await installed(PROJECT);
  const path = majorOf(machineNode()) >= MIN_NODE ? (process.env.PATH ?? '') : await pathWithOwnNode();
  process.stdout.write(`${path}\n`);
}

/**
 * The version of the Node that an npm script would start. It may differ from this one: npm ci may have removed the Node
 * that runs this program.
 */
function machineNode() {
  const isInstalled = process.execPath.startsWith(join(root, 'node_modules'));
  return isInstalled ? (run('node', ['--version']) ?? '') : process.version;
}

async function pathWithOwnNode() {
  const known = Object.keys(packagesOf(OWN_NODE.folder)).map(nameOf);
  if (!known.some((name) => OWN_NODE.counts(name))) throw new Error(newerNodeNeeded());
  await installed(OWN_NODE);
  // Not node_modules/.bin: npm 9 creates no links there with --ignore-scripts.
  const bin = join(OWN_NODE.folder, 'node_modules', NODE_PACKAGE, 'bin');
  const version = run(join(bin, 'node'), ['--version']);
  // The package is built for glibc; on a system without it this Node does not start.
  if (version === undefined || majorOf(version) < MIN_NODE) throw new Error(newerNodeNeeded());
  return bin + delimiter + process.env.PATH;
}

function newerNodeNeeded() {
  const here = `${process.platform} ${process.arch}`;
  return `Node ${MIN_NODE} or newer is needed, this is ${process.version}, and there is none to install for ${here}: install it and start again`;
}

async function installed(target) {
  if (missingPackage(target) !== undefined) await exclusively(() => install(target));
}

async function install(target) {
  const missing = missingPackage(target);
  if (missing === undefined) return; // Another start installed it while this one waited.
  const npm = majorOf(run('npm', ['--version']) ?? '0');
  if (npm < MIN_NPM) throw new Error(`npm ${npm === 0 ? 'is missing' : 'is too old'}: install npm ${MIN_NPM} or newer`);
  console.error(`serpcache: installing with npm ci (missing: ${missing})`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  // npm run exports its own prefix to its children; the option overrides it.
  const done = await ended('npm', ['ci', '--prefix', target.folder, ...quiet, ...target.options]);
  if (!done) throw new Error('npm ci failed, see above; nothing was started');
  const still = missingPackage(target);
  if (still !== undefined) throw new Error(`npm ci ended well, but ${still} is not what the lockfile says`);
}

/**
 * The first package of the lockfile that is not installed in the locked version. npm writes its own list of installed
 * packages last, so an interrupted installation has none.
 */
function missingPackage({ folder, counts }) {
  const list = join(folder, 'node_modules', '.package-lock.json');
  const have = existsSync(list) ? readJson(list).packages : {};
  for (const [path, entry] of Object.entries(packagesOf(folder))) {
    const name = nameOf(path);
    if (path === '') continue;
    // npm accepts any content for a package without a hash. All packages are checked, because npm installs more than
    // `counts`.
    if (!/^sha512-/.test(entry.integrity ?? '')) {
      throw new Error(
        `${join(folder, 'package-lock.json')} has no sha512 integrity for ${name}: nothing was installed`,
      );
    }
    if (!counts(name, entry)) continue;
    if (have[path]?.version !== entry.version || have[path]?.integrity !== entry.integrity) return name;
    if (!existsSync(join(folder, path, 'package.json'))) return name;
  }
  return undefined;
}

function packagesOf(folder) {
  return readJson(join(folder, 'package-lock.json')).packages;
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** @returns the output, or undefined when the command could not run or failed. */
function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return result.status === 0 ? result.stdout : undefined;
}

/**
 * Runs a command with its output on stderr. A signal is passed to the command, and its end is awaited: an installation
 * that outlived this process would no longer hold the lock.
 * @returns whether it succeeded.
 */
function ended(command, args) {
  return new Promise((resolve) => {
    let child;
    // Registered before the child starts: a signal in between would end this process only.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child?.kill(signal));
    child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
    child.once('error', () => resolve(false));
    child.once('close', (status) => resolve(status === 0));
  });
}

/**
 * One installation at a time per checkout. A listening socket is the lock: the kernel closes it when its owner ends, so
 * a killed installation leaves nothing to clean up.
 */
async function exclusively(task) {
  const name = `serpcache-install-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  const address = process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name);
  const waiting = new Set();
  for (let told = false; ; told = true) {
    const server = await listen(address, waiting);
    if (server !== undefined) {
      try {
        return await task();
      } finally {
        server.close();
        for (const socket of waiting) socket.destroy();
      }
    }
    if (!told) console.error('serpcache: waiting for another npm ci in this checkout');
    if ((await closed(address)) === 'refused') rmSync(address, { force: true });
  }
}

function listen(address, waiting) {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => waiting.add(socket.on('error', () => {})));
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
