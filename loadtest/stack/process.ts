import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { orEmpty, processFile, statFields, TICKS_PER_SECOND } from './processors.ts';

/** A server started for tests or the local stack: ended by its pid, and with this process at the latest. */
export type RunningProcess = Awaited<ReturnType<typeof startProcess>>;

interface ProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Polled every 20 ms until true; the start fails after `readyTimeoutMs` (2 minutes) or when the process ends first. */
  readonly ready: () => Promise<boolean>;
  readonly readyTimeoutMs?: number;
  /** Let it outlive this process (the local stack). */
  readonly detached?: boolean | undefined;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** @throws with the end of its log when the program is missing, ends early or is not ready in time. */
export async function startProcess(options: ProcessOptions) {
  const log = openSync(options.logFile, 'a');
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', log, log],
    detached: options.detached,
  });
  closeSync(log);
  let failure: string | undefined;
  /** Resolves when the process ends, for any reason. */
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      failure = `${options.name}: cannot start ${options.command}: ${error.message}`;
      resolve();
    });
    child.once('exit', (code, signal) => {
      failure ??= `${options.name} ended (${signal ?? code}): ${tail(options.logFile)}`;
      running.delete(child);
      resolve();
    });
  });
  if (options.detached) child.unref();
  else running.add(child);

  /** SIGTERM, then SIGKILL after `graceMs`; resolves when the process has ended. Safe to call twice. */
  const stop = async (graceMs = 20_000): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const waited = await Promise.race([ended.then(() => 'ended'), sleep(graceMs, 'late', { ref: false })]);
    if (waited === 'late') child.kill('SIGKILL');
    await ended;
  };

  const deadline = performance.now() + (options.readyTimeoutMs ?? 120_000);
  while (failure === undefined && !(await options.ready().catch(() => false))) {
    if (performance.now() > deadline) {
      await stop(0);
      throw new Error(`${options.name} was not ready in time: ${tail(options.logFile)}`);
    }
    await sleep(20);
  }
  if (failure !== undefined || child.pid === undefined) throw new Error(failure);
  return {
    pid: child.pid,
    logFile: options.logFile,
    /** Sends any signal, SIGCONT included; for SIGSTOP see `pause`. */
    signal: (signal: NodeJS.Signals): void => {
      child.kill(signal);
    },
    pause: () => pause(child),
    stop,
    ended,
    /** Null while it runs, and when a signal ended it. */
    exitStatus: (): number | null => child.exitCode,
  };
}

/** SIGSTOP; resolves when every thread has stopped, which is later than the signal was sent. */
async function pause(child: ChildProcess): Promise<void> {
  child.kill('SIGSTOP');
  const threads = `/proc/${child.pid}/task`;
  // The state follows the program's name, which may contain spaces and ends with the last bracket.
  const isStopped = (thread: string): boolean => /^.*\) [Tt]/s.test(readFileSync(`${threads}/${thread}/stat`, 'utf8'));
  while (child.exitCode === null && child.signalCode === null && !readdirSync(threads).every(isStopped)) await sleep(5);
}

/** Called when a process ends: a log that was removed before must not delay the end. */
function tail(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
  } catch {
    return `its log ${logFile} is gone`;
  }
}

export async function accepts(port: number, host = '127.0.0.1'): Promise<boolean> {
  const socket = connect({ port, host });
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

/**
 * Free loopback ports, each with `port + 10000` free as well: a cluster node's bus listens there. Both stay below 32768,
 * where the kernel takes ports for outgoing connections: one of those would hold the port when the server wants it.
 * No port is given twice in one process or in one run of the tests: servers bind theirs seconds later, and test files run
 * side by side.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries += 1) {
    if (tries > 2000) throw new Error(`no ${count} free ports on loopback`);
    const port = 11_000 + Math.floor(Math.random() * 10_000);
    if (givenPorts.has(port) || !isFirstInRun(port)) continue;
    givenPorts.add(port);
    if ((await isFree(port)) && (await isFree(port + 10_000))) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

const givenPorts = new Set<number>();

/** A run of the tests has a folder of its own, which test/run.ts removes: there a port is claimed by creating its file. */
function isFirstInRun(port: number): boolean {
  const folder = process.env['SERPCACHE_TEST_RUN'];
  if (folder === undefined) return true;
  try {
    closeSync(openSync(join(folder, `port-${port}`), 'wx'));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}

/**
 * Aborts its signal when this process is told to end. Until it is disposed, further signals do nothing: a second Ctrl-C would
 * end the process and leave servers behind.
 */
export function stopOnSignals(say: (text: string) => void) {
  const stopping = new AbortController();
  const stop = (): void => {
    if (!stopping.signal.aborted) say('stopping: what was started is ended first');
    stopping.abort();
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, stop);
  return {
    signal: stopping.signal,
    [Symbol.dispose]: () => {
      for (const name of names) process.removeListener(name, stop);
    },
  };
}

/** A running server of the local stack. `startTicks` tells it from a later process that got the same pid. */
type OwnedProcess = ReturnType<typeof findOwned>[number];

/**
 * The processes of one part of the stack, found in /proc by program and working directory, a folder of their own. Servers
 * outlive the command that started them. A pid file is missing when `up` was interrupted, and wrong when another process
 * got the pid. searchd may be two processes: the server and its watchdog.
 */
export function findOwned(part: { readonly program: string; readonly folder: string }) {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || orEmpty(() => readlinkSync(`/proc/${pid}/cwd`)) !== part.folder) return [];
    // Servers that set a title separate its words by spaces, the others by NUL.
    const [command = ''] = processFile(pid, 'cmdline').split(/[\0 ]/);
    const startTicks = startTicksOf(pid);
    return basename(command) === part.program && startTicks !== undefined ? [{ pid, startTicks }] : [];
  });
}

/** SIGTERM, after `graceMs` SIGKILL; resolves when all are gone. */
export async function endOwned(processes: readonly OwnedProcess[], graceMs = 10_000): Promise<void> {
  signalOwned(processes, 'SIGCONT');
  signalOwned(processes, 'SIGTERM');
  const areGone = (): boolean => !processes.some(isAlive);
  if (await waitUntil(areGone, graceMs)) return;
  signalOwned(processes, 'SIGKILL');
  if (!(await waitUntil(areGone, 5000))) throw new Error(`cannot end ${processes.map((one) => one.pid)}`);
}

export function signalOwned(processes: readonly OwnedProcess[], signal: NodeJS.Signals): void {
  for (const one of processes) if (isAlive(one)) process.kill(one.pid, signal);
}

/** Milliseconds since it was started. */
export function ageMs({ startTicks }: OwnedProcess): number {
  const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return Math.max(0, (uptimeSeconds - startTicks / TICKS_PER_SECOND) * 1000);
}

/** Polls until true. @returns false: it was not true within `limitMs`. */
export async function waitUntil(
  isTrue: () => boolean | Promise<boolean>,
  limitMs: number,
  intervalMs = 50,
): Promise<boolean> {
  const untilMs = performance.now() + limitMs;
  while (!(await isTrue())) {
    if (performance.now() > untilMs) return false;
    await sleep(intervalMs);
  }
  return true;
}

function isAlive({ pid, startTicks }: OwnedProcess): boolean {
  return startTicksOf(pid) === startTicks;
}

/** Undefined when there is no such process, or only a zombie. */
function startTicksOf(pid: number): number | undefined {
  const field = statFields(processFile(pid, 'stat'));
  return field(3) === 'Z' || field(22) === undefined ? undefined : Number(field(22));
}

/** All threads of processes that run already. @throws when one of them ended, or taskset refused. */
export async function pin(pids: readonly number[], cpus: string): Promise<void> {
  for (const pid of pids)
    await promisify(execFile)('taskset', ['--all-tasks', '--cpu-list', '--pid', cpus, String(pid)]);
}
