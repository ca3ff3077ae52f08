// It ensures a Node of 24 or newer. It runs on the machine's own Node, 18 or newer, so it is plain JavaScript without
// dependencies. A machine without such a Node gets that of the lockfile in src/node.
// In a clone every npm script starts with it: `PATH=$(node src/bootstrap.mjs [dev]) && exec node …`. It also installs the
// node_modules of the lockfile (`dev`: those for development as well), and prints the PATH in which `node` is that Node.
// In the package for npm the programs call `launch`.
// All other output goes to stderr. Exit status 3: something is missing; the message tells how to install it.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { constants, homedir, tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const MIN_NODE = 24;
const MIN_BOOTSTRAP_NODE = 18;
const MIN_NPM = 9;

const own = fileURLToPath(import.meta.url);
const root = dirname(dirname(own));
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
  folder: join(dirname(own), 'node'),
  options: ['--ignore-scripts'],
  counts: (name) => name === NODE_PACKAGE,
};

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === own) main().catch(fail);

function fail(error) {
  console.error(`serpcache: ${error.message}`);
  process.exitCode = 3;
}

/** Runs a program of the package, in this process or, where this Node is too old, in one of a newer Node. */
export function launch(program) {
  const file = join(dirname(own), program);
  if (majorOf(process.version) < MIN_NODE) return launchOnOwnNode(file).catch(fail);
  // Each start shows TypeScript's lines in stack traces.
  process.setSourceMapsEnabled(true);
  process.argv[1] = file;
  return import(pathToFileURL(file).href);
}

async function launchOnOwnNode(file) {
  const env = { ...process.env, PATH: await pathWithOwnNode(cached(OWN_NODE)) };
  const child = spawn('node', ['--enable-source-maps', file, ...process.argv.slice(2)], { stdio: 'inherit', env });
  // A terminal sends its signals to both processes; a supervisor sends them to this one.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) {
    process.on(signal, () => (signal === 'SIGTERM' || !process.stdin.isTTY) && child.kill(signal));
  }
  child.once('error', fail);
  // A shell reports the end by a signal with the same number.
  child.once('close', (status, signal) => process.exit(status ?? 128 + constants.signals[signal]));
}

/** The package may lie where this user cannot write: its Node is installed in the user's cache. */
function cached(target) {
  const lock = readFileSync(join(target.folder, 'package-lock.json'));
  const name = `node-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`;
  const caches = process.env.XDG_CACHE_HOME ?? '';
  const folder = join(isAbsolute(caches) ? caches : join(homedir(), '.cache'), 'serpcache', name);
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) {
    if (!existsSync(join(folder, file))) copyFileSync(join(target.folder, file), join(folder, file));
  }
  return { ...target, folder };
}

async function main() {
  if (majorOf(process.version) < MIN_BOOTSTRAP_NODE) throw new Error(newerNodeNeeded());
  await installed(PROJECT);
  const path = majorOf(machineNode()) >= MIN_NODE ? (process.env.PATH ?? '') : await pathWithOwnNode(OWN_NODE);
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

async function pathWithOwnNode(target) {
  const known = Object.keys(packagesOf(target.folder)).map(nameOf);
  if (!known.some((name) => target.counts(name))) throw new Error(newerNodeNeeded());
  await installed(target);
  // Not node_modules/.bin: npm 9 creates no links there with --ignore-scripts.
  const bin = join(target.folder, 'node_modules', NODE_PACKAGE, 'bin');
  const version = run(join(bin, 'node'), ['--version']);
  // The package is built for glibc and libatomic; on a system without them this Node does not start.
  if (version === undefined) {
    throw new Error(
      `Node ${MIN_NODE} or newer is needed, and the one in ${bin} does not start, see above (Debian: apt install libatomic1)`,
    );
  }
  return bin + delimiter + process.env.PATH;
}

function newerNodeNeeded() {
  const here = `${process.platform} ${process.arch}`;
  return `Node ${MIN_NODE} or newer is needed, this is ${process.version}, and there is none to install for ${here}: install it and start again`;
}

async function installed(target) {
  if (missingPackage(target) !== undefined) await exclusively(target.folder, () => install(target));
}

async function install(target) {
  const missing = missingPackage(target);
  if (missing === undefined) return; // Another start installed it while this one waited.
  const npm = majorOf(run('npm', ['--version']) ?? '0');
  if (npm < MIN_NPM) throw new Error(`npm ${npm === 0 ? 'is missing' : 'is too old'}: install npm ${MIN_NPM} or newer`);
  console.error(`serpcache: installing with npm ci in ${target.folder} (missing: ${missing})`);
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
 * One installation at a time per folder. A listening socket is the lock: the kernel closes it when its owner ends, so
 * a killed start leaves no lock. Its npm may still run for a while: the next start then fails, and the one after it works.
 */
async function exclusively(folder, task) {
  const name = `serpcache-install-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
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
    if (!told) console.error(`serpcache: waiting for another npm ci in ${folder}`);
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
