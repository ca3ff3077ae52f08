import type { HostPort } from '../../../../src/schema/units.ts';
import type { Mix } from '../mix.ts';

/** One run of the driver process: a bounded load over raw connections, for loads that redis-benchmark cannot make. */
export interface DrivePlan {
  readonly targets: readonly HostPort[];
  /** The total, spread evenly over the targets. */
  readonly connections: number;
  readonly seconds: number;
  readonly commands: Commands;
  /** Closed loop: commands that a connection sends at once before it waits for their replies. Default: 1. */
  readonly pipeline?: number;
  /** Open loop: commands per second over all connections, each on the next connection, whether or not earlier ones were answered. */
  readonly ratePerSecond?: number;
  /**
   * Closed loop: a connection is replaced by a new one after this number of commands. When the measurement begins, each one
   * is at a different point of its life, as in the steady state. Absent: connections are kept.
   */
  readonly commandsPerConnection?: number;
  readonly deadline?: Deadline;
  /** PEM of the CA. */
  readonly ca?: string;
  readonly seed: number;
  /** Pids whose processor time is read at both ends of the load. */
  readonly watched?: readonly number[];
}

/** A command without a reply `ms` after it was due is an error. */
export interface Deadline {
  readonly ms: number;
  /** True: the connection is closed, as by clients with such a timeout. False: the late reply is dropped. */
  readonly closes: boolean;
}

export type Commands =
  | ({ readonly kind: 'mix' } & Mix)
  /** `__rand_int__` is replaced by a number in 0…keys-1, as in redis-benchmark but without leading zeros. */
  | { readonly kind: 'fixed'; readonly words: readonly string[]; readonly keys?: number };
