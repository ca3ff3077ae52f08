/** Folders beside a page: one JSON file for each of its sections, and the plots of all sections. */
export const [RECORDS, PLOTS] = ['records', 'plots'];

/** Whether a published statement holds on this machine. `unseen`: the rows cannot tell, for instance after a disturbance. */
export type Verdict = 'yes' | 'partly' | 'no' | 'unseen';

/** The result of an experiment: the source of its tables, plots and page. It is plain JSON. */
export interface Finding {
  /** Name on the command line: `batch`. */
  readonly name: string;
  readonly title: string;
  /** The published statement and, in general words, its author. */
  readonly published: string;
  readonly claims: readonly Claim[];
  readonly verdict: Verdict;
  /** Written by a person: what to do about it. It holds no figures; the claims do. */
  readonly sentence: string;
  readonly tables: readonly FindingTable[];
  readonly charts: readonly Chart[];
  /** Conditions of the measurement, a sentence each. */
  readonly notes: readonly string[];
}

/** One figure of the rows and the bounds (inclusive) within which the published statement holds. */
export interface Claim {
  /** Name of the figure: `rate of the best batch ÷ rate of single commands, 10 connections`. */
  readonly text: string;
  /** Undefined: it could not be measured. */
  readonly figure?: number | undefined;
  readonly unit: Unit;
  /** Without a bound the figure stands beside the claims and decides nothing. */
  readonly atLeast?: number;
  readonly atMost?: number;
  /** The verdict is `no` when it fails and `unseen` when it could not be seen, whatever the other claims say. */
  readonly isRequired?: true;
}

export interface FindingTable {
  readonly title: string;
  /** One for each of `Row.values`, in the same order. */
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Column {
  readonly name: string;
  readonly unit: Unit;
}

/** How a number is shown, and what it is: a share lies between 0 and 1, times is a ratio, cores are busy cores. */
export type Unit =
  | 'per-second'
  | 'bytes-per-second'
  | 'ms'
  | 'us'
  | 'seconds'
  | 'bytes'
  | 'count'
  | 'share'
  | 'times'
  | 'cores'
  | 'text';

export interface Row {
  /** The varied value: `pipeline of 50`. */
  readonly name: string;
  /** Undefined: could not be measured here, and a note says why. */
  readonly values: readonly (number | string | undefined)[];
  /** The published figures of the same row: `12k/s, 18 ms`. */
  readonly published?: string;
  /** Absent where no store was loaded. */
  readonly limit?: Limit;
  /** The redis-benchmark or memtier command that repeats it. */
  readonly command?: string;
}

/**
 * The side that was full while a row was measured: the store, the load generator, both, or neither, for instance at a
 * given rate or behind a slow network. A row limited by its generator measures the generator and not the store.
 */
export type Limit = 'store' | 'generator' | 'both' | 'neither';

/** Points over the rows of a table. `places` names the points of the axis; every series has one value for each. */
export interface Chart {
  /** Part of the file's name: `<experiment>-<id>.svg`, or `<experiment>.svg` when it is ''. */
  readonly id: string;
  readonly title: string;
  /** The quantity on the axis: `commands in a pipeline`. */
  readonly across: string;
  readonly places: readonly string[];
  readonly unit: Unit;
  /** Bars for names (of engines), lines for points on a scale. */
  readonly shape: 'bars' | 'lines';
  /** Where values are orders of magnitude apart. */
  readonly isLog?: true;
  readonly series: readonly Series[];
}

export interface Series {
  readonly name: string;
  /** Published by others: drawn unlike a measurement. */
  readonly isPublished?: true;
  readonly values: readonly (number | undefined)[];
}

/** A finding as it is kept: `finding.json`. */
export interface FindingRecord {
  readonly version: 2;
  readonly finding: Finding;
  /** In general words: cores, memory, system, versions of servers. Nothing that names the machine. */
  readonly machine: string;
  /** UTC, ISO 8601. */
  readonly startedAt: string;
  readonly tookSeconds: number;
  /** Cores that other programs kept busy meanwhile on our processors, stolen time included. Absent: not readable. */
  readonly othersCores?: number;
  /** Commit of the measured code: see `commitOf`. Absent outside of a repository. */
  readonly commit?: string;
  /** The command that runs it again with the same settings. */
  readonly command: string;
}
