import type { Unit } from './text.ts';

/** Folders beside a page: a JSON file for each section, and the plots of all sections. */
export const [RECORDS, PLOTS] = ['records', 'plots'];

/** Whether a published statement holds on this machine. `unseen`: the rows do not show it, for instance after a disturbance. */
export type Verdict = 'yes' | 'partly' | 'no' | 'unseen';

/** The result of an experiment, from which its tables, plots and page are made. It can be written as JSON. */
export interface Finding {
  /** Its name on the command line: `batch`. */
  readonly name: string;
  readonly title: string;
  /** The published statement, and who published it, in general words. */
  readonly published: string;
  readonly claims: readonly Claim[];
  readonly verdict: Verdict;
  /** The advice, written by a person. It contains no figures; those are in the claims. */
  readonly sentence: string;
  readonly tables: readonly FindingTable[];
  readonly charts: readonly Chart[];
  readonly notes: readonly string[];
}

/** A figure of the rows, and the inclusive bounds within which the published statement holds. */
export interface Claim {
  /** The meaning of the figure: `rate of the best batch ÷ rate of single commands, 10 connections`. */
  readonly text: string;
  /** Undefined: it could not be measured. */
  readonly figure?: number | undefined;
  readonly unit: Unit;
  /** A figure without bounds is shown beside the claims and does not affect the verdict. */
  readonly atLeast?: number;
  readonly atMost?: number;
  /** The verdict is `no` when this claim fails and `unseen` when it has no figure, regardless of the other claims. */
  readonly isRequired?: true;
}

export interface FindingTable {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Column {
  readonly name: string;
  readonly unit: Unit;
}

export interface Row {
  /** The varied setting: `pipeline of 50`. */
  readonly name: string;
  /** Undefined: it could not be measured here, and a note says why. */
  readonly values: readonly (number | string | undefined)[];
  /** The published values of the row: `12k/s, 18 ms`. */
  readonly published?: string;
  /** Absent where no store was loaded. */
  readonly limit?: Limit;
}

/**
 * The part that was at its capacity during a row: the store, the generator of the load, both, or neither (at a fixed rate,
 * or when the network is the limit). A row that its generator limits shows the capacity of the generator, not of the store.
 */
export type Limit = 'store' | 'generator' | 'both' | 'neither';

/** Series over named positions (`places`) of an axis. Every series has one value for each position. */
export interface Chart {
  /** Part of the file's name: `<experiment>-<id>.svg`, or `<experiment>.svg` when it is ''. */
  readonly id: string;
  readonly title: string;
  /** The title of the axis: `commands in a pipeline`. */
  readonly across: string;
  readonly places: readonly string[];
  readonly unit: Unit;
  /** Bars for places that are not on a scale (names of engines), lines for those that are. */
  readonly shape: 'bars' | 'lines';
  /** For values that are orders of magnitude apart. */
  readonly isLog?: true;
  readonly series: readonly Series[];
}

export interface Series {
  readonly name: string;
  /** Published by others: drawn differently from measurements. */
  readonly isPublished?: true;
  readonly values: readonly (number | undefined)[];
}

/** The content of `finding.json`. */
export interface FindingRecord {
  readonly version: 2;
  readonly finding: Finding;
  /** Cores, memory, system and versions of servers in general words, without a name of the machine. */
  readonly machine: string;
  /** UTC, ISO 8601. */
  readonly startedAt: string;
  readonly tookSeconds: number;
  /** Mean number of our processors that others kept busy, stolen time included. Absent: it could not be measured. */
  readonly othersCores?: number;
  /** Commit of the measured code: see `commitOf`. Absent outside of a repository. */
  readonly commit?: string;
  readonly command: string;
}
