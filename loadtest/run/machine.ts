import { arch, availableParallelism, release, totalmem, type } from 'node:os';
import type { Machine } from '../record.ts';
import type { Pins } from './pins.ts';

export function machineHere(k6Version: string, pins: Pins | undefined): Machine {
  return {
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${type()} ${release().split('.').slice(0, 2).join('.')}, ${arch()}`,
    k6: k6Version,
    ...pins,
  };
}
