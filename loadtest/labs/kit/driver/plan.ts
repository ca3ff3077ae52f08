/** The load of one driver process: bounded, over raw connections, for loads that redis-benchmark cannot make. */
export interface DrivePlan {
  readonly targets: readonly Target[];
  /** All together, spread evenly over the targets. */
  readonly connections: number;
  readonly seconds: number;
  readonly commands: Commands;
  /** Closed loop: commands that each connection sends at once and then waits for. Default: 1. */
  readonly pipeline?: number;
  /** Open loop: commands a second of all connections together, each on the next connection, without waiting for replies. */
  readonly ratePerSecond?: number;
  /** Closed loop: number of commands after which a connection is closed and a new one opened; absent: kept. */
  readonly commandsPerConnection?: number;
  /**
   * With `commandsPerConnection`: all are open when the time begins, each at another point of its life, as after a long
   * run. Absent: all are opened at the beginning, and this is part of the measurement.
   */
  readonly isSettled?: true;
  readonly deadline?: Deadline;
  /** PEM of the CA. */
  readonly ca?: string;
  readonly seed: number;
  /** Processes whose processor time is read at both ends of the load. */
  readonly watched?: readonly number[];
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** A command is abandoned `ms` after it was due, and counts as an error. */
export interface Deadline {
  readonly ms: number;
  /** The connection is closed, as by clients with a socket timeout; otherwise the late reply is dropped and it stays open. */
  readonly closes: boolean;
}

export type Commands =
  /** See mix.ts. */
  | {
      readonly kind: 'mix';
      readonly keys: number;
      readonly leastBytes: number;
      readonly mostBytes: number;
      readonly writes: number;
    }
  /** `__rand_int__` stands for a number in 0…keys-1, as in redis-benchmark but without leading zeros. */
  | { readonly kind: 'fixed'; readonly words: readonly string[]; readonly keys?: number };

/** The result. Times are milliseconds from when a command was due to its whole reply, connecting included. */
export interface Driven {
  readonly seconds: number;
  readonly answered: number;
  readonly perSecond: number;
  readonly latencyMs: Latency;
  readonly errors: Errors;
  /** Still under way when the time was over: neither answered nor failed. */
  readonly unanswered: number;
  readonly connects: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** CPU time of the driver process during the measurement. */
  readonly processorSeconds: number;
  /** Busy cores of each watched process meanwhile. */
  readonly watchedCores: readonly number[];
  readonly eachSecond: readonly DrivenSecond[];
}

export interface Latency {
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface Errors {
  /** No reply within the deadline. */
  readonly late: number;
  /** Under way when their connection broke or was closed for another one's deadline. */
  readonly broken: number;
  /** Error replies. */
  readonly refused: number;
  /** Due but not sent: too many were waiting, or there was no connection. */
  readonly unsent: number;
  /** Attempts to connect that failed. */
  readonly unconnected: number;
}

export interface DrivenSecond {
  readonly answered: number;
  readonly failed: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}
