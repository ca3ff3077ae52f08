import { arch, availableParallelism, release, totalmem, type } from 'node:os';
import type { Machine } from '../judge/record.ts';
import { machineWords } from '../labs/kit/machine.ts';
import type { Pins } from '../stack/processors.ts';

/** Servers of the local stack, whose versions the figures depend on. */
const PROGRAMS = ['node', 'redis-server', 'valkey-server', 'searchd'];

export async function machineHere(k6Version: string, pins: Pins | undefined): Promise<Machine> {
  return {
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${type()} ${release().split('.').slice(0, 2).join('.')}, ${arch()}`,
    k6: k6Version,
    words: `${await machineWords(PROGRAMS)}, k6 ${k6Version.replace(/^v/, '')}`,
    ...pins,
  };
}
