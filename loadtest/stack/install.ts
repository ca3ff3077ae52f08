/**
 * Installs the servers that tests and the local stack run, from the machine's own Debian archive, and only those
 * that are missing: `node loadtest/stack/install.ts [redis valkey sphinx …]`, all of them without arguments.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { withBackports } from './archive.ts';

interface Part {
  readonly name: string;
  readonly packages: readonly string[];
  readonly programs: readonly string[];
  /** What else it is known by: one that brings no program of its own. */
  readonly files?: readonly string[];
  /** In Debian 12 it is only in the suite of backports. */
  readonly backports?: true;
  /** Tests do not need it. */
  readonly byNameOnly?: true;
}

const PARTS: readonly Part[] = [
  {
    name: 'redis',
    packages: ['redis-server', 'redis-sentinel', 'redis-tools'],
    programs: ['redis-server', 'redis-sentinel', 'redis-cli'],
  },
  {
    name: 'valkey',
    packages: ['valkey-server', 'valkey-tools'],
    programs: ['valkey-server', 'valkey-cli'],
    backports: true,
  },
  { name: 'wrk', packages: ['wrk'], programs: ['wrk'], byNameOnly: true },
  { name: 'nginx', packages: ['nginx'], programs: ['nginx'], byNameOnly: true },
  {
    name: 'nginx-lua',
    packages: ['nginx', 'libnginx-mod-http-lua', 'lua-nginx-redis'],
    programs: ['nginx'],
    files: ['/usr/lib/nginx/modules/ngx_http_lua_module.so', '/usr/share/lua/5.1/nginx/redis.lua'],
    byNameOnly: true,
  },
  { name: 'varnish', packages: ['varnish'], programs: ['varnishd', 'varnishadm'], byNameOnly: true },
  // Builds toxiproxy where no other Go is at hand.
  { name: 'go', packages: ['golang-go'], programs: ['go'], byNameOnly: true },
  { name: 'sphinx', packages: ['sphinxsearch'], programs: ['searchd', 'indexer'] },
  { name: 'chromium', packages: ['chromium'], programs: ['chromium'] },
  { name: 'openssl', packages: ['openssl'], programs: ['openssl'] },
];

/** Every user may open it and it is there on every Debian: the lock is one per machine, like the package database. */
const LOCK = '/var/lib/dpkg';
const POLICY = '/usr/sbin/policy-rc.d';
const POLICY_TEXT =
  '#!/bin/sh\n# serpcache: no server starts by being installed; removed when its installation ends\nexit 101\n';

const [first, ...others] = process.argv.slice(2);
const locked = first === '--locked';
const names = locked ? others : process.argv.slice(2);
process.exitCode = main();

function main(): number {
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) return fail(`unknown: ${unknown}; known: ${PARTS.map((part) => part.name)}`);
  const missing = missingParts();
  if (missing.length === 0) return 0;
  const packages = missing.flatMap((part) => part.packages).join(' ');
  if (!existsSync('/usr/bin/apt-get')) return fail(`no apt-get here; install what Debian calls ${packages}`);
  return locked ? install(missing) : runLocked(packages);
}

function missingParts(): Part[] {
  const wanted =
    names.length === 0
      ? PARTS.filter(({ byNameOnly }) => !byNameOnly)
      : PARTS.filter((part) => names.includes(part.name));
  return wanted.filter((part) => missingPrograms(part).length > 0);
}

function missingPrograms(part: Part): string[] {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return [
    ...part.programs.filter((program) => !folders.some((folder) => isProgram(join(folder, program)))),
    ...(part.files ?? []).filter((file) => !existsSync(file)),
  ];
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs this file again as root, one at a time on this machine; whoever waited finds nothing left to do. */
function runLocked(packages: string): number {
  console.error(`serpcache: installing ${packages}`);
  const root = process.getuid?.() === 0;
  const again = ['flock', LOCK, process.execPath, import.meta.filename, '--locked', ...names];
  if (!root && spawnSync('sudo', ['-n', 'true']).status !== 0) {
    return fail(`only root can install: run \`sudo apt-get install ${packages}\`, or allow sudo without a password`);
  }
  const [command = 'flock', ...rest] = root ? again : ['sudo', '-n', ...again];
  return spawnSync(command, rest, { stdio: 'inherit' }).status ?? 1;
}

function install(missing: readonly Part[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-apt-'));
  const release = holdServices();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  try {
    const failed = new Set<string>();
    const plain = missing.filter((part) => part.backports === undefined);
    const late = missing.filter((part) => part.backports !== undefined);
    apt([], ['update']);
    const batch = plain.flatMap((part) => part.packages);
    // One part that cannot be had must not hide which one it is, nor keep the others away.
    if (batch.length > 0 && apt([], installCommand(batch), 'quiet') !== '') {
      for (const part of plain) note(failed, part, apt([], installCommand(part.packages)));
    }
    for (const part of late) {
      if (apt([], installCommand(part.packages), 'quiet') === '') continue;
      const options = withBackports(folder);
      if (typeof options === 'string') note(failed, part, options);
      else {
        apt(options, ['update']);
        note(failed, part, apt(options, installCommand(part.packages)));
      }
    }
    for (const part of missing) {
      const lacking = missingPrograms(part);
      if (lacking.length > 0 && failed.size === 0)
        note(failed, part, `installed, but ${lacking} is not where it should be`);
    }
    return failed.size === 0 ? 0 : fail([...failed].join('\nserpcache: '));
  } finally {
    release();
    disableUnits(missing);
    rmSync(folder, { recursive: true, force: true });
  }
}

function note(failed: Set<string>, part: Part, problem: string): void {
  if (problem !== '') failed.add(`cannot install ${part.name} (${part.packages.join(', ')}): ${problem}`);
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

/** Nor may they start at the next boot of a machine with systemd: nobody asked for a server here. */
function disableUnits(parts: readonly Part[]): void {
  if (!existsSync('/run/systemd/system')) return;
  const units = parts
    .flatMap((part) => part.packages)
    .filter((name) => existsSync(`/lib/systemd/system/${name}.service`));
  if (units.length > 0) spawnSync('systemctl', ['disable', '--now', '--quiet', ...units], { stdio: 'ignore' });
}

function fail(message: string): number {
  console.error(`serpcache: ${message}`);
  return 1;
}
