import type { Bed, BedOptions } from './bed.ts';
import type { Changes } from './configuration.ts';
import type { Felt } from './felt.ts';
import type { Report } from './report.ts';
import type { StoreKind } from './stores.ts';

/** One fault: a promise, how it is broken on purpose, and what must hold meanwhile. */
export interface Row {
  readonly name: string;
  /** The promise, in one sentence. */
  readonly says: string;
  /** What the subject's store is made of. Default `cluster`: three masters, reached directly. */
  readonly store?: StoreKind;
  /** Of the engines. Default `plain`. Each kind is a bed of its own. */
  readonly layout?: BedOptions['layout'];
  /** Tries at most, while one is invalid. Default `TRIES`. */
  readonly tries?: number;
  /** Of the configuration of both processes. */
  readonly changes?: Changes;
  /** The subject may ask the control's engine as well, as a second endpoint. */
  readonly mirrored?: boolean;
  /** Of the stream. */
  readonly ratePerSecond?: number;
  /** How long the fault lasts, `begin` included. Default 3 s. */
  readonly faultMs?: number;
  /** The fault begins. The stream goes on meanwhile. */
  readonly begin: (bed: Bed) => Promise<void>;
  /** The fault is gone: from here on recovery is counted. */
  readonly end?: (bed: Bed) => Promise<void>;
  /** The store cannot be used again afterwards. */
  readonly spoilsStore?: boolean;
  readonly bounds?: Partial<Bounds>;
  /** Proof that the fault happened: a row whose fault did not happen says nothing. */
  readonly felt: Felt;
  /** Further promises, judged when all is over. */
  readonly check?: (report: Report, bed: Bed) => Promise<Partial<Judgement>> | Partial<Judgement>;
}

/** Findings about a row's promises. */
export interface Judgement {
  /** Each text a broken promise. */
  readonly broken: readonly string[];
  /** Promises about which there were no samples: neither kept nor broken. */
  readonly unmeasured: readonly string[];
}

/** What may happen at most. Wrong answers, hung requests and dishonest errors may never. */
export interface Bounds {
  /** Share of requests without a page while the fault lasts. */
  readonly unansweredDuring: number;
  /** The same of searches that were asked before. */
  readonly knownUnansweredDuring: number;
  /** Share without a page after it, until recovered and beyond. */
  readonly unansweredAfter: number;
  /** Codes of refusals that are in order. */
  readonly refusals: readonly string[];
  /** The subject's hit ratio over the control's while the fault lasts, at least. */
  readonly hitRatioDuring: number;
  /** From the end of the fault until the hit ratio is the control's, within 2 points. */
  readonly recoverySeconds: number;
  /** Share of requests whose connection ended without an answer. */
  readonly brokenConnections: number;
  /** p95 once recovered over p95 before. */
  readonly p95Ratio: number;
  /** p95 of the refusals while the fault lasts, in ms; on a busy machine `p95Ratio` times what answers take there. */
  readonly refusedWithinMs: number;
  /** Engine searches per distinct text among them, from the fault on. */
  readonly searchesPerKey: number;
  /** Peak memory of the subject over what it had before the fault. */
  readonly peakRssRatio: number;
  /** Connections to the store opened from the fault on. */
  readonly connectionsOpened: number;
}

/** A store's fault shows in the hit ratio and nowhere else. */
export const BOUNDS: Bounds = {
  unansweredDuring: 0,
  knownUnansweredDuring: 0,
  unansweredAfter: 0,
  refusals: ['overloaded', 'busy', 'engine-open', 'engine-unavailable', 'engine-deadline'],
  hitRatioDuring: 0,
  recoverySeconds: 15,
  brokenConnections: 0,
  p95Ratio: 2,
  refusedWithinMs: Number.POSITIVE_INFINITY,
  searchesPerKey: 2,
  peakRssRatio: 2,
  connectionsOpened: Number.POSITIVE_INFINITY,
};
