import type { DnsNames } from '../../loadtest/fault-proxy/dns-names.ts';
import type { EngineProxy } from '../../loadtest/fault-proxy/engine-proxy.ts';
import type { Queries } from '../../loadtest/traffic/queries.ts';
import type { Changes } from './configuration.ts';
import type { EngineServer, EngineServerOptions } from './engine-server.ts';
import type { Report, Trace } from './report.ts';
import type { ServiceProcess } from './service.ts';
import type { StoreKind, SubjectStore } from './stores.ts';
import type { Reference } from './verdict.ts';

/** One fault: the promise it tests, how it is injected, and the bounds that must hold. */
export interface Row {
  readonly name: string;
  /** The promise, in one sentence. */
  readonly summary: string;
  /** Topology of the subject's store. Default `cluster`: three masters, connected directly. */
  readonly store?: StoreKind;
  /** Index layout of both engines. Default `plain`. Each layout needs its own harness. */
  readonly layout?: EngineServerOptions['layout'];
  /** Maximum number of attempts while the last one is invalid. Default `MAX_ATTEMPTS`. */
  readonly maxAttempts?: number;
  /** Changes to the configuration of both processes. */
  readonly changes?: Changes;
  /** The subject has the control's engine as a second endpoint. */
  readonly mirrored?: boolean;
  /** Rate of the request stream. Default 200. */
  readonly ratePerSecond?: number;
  /** Duration of the fault, `begin` included. Default 3 s. */
  readonly faultMs?: number;
  /** Injects the fault. The request stream continues. */
  readonly begin: (harness: Harness) => Promise<void>;
  /** Removes the fault. Recovery time counts from the end of this call. */
  readonly end?: (harness: Harness) => Promise<void>;
  /** The store is stopped and replaced before the next row. */
  readonly discardStore?: boolean;
  readonly bounds?: Partial<Bounds>;
  /** Proof that the fault happened. Without it the row is invalid. */
  readonly effect: FaultEffect;
  /** Further promises of this row, judged after the stream has ended. */
  readonly check?: (report: Report, harness: Harness) => Promise<Partial<Judgement>> | Partial<Judgement>;
}

/**
 * How a row proves that its fault happened: it reads the injector or the affected server before the fault and at its end.
 * Failed requests are no evidence, because something else may have caused them.
 */
export interface FaultEffect {
  /** Takes the first reading. @returns a function that takes the second one during the fault. Neither rejects. */
  readonly watch: (harness: Harness) => Promise<() => Promise<Trace>>;
}

/**
 * The environment of a row: the subject, whose store and engine get the fault, and the control, which has its own store
 * and engine over the same documents and gets the same requests. It is built once; `prepare` resets it for each row.
 */
export interface Harness {
  readonly subject: ServiceProcess;
  readonly control: ServiceProcess;
  /** The subject's store, of the kind that the row asks for. */
  readonly store: () => SubjectStore;
  /** Host names as the subject resolves them. */
  readonly names: DnsNames;
  /** The subject's searchd, reached through `engineProxy`. */
  readonly engine: EngineServer;
  readonly engineProxy: EngineProxy;
  readonly queries: Queries;
  /** A search text that was never asked before. */
  readonly newSearch: () => string;
  readonly reference: Reference;
  /**
   * Empties the store, starts both processes with the row's configuration and asks both every repeated search once.
   * @throws WarmUpError when a search gets no page or a wrong one.
   */
  readonly prepare: (row: Row) => Promise<void>;
  /** Restarts the subject with the same configuration and ports. */
  readonly restartSubject: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A process did not answer every search correctly during the warm-up. */
export class WarmUpError extends Error {
  override readonly name = 'WarmUpError';
  /** Violations by the subject. They count although the row has not begun. */
  readonly harm: readonly string[];

  constructor(message: string, harm: readonly string[]) {
    super(message);
    this.harm = harm;
  }
}

/** Findings about the promises of a row. */
export interface Judgement {
  /** Each entry describes one broken promise. */
  readonly broken: readonly string[];
  /** Promises without samples: neither kept nor broken. */
  readonly unmeasured: readonly string[];
}

/** The limits of a row. Wrong answers, hung requests and dishonest errors are never allowed. */
export interface Bounds {
  /** Maximum share of requests without a page during the fault. */
  readonly unansweredDuring: number;
  /** The same for searches that were asked before the row. */
  readonly knownUnansweredDuring: number;
  /** Maximum share of requests without a page from the end of the fault until recovery. */
  readonly unansweredAfter: number;
  /** Problem codes that a refusal may have. */
  readonly refusals: readonly string[];
  /** Minimum of the subject's hit ratio divided by the control's during the fault. */
  readonly hitRatioDuring: number;
  /** Maximum time from the end of the fault until the hit ratio is within 2 points of the control's. */
  readonly recoverySeconds: number;
  /** Maximum share of requests whose connection ended without an answer. */
  readonly brokenConnections: number;
  /** Maximum of p95 after recovery divided by p95 before the fault. */
  readonly p95Ratio: number;
  /** Maximum p95 of the refusals during the fault, ms. On a slow machine the limit is `p95Ratio` times its answer time. */
  readonly refusedWithinMs: number;
  /** Maximum number of engine searches per distinct text since the fault began. */
  readonly searchesPerKey: number;
  /** Maximum of the subject's peak memory divided by its peak before the fault. */
  readonly peakRssRatio: number;
  /** Maximum number of store connections opened since the fault began. */
  readonly connectionsOpened: number;
}

/** The defaults: a fault of the store may lower the hit ratio and nothing else. */
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
