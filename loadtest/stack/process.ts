import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server started for tests or the local stack: ended by its pid, and with this process at the latest. */
export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Sends any signal, SIGCONT included; for SIGSTOP see `pause`. */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** SIGSTOP; resolves when every thread has stopped: a signal sent is not yet a process that no longer answers. */
  readonly pause: () => Promise<void>;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when the process is gone. Safe to call twice. */
  readonly stop: (graceMs?: number) => Promise<void>;
  /** Resolves when the process ends, however. */
  readonly ended: Promise<void>;
}

export interface ProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Polled every 50 ms until true; the start fails after `readyTimeoutMs` (20 s) or when the process ends first. */
  readonly ready: () => Promise<boolean>;
  readonly readyTimeoutMs?: number;
  /** Let it outlive this process (the local stack). */
  readonly detached?: boolean;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** @throws with the end of its log when the program is missing, ends early or is not ready in time. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const log = openSync(options.logFile, 'a');
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', log, log],
    detached: options.detached ?? false,
  });
  closeSync(log);
  let failure: string | undefined;
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

  const stop = async (graceMs = 5000): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const waited = await Promise.race([ended.then(() => 'ended'), sleep(graceMs, 'late', { ref: false })]);
    if (waited === 'late') child.kill('SIGKILL');
    await ended;
  };

  const deadline = performance.now() + (options.readyTimeoutMs ?? 20_000);
  while (failure === undefined && !(await options.ready().catch(() => false))) {
    if (performance.now() > deadline) {
      await stop(0);
      throw new Error(`${options.name} was not ready in time: ${tail(options.logFile)}`);
    }
    await sleep(20);
  }
  if (failure !== undefined || child.pid === undefined) throw new Error(failure);
  return {
    name: options.name,
    pid: child.pid,
    logFile: options.logFile,
    signal: (signal) => child.kill(signal),
    pause: () => pause(child),
    stop,
    ended,
  };
}

async function pause(child: ChildProcess): Promise<void> {
  child.kill('SIGSTOP');
  const threads = `/proc/${child.pid}/task`;
  // The state follows the program's name, which may hold spaces but ends in the last bracket.
  const isStopped = (thread: string): boolean => /^.*\) [Tt]/s.test(readFileSync(`${threads}/${thread}/stat`, 'utf8'));
  while (child.exitCode === null && child.signalCode === null && !readdirSync(threads).every(isStopped)) await sleep(5);
}

/** Called when a process ends: a log that was removed before that must not keep anybody waiting for the end. */
function tail(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
  } catch {
    return `its log ${logFile} is gone`;
  }
}

/** Whether something accepts connections there. */
export async function accepts(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
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
