import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../../loadtest/stack/process.ts';
import { type CheckRun, hold } from './checker.ts';
import { ask } from './container.ts';
import { debianTar, mountedRoot } from './image-build.ts';
import { install, type Ran, ROOT, type RunOptions, run } from './tools.ts';

/** Where the units expect the project. */
export const HOME = '/opt/serpcache';
const PACKAGES = ['systemd-sysv', 'sphinxsearch', 'redis-server'];
const PROJECT = ['package.json', 'package-lock.json', '.npmrc', 'README.md', 'src', 'deploy'];
const BOOT_LIMIT_MS = 60_000;
const COMMAND_LIMIT_MS = 60_000;
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A Debian with systemd, searchd and Redis, and the project as a release would be copied there. */
export async function makeRoot({ folder, say, signal }: CheckRun): Promise<string> {
  install('systemd', 'debootstrap');
  say('a Debian with systemd');
  const root = join(folder, 'debian');
  mkdirSync(root);
  await run('tar', ['-C', root, '-xf', await debianTar({ folder, signal, include: PACKAGES })], { signal });
  for (const name of PROJECT) {
    cpSync(join(ROOT, name), join(root, HOME, name), {
      recursive: true,
      // The project itself may be in a folder of that name.
      filter: (source) => !source.slice(ROOT.length).includes('node_modules'),
    });
  }
  return root;
}

/** A booted system. Its network is a loopback of its own. */
export type Machine = Awaited<ReturnType<typeof bootMachine>>;

/**
 * Boots the root with systemd as process 1.
 * @throws with the last words of the machine, when it does not come up.
 */
export async function bootMachine(root: string, { folder, signal }: CheckRun) {
  const logFile = join(folder, 'boot.log');
  // nspawn alone would leave its machine behind when it is killed. A namespace of processes ends with its first.
  const [command = '', ...args] = [
    ...['setpriv', '--pdeathsig', 'KILL', ...mountedRoot(folder)],
    ...['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
    ...['systemd-nspawn', '--quiet', `--directory=${root}`, '--boot', '--private-network', '--console=pipe'],
    // There may be no systemd outside to register at.
    ...['--register=no', '--keep-unit'],
  ];
  const log = openSync(logFile, 'a');
  const child = spawn(command, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()));
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };

  const isUp = async (): Promise<boolean> => {
    if (signal.aborted || hasEnded(child)) return true;
    const pid = processOne(child);
    if (pid === undefined) return false;
    const state = await inside(pid, 'systemctl is-system-running', { anyStatus: true }).catch(() => undefined);
    return /^(?:running|degraded)$/m.test(state?.stdout ?? '');
  };
  const up = await waitUntil(isUp, BOOT_LIMIT_MS, 200);
  const pid = processOne(child);
  if (!up || signal.aborted || pid === undefined) {
    await end();
    const last = readFileSync(logFile, 'utf8').trim().split('\n').slice(-3).join('\n');
    throw new Error(`systemd does not boot in a container of this machine: ${last}`);
  }

  const execute = (script: string): Promise<Ran> => inside(pid, script, { signal });
  const show = async (unit: string): Promise<UnitState> => {
    const { stdout } = await execute(`systemctl show ${unit}`);
    const given = new Map(stdout.split('\n').map((line) => [line.split('=', 1)[0] ?? '', line.replace(/^[^=]*=/, '')]));
    return (name) => given.get(name) ?? '';
  };
  return {
    pid,
    end,
    /** A shell script of root. @throws when a command of it fails. */
    command: execute,
    /** The same, with the status of the script. */
    status: async (script: string): Promise<number> => (await inside(pid, script, { anyStatus: true, signal })).status,
    /** Properties of a unit, as `systemctl show` names them. */
    show,
    /** Polls a unit. @throws with its last lines of the journal, when the fact does not come true. */
    until: async (unit: string, isTrue: (state: UnitState) => boolean, fault: string, limitMs = 20_000) => {
      let state = await show(unit);
      const came = await waitUntil(
        async () => {
          signal.throwIfAborted();
          state = await show(unit);
          return isTrue(state);
        },
        limitMs,
        200,
      );
      if (came) return state;
      const { stdout } = await execute(`journalctl --no-pager --lines=5 --output=cat --unit=${unit}`);
      throw new Error(`${unit}: ${fault}: it is ${state('ActiveState')}, ${state('Result')}\n${stdout.trimEnd()}`);
    },
    /** One request from within the machine. Status 0: nothing answers. */
    ask: (url: string) => ask(pid, url),
  };
}

type UnitState = (property: string) => string;

interface InsideOptions extends Pick<RunOptions, 'signal'> {
  readonly anyStatus?: boolean;
}

async function inside(pid: number, script: string, { anyStatus = false, ...options }: InsideOptions): Promise<Ran> {
  // In a chroot the root of the machine's processes is not the root of their mount namespace.
  const entered = ['--all', '--root', '--wd', '--target', String(pid), 'env', '-i', PATH, 'sh', '-euc', script];
  const allowed = anyStatus ? Array.from({ length: 256 }, (_, status) => status) : [0];
  try {
    return await run('nsenter', entered, { limitMs: COMMAND_LIMIT_MS, allowed, ...options });
  } catch (error) {
    throw new Error(`in the machine: ${script}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** The systemd of the machine: the child of nspawn, which is the child of unshare. */
function processOne(child: ChildProcess): number | undefined {
  const nspawn = childOf(child.pid);
  return nspawn === undefined ? undefined : childOf(nspawn);
}

function childOf(pid: number | undefined): number | undefined {
  try {
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return first === '' ? undefined : Number(first);
  } catch {
    return undefined;
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** The commands in the comments at the head of a file, each a line that begins with three more spaces. */
export function stepsOf(file: string): readonly string[] {
  const lines = readFileSync(join(ROOT, 'deploy', 'systemd', file), 'utf8').split('\n');
  const steps = lines.flatMap((line) => (line.startsWith('#   ') ? [line.slice(4)] : []));
  hold(steps.length > 0, `deploy/systemd/${file}: its head has no command that installs it`);
  return steps;
}
