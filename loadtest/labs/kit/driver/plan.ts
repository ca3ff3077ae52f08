/** What one driver process does: a bounded load over raw connections, for what redis-benchmark cannot do. */
export interface DrivePlan {
  readonly targets: readonly Target[];
  /** All together, spread evenly over the targets. */
  readonly connections: number;
  readonly seconds: number;
  readonly commands: Commands;
  /** Closed loop: commands each connection sends at once and then waits for. 1 unless said. */
  readonly pipeline?: number;
  /** Open loop: commands a second of all connections together, each on the next connection, whatever was answered. */
  readonly ratePerSecond?: number;
  /** Closed loop: a connection is closed after so many commands and a new one opened; absent: kept. */
  readonly commandsPerConnection?: number;
  /**
   * With `commandsPerConnection`: all are open when the time begins, each at another point of its life, as after a long
   * time of it. Absent: all are opened at once when it begins, and that is measured along.
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

/** A command nobody waits for any longer. It is an error, at `ms` after it was due. */
export interface Deadline {
  readonly ms: number;
  /** As clients do whose timeout closes the connection; else its late reply is dropped and the connection lives on. */
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

/** What came of it. Times are milliseconds from when a command was due to its whole reply, connecting included. */
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
  /** Of the driver process while it measured. */
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
  /** Due, and not even sent: too many were waiting already, or no connection was there. */
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
