import type { DnsNames } from '../../loadtest/proxy/dns-names.ts';
import type { EngineProxy } from '../../loadtest/proxy/engine-proxy.ts';
import type { Queries } from '../../loadtest/traffic/queries.ts';
import type { EngineServer, EngineServerOptions } from './engine-server.ts';
import type { Report, Trace } from './report.ts';
import type { Changes, ServiceProcess } from './service.ts';
import type { StoreKind, SubjectStore } from './stores.ts';
import type { Reference } from './verdict.ts';

/** One fault: a promise, how it is broken on purpose, and what must hold meanwhile. */
export interface Row {
  readonly name: string;
  /** The promise, in one sentence. */
  readonly summary: string;
  /** What the subject's store is made of. Default `cluster`: three masters, reached directly. */
  readonly store?: StoreKind;
  /** Of the engines. Default `plain`. Each kind is a harness of its own. */
  readonly layout?: EngineServerOptions['layout'];
  /** Tries at most, while one is invalid. Default `TRIES`. */
  readonly maxAttempts?: number;
  /** Of the configuration of both processes. */
  readonly changes?: Changes;
  /** The subject may ask the control's engine as well, as a second endpoint. */
  readonly mirrored?: boolean;
  /** Of the stream. */
  readonly ratePerSecond?: number;
  /** How long the fault lasts, `begin` included. Default 3 s. */
  readonly faultMs?: number;
  /** The fault begins. The stream goes on meanwhile. */
  readonly begin: (harness: Harness) => Promise<void>;
  /** The fault is gone: from here on recovery is counted. */
  readonly end?: (harness: Harness) => Promise<void>;
  /** The store cannot be used again afterwards. */
  readonly discardStore?: boolean;
  readonly bounds?: Partial<Bounds>;
  /** Proof that the fault happened: a row whose fault did not happen says nothing. */
  readonly effect: FaultEffect;
  /** Further promises, judged when all is over. */
  readonly check?: (report: Report, harness: Harness) => Promise<Partial<Judgement>> | Partial<Judgement>;
}

/**
 * How a row proves that its fault happened: a reading of the injector or of the server it hits, before the fault and at
 * its end. Harm to users is no evidence: a row must not be valid because something else hurt them.
 */
export interface FaultEffect {
  /** Reads now. @returns reads again, while the fault still lasts. Neither rejects. */
  readonly watch: (harness: Harness) => Promise<() => Promise<Trace>>;
}

/**
 * What every row runs on: the subject, whose store and engine are hurt, and the control, which has a store and an engine
 * of its own over the same documents and is fed the same stream. Built once; `prepare` gives each row the same start.
 */
export interface Harness {
  readonly subject: ServiceProcess;
  readonly control: ServiceProcess;
  /** The subject's, as the row wants it. */
  readonly store: () => SubjectStore;
  /** Names of stores, as the subject resolves them. */
  readonly names: DnsNames;
  /** The subject's searchd, behind `engineProxy`. */
  readonly engine: EngineServer;
  readonly engineProxy: EngineProxy;
  readonly queries: Queries;
  /** The next search nobody ever asked. */
  readonly newSearch: () => string;
  readonly reference: Reference;
  /**
   * An empty store, both processes with the row's configuration, and every repeated search asked once of both.
   * @throws WarmUpError when one gets no page or a wrong one.
   */
  readonly prepare: (row: Row) => Promise<void>;
  /** Starts the subject again as the row began it, on the same ports. */
  readonly restartSubject: () => Promise<void>;
  readonly stop: () => Promise<void>;
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
