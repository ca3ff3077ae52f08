import { readFileSync } from 'node:fs';

/** Of a process's main thread since it was started. */
export interface RunTime {
  readonly ranMs: number;
  /** Ready to run while its processor was somebody else's. */
  readonly waitedMs: number;
}

/** To the nanosecond, where /proc/<pid>/stat counts in steps of 10 ms (https://docs.kernel.org/scheduler/sched-stats.html). */
export function runTimeOf(pid: number): RunTime {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}
