import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A running server of the local stack. `startTicks` tells it from a later process that got the same pid. */
export interface OwnedProcess {
  readonly pid: number;
  readonly startTicks: number;
}

/**
 * What tells the processes of one part from everybody else's. Servers that outlive the command that started them are
 * found by what they are, not by a note of their pid: the note is missing when `up` was cut short, and lies when the
 * pid was given to somebody else.
 */
export interface Identity {
  /** Name of the running program. */
  readonly program: string;
  /** Its working directory, which lies in the stack's own folder. */
  readonly folder: string;
}

/** Only where there is /proc. */
export function findOwned({ program, folder }: Identity): OwnedProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || readLink(pid) !== folder) return [];
    // Servers that set a title separate its words by spaces, the others by NUL.
    const [command = ''] = read(pid, 'cmdline').split(/[\0 ]/);
    const startTicks = startTicksOf(pid);
    return basename(command) === program && startTicks !== undefined ? [{ pid, startTicks }] : [];
  });
}

/** SIGTERM, after `graceMs` SIGKILL; resolves when all are gone. */
export async function endOwned(processes: readonly OwnedProcess[], graceMs = 10_000): Promise<void> {
  signalOwned(processes, 'SIGCONT');
  signalOwned(processes, 'SIGTERM');
  if (await allGone(processes, graceMs)) return;
  signalOwned(processes, 'SIGKILL');
  if (!(await allGone(processes, 5000))) throw new Error(`cannot end ${processes.map((one) => one.pid)}`);
}

export function signalOwned(processes: readonly OwnedProcess[], signal: NodeJS.Signals): void {
  for (const one of processes) if (isAlive(one)) process.kill(one.pid, signal);
}

/** Milliseconds since it was started. */
export function ageMs({ startTicks }: OwnedProcess): number {
  const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  return Math.max(0, uptimeMs - startTicks * 10); // /proc counts in hundredths of a second
}

/** Resident bytes. */
export function residentBytes({ pid }: OwnedProcess): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(pid, 'status'))?.[1] ?? 0) * 1024;
}

async function allGone(processes: readonly OwnedProcess[], timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (processes.some(isAlive)) {
    if (performance.now() > deadlineMs) return false;
    await sleep(50);
  }
  return true;
}

function isAlive({ pid, startTicks }: OwnedProcess): boolean {
  return startTicksOf(pid) === startTicks;
}

/** Undefined when there is no such process, or only a dead one that nobody has waited for. */
function startTicksOf(pid: number): number | undefined {
  const text = read(pid, 'stat');
  // The second field is a name that may hold anything, in brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.length < 20 || fields[0] === 'Z' ? undefined : Number(fields[19]);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function readLink(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
