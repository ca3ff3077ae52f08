import type { StoreEvent, StoreLocation } from '../../cache/store.ts';
import type { Clock } from '../../clock.ts';
import type { RedisNode } from './node.ts';

/** Which nodes there are and which of them owns a name, whatever kind of deployment stands behind it. */
export interface Topology {
  /** Undefined when no node is known for it. */
  readonly ownerOf: (name: string) => RedisNode | undefined;
  readonly locate: (name: string) => StoreLocation;
  readonly nodes: () => readonly RedisNode[];
  /** Those of `nodes` that own names. */
  readonly owners: () => readonly RedisNode[];
  /** What events call a node that is not known (yet). */
  readonly unplaced: string;
  /** A name had no owner. */
  readonly remap: (why: string) => void;
  /** Ends timers and connections at once; what is in flight fails. */
  readonly close: () => void;
}

/** What a topology needs beside its settings. */
export interface TopologyParts {
  readonly name: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: StoreEvent) => void;
}
