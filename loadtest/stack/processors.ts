import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { inPath } from './go-program.ts';
import { cpuSecondsIn, processFile } from './process.ts';

const run = promisify(execFile);

/**
 * Two cores kept apart, one for k6 and one for serpcache; every other process may use any core. As taskset takes them: `1`.
 * Runs do so only on request: a process with one core also collects its garbage there, and both stalled for 50–200 ms (at
 * 2,500 searches/s, one in 14 could not be begun in time; without pins, none).
 */
export interface Pins {
  readonly generatorCpus: string;
  readonly serviceCpus: string;
}

/** @param allowed processors this process may use, `0-1,4`: a container seldom has all. Undefined below two. */
export function pinsOf(allowed: string): Pins | undefined {
  const cpus = processorsOf(allowed);
  const [first, last] = [Math.min(...cpus), Math.max(...cpus)];
  return first < last ? { generatorCpus: String(last), serviceCpus: String(first) } : undefined;
}

/** Undefined where it cannot be done; then `say` gets the reason. */
export async function pinsHere(say: (text: string) => void): Promise<Pins | undefined> {
  const pins = pinsOf(processorsHere());
  if (pins === undefined) say('one core for everything: k6 and serpcache are not kept apart');
  else if ((await inPath('taskset')).length === 0) say('no taskset here: k6 and serpcache are not kept apart');
  else return pins;
  return undefined;
}

/** All threads of processes that run already. @throws when one of them ended, or taskset refused. */
export async function pin(pids: readonly number[], cpus: string): Promise<void> {
  for (const pid of pids) await run('taskset', ['--all-tasks', '--cpu-list', '--pid', cpus, String(pid)]);
}

/** The processors this process may use, as taskset lists them: `0-1`. Empty where that is unknown. */
export function processorsHere(): string {
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(processFile('self', 'status'))?.[1] ?? '';
}

/** The processors that a list for taskset names: `0-2,5`. Anything that is not a number or a range is left out. */
export function processorsOf(list: string): readonly number[] {
  return list
    .trim()
    .split(',')
    .flatMap((range) => {
      const [from = Number.NaN, to = from] = range === '' ? [] : range.split('-').map(Number);
      return Number.isInteger(from) && to >= from ? Array.from({ length: to - from + 1 }, (_, i) => from + i) : [];
    });
}

/** The number of processors in a list: 4 in `0-2,5`. Undefined without a list. */
export function processorsIn(list: string | undefined): number | undefined {
  return list === undefined ? undefined : processorsOf(list).length || undefined;
}

/** CPU time of a process since it started, in steps of 10 ms. */
export function processorMs(pid: number): number {
  return (cpuSecondsIn(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? Number.NaN) * 1000;
}
