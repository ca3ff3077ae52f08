import { readFileSync } from 'node:fs';
import type { ProcessSample } from './sample.ts';

/** Of the unit /proc counts processor time in: 100 on every architecture Node runs on, whatever the kernel's own HZ. */
export const TICKS_PER_SECOND = 100;

export interface NamedProcess {
  readonly name: string;
  readonly pid: number;
}

/** All its threads, none of its children. Undefined when it has ended, or there is no /proc. */
export function readProcess({ name, pid }: NamedProcess): ProcessSample | undefined {
  try {
    return processSampleOf(
      name,
      readFileSync(`/proc/${pid}/stat`, 'utf8'),
      readFileSync(`/proc/${pid}/status`, 'utf8'),
    );
  } catch {
    return undefined;
  }
}

/**
 * @param stat /proc/<pid>/stat
 * @param status /proc/<pid>/status: the same figure as in statm, but in kilobytes and not in pages of unknown size.
 * @returns undefined of a process that has ended and was not waited for: it has no memory any more.
 */
export function processSampleOf(name: string, stat: string, status: string): ProcessSample | undefined {
  // The program's name comes second and may hold spaces and brackets; proc(5) counts the fields from 1.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  const cpuTicks = field(14) + field(15);
  const residentKb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (!Number.isFinite(cpuTicks) || residentKb === undefined) return undefined;
  return { name, cpuSeconds: cpuTicks / TICKS_PER_SECOND, residentBytes: Number(residentKb) * 1024 };
}
