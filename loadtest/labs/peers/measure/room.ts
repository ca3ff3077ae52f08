import type { PeerScene } from '../peer.ts';

/** What stands behind all peers: one engine, and what counts, slows and ends it. loadtest/labs/peers/engine-room.ts is one. */
export interface Room {
  readonly origin: string;
  readonly engine: PeerScene['engine'];
  /** Searches that reached the engine since it was started, whoever asked. */
  readonly searches: () => number;
  /** Each search stays that much longer at the engine, until said otherwise. */
  readonly delay: (ms: number) => unknown;
  /** Whoever asks is refused, and what is under way is lost. */
  readonly die: () => Promise<unknown> | unknown;
  readonly revive: () => Promise<unknown> | unknown;
  /** So many different searches that find something. */
  readonly texts: (count: number) => readonly string[];
}
