import { readFileSync } from 'node:fs';

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

/** The unit of time in /proc: 100 a second on every architecture of Node, independent of the kernel's HZ. */
export const TICKS_PER_SECOND = 100;

/** Processor time of all threads since the process started. @param stat /proc/<pid>/stat. @returns undefined for no process. */
export function cpuSecondsIn(stat: string): number | undefined {
  const field = statFields(stat);
  const ticks = Number(field(14)) + Number(field(15));
  return Number.isFinite(ticks) ? ticks / TICKS_PER_SECOND : undefined;
}

/** A field by its number, which proc(5) counts from 1. The second, the program's name, may hold spaces and brackets. */
export function statFields(stat: string): (number: number) => string | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (number) => fields[number - 3];
}

/** @param status /proc/<pid>/status, in kilobytes; statm counts pages of unknown size. @returns undefined for a zombie. */
export function residentBytesIn(status: string): number | undefined {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** A file of a process in /proc; empty when it cannot be read. */
export function processFile(pid: number | 'self', file: string): string {
  return orEmpty(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'));
}

/** A process may end between two reads, and those of other users are not readable. */
export function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
