import { readFileSync } from 'node:fs';

/** The processors this process may use, as taskset lists them: `0-1`. Empty where that is unknown. */
export function processorsHere(): string {
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(readStatus())?.[1] ?? '';
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
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const [user, system] = [fields[11], fields[12]];
  return (Number(user) + Number(system)) * 10;
}

function readStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    return '';
  }
}
