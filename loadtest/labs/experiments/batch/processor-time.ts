import { readFileSync } from 'node:fs';

/** Of a process since it started, in steps of 10 ms. */
export interface ProcessorTime {
  /** In its own code. */
  readonly userMs: number;
  /** In the kernel on its behalf: of a store that keeps nothing on disk, that is its sockets. */
  readonly systemMs: number;
}

export function processorTime(pid: number): ProcessorTime {
  // What stands before the last bracket is the program's name, which may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return { userMs: Number(fields[11]) * 10, systemMs: Number(fields[12]) * 10 };
}
