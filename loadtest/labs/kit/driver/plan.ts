import type { Mix } from '../mix.ts';

/** One run of the driver process: a bounded load over raw connections, for loads that redis-benchmark cannot make. */
export interface DrivePlan {
  readonly targets: readonly Target[];
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

export interface Target {
  readonly host: string;
  readonly port: number;
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

export interface Driven extends Latency {
  readonly seconds: number;
  readonly answered: number;
  readonly perSecond: number;
  readonly errors: Errors;
  readonly connects: number;
  readonly receivedBytes: number;
  readonly processorSeconds: number;
  /** Busy cores of each watched process. */
  readonly watchedCores: readonly number[];
  readonly eachSecond: readonly DrivenSecond[];
}

/** From when a command was due to its whole reply, connecting included. */
export interface Latency {
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Errors {
  /** No reply within the deadline. */
  readonly late: number;
  /** In flight when the connection broke or was closed because of another command's deadline. */
  readonly broken: number;
  readonly refused: number;
  /** Due but not sent: the connection had the maximum number of commands in flight, or there was no connection. */
  readonly unsent: number;
  readonly unconnected: number;
}

export interface DrivenSecond {
  readonly answered: number;
  readonly failed: number;
}
