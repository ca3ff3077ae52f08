import { readFile } from 'node:fs/promises';
import { availableParallelism, release, totalmem, type } from 'node:os';
import { programWords } from './program-words.ts';

/**
 * What figures were measured on, in general words: `2 shared cores, 23 GiB, Linux 6.1, Redis 7.0.15`. Nothing names the
 * machine. @param programs names or paths; one that is missing or says no version is left out.
 */
export async function machineWords(programs: readonly string[]): Promise<string> {
  const cores = availableParallelism();
  const versions = await Promise.all(programs.map(programWords));
  const words = [
    `${cores}${(await isShared()) ? ' shared' : ''} ${cores === 1 ? 'core' : 'cores'}`,
    `${Math.max(1, Math.floor(memoryBytes() / 2 ** 30))} GiB`,
    `${type()} ${release().split('.').slice(0, 2).join('.')}`,
    ...versions.filter((version) => version !== undefined),
  ];
  return [...new Set(words)].join(', ');
}

/** Without a limit on this process it is all that the machine has. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Whether the processors were ever taken away for other machines since the start: stolen time, where there is a count. */
async function isShared(): Promise<boolean> {
  const stat = await readFile('/proc/stat', 'utf8').catch(() => '');
  const [, stolen = '0'] = /^cpu +(?:\d+ +){7}(\d+)/.exec(stat) ?? [];
  return Number(stolen) > 0;
}
