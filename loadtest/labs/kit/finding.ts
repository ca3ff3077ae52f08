/** Folders beside a page: one JSON file for each of its sections, and the plots of all sections. */
export const [RECORDS, PLOTS] = ['records', 'plots'];

/** Whether a published statement holds on this machine. `unseen`: the rows cannot tell, for instance after a disturbance. */
export type Verdict = 'yes' | 'partly' | 'no' | 'unseen';

/** What an experiment found: everything its tables, its plots and its page are made from. It is JSON as it stands. */
export interface Finding {
  /** As it is called on the command line: `batch`. */
  readonly name: string;
  readonly title: string;
  /** What was published, and by whom in general words: the tables stand beside it. */
  readonly published: string;
  readonly claims: readonly Claim[];
  readonly verdict: Verdict;
  /** Written by a person: what to do about it. It holds no figures; the claims do. */
  readonly sentence: string;
  readonly tables: readonly FindingTable[];
  readonly charts: readonly Chart[];
  /** What a reader has to know to believe the figures, a sentence each. */
  readonly notes: readonly string[];
}

/** One figure of the rows and the bounds (inclusive) within which the published statement holds. */
export interface Claim {
  /** What the figure is: `rate of the best batch ÷ rate of single commands, 10 connections`. */
  readonly text: string;
  /** Undefined: it could not be seen. */
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
  /** Of `Row.values`, in the same order. */
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
  /** What was varied: `pipeline of 50`. */
  readonly name: string;
  /** Undefined: could not be measured here, and a note says why. */
  readonly values: readonly (number | string | undefined)[];
  /** The same row as it was published, when it was: `12k/s, 18 ms`. */
  readonly published?: string;
  /** Absent where no store was loaded. */
  readonly limit?: Limit;
  /** The redis-benchmark or memtier command that repeats it. */
  readonly command?: string;
}

/**
 * What was full while a row was measured: the store, whoever generated the load, both, or neither, as when a rate was
 * given or the network was waited for. A row limited by its generator says what the generator can do, not the store.
 */
export type Limit = 'store' | 'generator' | 'both' | 'neither';

/** Points over the rows of a table. What a point is said to be on the axis is `places`; every series has one value each. */
export interface Chart {
  /** Part of the file's name: `<experiment>-<id>.svg`, or `<experiment>.svg` when it is ''. */
  readonly id: string;
  readonly title: string;
  /** What `places` are of: `commands in a pipeline`. */
  readonly across: string;
  readonly places: readonly string[];
  readonly unit: Unit;
  /** Bars for things that are not on a scale (names of engines), lines for those that are. */
  readonly shape: 'bars' | 'lines';
  /** Where values are orders of magnitude apart. */
  readonly isLog?: true;
  readonly series: readonly Series[];
}

export interface Series {
  readonly name: string;
  /** Published by others: drawn so that nobody takes it for a measurement. */
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
  /** Cores that others kept busy meanwhile, on processors we could use, stolen ones among them. Absent: nobody could look. */
  readonly othersCores?: number;
  /** Commit of the measured code: see `commitOf`. Absent outside of a repository. */
  readonly commit?: string;
  /** That runs it again with the same settings. */
  readonly command: string;
}
