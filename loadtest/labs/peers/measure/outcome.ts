import type { Peer } from '../peer.ts';
import type { PageFigures } from './cached-page.ts';
import type { DeadEngineFigures } from './dead-engine.ts';
import type { MemoryFigures } from './memory.ts';
import type { StampedeFigures } from './stampede.ts';

/** What was measured of one peer. What is absent could not be, and `problems` says why. */
export interface Outcome {
  readonly peer: Pick<Peer, 'name' | 'setUp' | 'keeps'>;
  /** One page, again and again. */
  readonly page?: PageFigures;
  /** Many pages in turn. */
  readonly many?: PageFigures;
  readonly memory?: MemoryFigures;
  readonly stampede?: StampedeFigures;
  readonly dead?: DeadEngineFigures;
  readonly problems: readonly string[];
}

/** Store reads for each request, from which on pages are said to come from the store. */
const FROM_STORE = 0.5;

/** At full speed, or at the rate that times are taken at. False where it was not measured. */
export function isFromStore(figures: PageFigures | undefined, at: 'full speed' | 'rate'): boolean {
  if (figures === undefined) return false;
  return (at === 'rate' ? figures.storeCommandsAtRate : figures.storeCommands) >= FROM_STORE;
}

/** Ours, as it is meant to run, and with its pages in the store alone. */
export const OURS = { memory: 'serpcache L1', store: 'serpcache L2' } as const;

export function isOurs({ peer }: Pick<Outcome, 'peer'>): boolean {
  return peer.name === OURS.memory || peer.name === OURS.store;
}
