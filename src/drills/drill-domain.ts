import type { Control } from '../control/control.ts';
import type { Flush } from '../flush/flush.ts';
import type { FleetReadings } from '../meter/fleet.ts';
import type { Figures } from '../meter/reading.ts';

/** What a drill may touch of one domain. */
export interface DrillDomain {
  readonly name: string;
  readonly control: Control;
  readonly flush: Pick<Flush, 'preview' | 'erase'>;
  readonly readings: Pick<FleetReadings, 'collect'>;
  /** What this process did in the last minute or so: what a dry run is told from. */
  readonly recent: () => Figures | undefined;
  /** Of the store (`host:port`), in its order; empty without one. */
  readonly nodes: () => readonly string[];
  /** Nothing else lives in the store: whole nodes may be emptied. */
  readonly dedicated: boolean;
  readonly hasStore: boolean;
  /** The longest that a client waits for an answer. Guards over durations follow it. */
  readonly patienceMs: number;
}
