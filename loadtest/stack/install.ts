/**
 * Installs the servers that tests and the local stack run, from the machine's own Debian archive, and only those
 * that are missing: `node loadtest/stack/install.ts [redis valkey sphinx …]`, all of them without arguments.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { EXIT, type Program, runProgram, UsageError } from '../../src/commands/arguments.ts';
import { candidateIn, withBackports } from './archive.ts';
import { isProgram } from './go-program.ts';
import { PARTS, type Part } from './parts.ts';

/** Every user may open it and it is there on every Debian: the lock is one per machine, like the package database. */
const LOCK = '/var/lib/dpkg';
const POLICY = '/usr/sbin/policy-rc.d';
const POLICY_TEXT =
  '#!/bin/sh\n# serpcache: no server starts by being installed; removed when its installation ends\nexit 101\n';

/** Programs that are started here are also looked for where Debian keeps those of root. */
const ROOT_FOLDERS = ['/usr/sbin', '/sbin'];

const [first, callersPath = '', ...others] = process.argv.slice(2);
const locked = first === '--locked';
const names = locked ? others : process.argv.slice(2).filter((word) => !word.startsWith('-'));
/** sudo has a PATH of its own, but the programs have to be in the caller's. */
const searchPath = (locked ? callersPath : process.env['PATH']) ?? '';
const PROGRAM: Program = {
  command: 'node loadtest/stack/install.ts',
  usage: '[part…]',
  about: [
    'Installs the servers that are missing, from Debian; as root, or with sudo. All that tests need unless named:',
    PARTS.map(({ name }) => name).join(', '),
  ],
  options: [],
  takes: { min: 0, max: PARTS.length },
};
process.exitCode = locked ? main() : await runProgram(PROGRAM, main);

function main(): number {
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) {
    throw new UsageError(`no part "${unknown.join(', ')}"; allowed: ${PARTS.map(({ name }) => name).join(', ')}`);
  }
  const wanted = PARTS.filter(({ name, byNameOnly }) => (names.length === 0 ? !byNameOnly : names.includes(name)));
  const missing = wanted.filter((part) => lackingOf(part).length > 0);
  if (missing.length === 0) return 0;
  const packages = missing.flatMap((part) => part.packages).join(' ');
  if (!existsSync('/usr/bin/apt-get')) return fail(`no apt-get here; install what Debian calls ${packages}`);
  return locked ? install(missing) : runLocked(missing);
}

/** In words: programs, files, or a package that is too old. */
function lackingOf({ programs, files = [], packages: [main = ''], least }: Part): string[] {
  const folders = [...searchPath.split(delimiter), ...ROOT_FOLDERS];
  return [
    ...programs.filter((program) => !folders.some((folder) => isProgram(join(folder, program)))),
    ...files.filter((file) => !existsSync(file)),
    ...(least === undefined || isAtLeast(installedVersion(main), least) ? [] : [`${main} ${least}`]),
  ];
}

/** Runs this file again as root, one at a time on this machine. A process that waited finds nothing left to do. */
function runLocked(missing: readonly Part[]): number {
  console.error(`serpcache: installing ${missing.flatMap((part) => part.packages).join(' ')}`);
  const root = process.getuid?.() === 0;
  const again = ['flock', LOCK, process.execPath, import.meta.filename, '--locked', searchPath, ...names];
  if (!root && spawnSync('sudo', ['-n', 'true']).status !== 0) {
    const command = [process.execPath, import.meta.filename, ...missing.map(({ name }) => name)].join(' ');
    return fail(`only root can install: run \`sudo ${command}\`, or allow sudo without a password`);
  }
  const [command = 'flock', ...rest] = root ? again : ['sudo', '-n', ...again];
  return spawnSync(command, rest, { stdio: 'inherit' }).status ?? EXIT.notDone;
}

function install(missing: readonly Part[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-apt-'));
  const release = holdServices();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  try {
    const failed = new Set<string>();
    const note = ({ name, packages }: Part, problem: string): void => {
      if (problem !== '') failed.add(`cannot install ${name} (${packages.join(', ')}): ${problem}`);
    };
    const plain = missing.filter((part) => part.backports === undefined);
    const late = missing.filter((part) => part.backports !== undefined);
    apt([], ['update']);
    const batch = plain.flatMap((part) => part.packages);
    // One part at a time: a part that cannot be installed is named, and does not prevent the others.
    if (batch.length > 0 && apt([], installCommand(batch), 'quiet') !== '') {
      for (const part of plain) note(part, apt([], installCommand(part.packages)));
    }
    for (const part of late) note(part, installLate(part, folder));
    const lacking = missing.flatMap((part) => lackingOf(part).map((lack) => whyNot(part, lack)));
    const faults = failed.size > 0 ? failed : new Set(lacking);
    return faults.size === 0 ? 0 : fail([...faults].join('\nserpcache: '));
  } finally {
    release();
    disableUnits(missing);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** From the machine's own suites when one has it new enough, else from backports. @returns '' or why it failed. */
function installLate({ packages, least }: Part, folder: string): string {
  const [main = ''] = packages;
  const isThere = (options: readonly string[]): boolean =>
    isAtLeast(candidateIn(output('apt-cache', [...options, 'policy', main])), least);
  if (isThere([])) return apt([], installCommand(packages));
  const backports = withBackports(folder);
  if (typeof backports === 'string') return backports;
  apt(backports.options, ['update']);
  // Without a preference the release's own version goes before a newer one in backports.
  const options = least === undefined ? backports.options : backports.preferred;
  if (least !== undefined && !isThere(options)) return `not even backports have ${main} ${least} or newer`;
  return apt(options, installCommand(packages));
}

function installedVersion(name: string): string | undefined {
  const shown = output('dpkg-query', ['--status', name]);
  return /^Status: .* installed$/m.test(shown) ? /^Version: (\S+)/m.exec(shown)?.[1] : undefined;
}

/** By Debian's rules, where `2:1.21~1` is older than `2:1.21`. */
function isAtLeast(version: string | undefined, least: string | undefined): boolean {
  if (version === undefined || least === undefined) return version !== undefined;
  return spawnSync('dpkg', ['--compare-versions', version, 'ge', least]).status === 0;
}

/** Why something is lacking although all packages are installed: most often its folder is not in PATH. */
function whyNot({ name, packages }: Part, lacking: string): string {
  const files = output('dpkg', ['-L', ...packages]).split('\n');
  const file = files.find((one) => basename(one) === lacking && /\/s?bin$/.test(dirname(one)) && isProgram(one));
  if (file === undefined) return `${name} is installed, but not ${lacking}`;
  return `${name} is installed, but ${file} is not in PATH: add ${dirname(file)} to it`;
}

function output(command: string, args: readonly string[]): string {
  const env = { ...process.env, LC_ALL: 'C' };
  return spawnSync(command, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).stdout ?? '';
}

function installCommand(packages: readonly string[]): string[] {
  return ['install', '--yes', '--no-install-recommends', ...packages];
}

/** @returns '' or the last line apt gave as its error. */
function apt(options: readonly string[], command: readonly string[], quiet?: 'quiet'): string {
  const args = ['-qq', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300', ...options, ...command];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const done = spawnSync('apt-get', args, {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 26,
  });
  if (done.status === 0) return '';
  const errors = `${done.error?.message ?? ''}\n${done.stderr ?? ''}`.split('\n').filter((line) => line.trim() !== '');
  if (quiet === undefined) console.error(errors.slice(-12).join('\n'));
  return errors.filter((line) => line.startsWith('E:')).at(-1) ?? errors.at(-1) ?? `apt-get ended with ${done.status}`;
}

/** Debian starts what it installs, on default ports, unless this file says no. A file of the machine's own stays. */
function holdServices(): () => void {
  const leftover = existsSync(POLICY) && readFileSync(POLICY, 'utf8') === POLICY_TEXT;
  if (existsSync(POLICY) && !leftover) return () => {};
  writeFileSync(POLICY, POLICY_TEXT, { mode: 0o755 });
  return () => rmSync(POLICY, { force: true });
}

/** They may not start at the next boot of a machine with systemd either. */
function disableUnits(parts: readonly Part[]): void {
  if (!existsSync('/run/systemd/system')) return;
  const units = parts
    .flatMap((part) => part.packages)
    .filter((name) => existsSync(`/lib/systemd/system/${name}.service`));
  if (units.length > 0) spawnSync('systemctl', ['disable', '--now', '--quiet', ...units], { stdio: 'ignore' });
}

function fail(message: string): number {
  console.error(`serpcache: ${message}`);
  return EXIT.notDone;
}
