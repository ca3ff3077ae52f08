import type { Limit } from './finding.ts';

/** Of all the time: starting and ending are measured along, and somebody else always takes a little. */
const FULL = 0.85;

export interface Busy {
  /** Busy cores of the store that was busiest, over the measured time. */
  readonly storeCores: number;
  /** Busy cores of everything that generated load. */
  readonly generatorCores: number;
}

export interface Room {
  /** Cores one store can use: 1 without io-threads, never more than there are. */
  readonly storeCores: number;
  readonly generatorCores: number;
}

/** What was full, by the processor time both used of what they could have had. */
export function limitOf(busy: Busy, room: Room = { storeCores: 1, generatorCores: 1 }): Limit {
  const store = busy.storeCores >= FULL * room.storeCores;
  const generator = busy.generatorCores >= FULL * room.generatorCores;
  if (store) return generator ? 'both' : 'store';
  return generator ? 'generator' : 'neither';
}
