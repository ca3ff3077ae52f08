import type { BucketRange, ControlDocument, FlushMode } from '../../control/document.ts';

/** Permanent flushes of one domain. A drill flushes by its overlay instead, which it removes at its end. */
export interface Flush {
  /** The effects of the flush, without the flush. @throws OperationError */
  readonly preview: (request: FlushRequest) => Promise<FlushPreview>;
  /**
   * Raises the floor of the ranges (`refresh`: the fresh floor) and, with `erase`, removes the entries below it. Resolves
   * when the floor is raised; the erasure goes on in the background, see `erasure`.
   * @throws OperationError: invalid-fraction, control-full, not-dedicated, drill-running, control-unavailable …
   */
  readonly flush: (request: FlushRequest) => Promise<FlushDone & { readonly affected: Affected }>;
  /** Flushes every page of one query. @throws OperationError control-full, invalid-request */
  readonly purge: (query: QueryPages) => Promise<FlushDone & { readonly affected: PurgedPages }>;
  /** Hides documents from every page at once; `lift`: shows them again. @throws OperationError control-full */
  readonly suppress: (ids: readonly string[], lift?: boolean) => Promise<FlushDone>;
  /** The latest erasure of this process, running or ended. */
  readonly erasure: () => Erasure | undefined;
  /**
   * Physically removes the entries in the ranges (and on the nodes, when named). The floor must have been raised before.
   * For drills, and for `flush`. @throws OperationError not-dedicated
   */
  readonly erase: (request: EraseRequest, signal: AbortSignal) => Promise<Erasure>;
  readonly close: () => void;
}

export interface FlushRequest {
  readonly mode: FlushMode;
  /** Above 0, at most 1. The buckets are chosen at random each time, unless `from` names the first one. */
  readonly fraction: number;
  readonly from?: number;
  /** With `refresh`: the name of the new index. */
  readonly indexVersion?: string;
  /** With `erase`; default `unlink`. */
  readonly by?: EraseBy;
}

/**
 * `unlink`: SCAN and UNLINK of this domain's entries, at a bounded rate. `flushall`: empties whole nodes. It requires a
 * store that is declared `dedicated`, the fraction 1, and a control document in another store.
 */
export type EraseBy = 'unlink' | 'flushall';

export interface FlushDone {
  readonly before: ControlDocument;
  readonly after: ControlDocument;
  readonly ranges: readonly BucketRange[];
}

/** Cached pages at the time of the flush. */
export interface Affected {
  /** In this process. */
  readonly memory: number;
  readonly store: { readonly pages: number; readonly exact: boolean } | 'not-counted' | 'no-store';
}

/** Identifies the pages of one query. */
export interface QueryPages {
  /** The canonical text of the query. */
  readonly text: string;
  /** The canonical form of each page is equal to this, or continues it with `&`. */
  readonly canonicalStart: string;
  /** The name in a store of its first page, without filters. */
  readonly firstStoreName: string;
}

export interface PurgedPages {
  /** In this process. */
  readonly memory: number;
  /** The first page, without filters. */
  readonly firstInStore: 'held' | 'absent' | 'unknown' | 'no-store';
}

export interface EraseRequest {
  readonly ranges: readonly BucketRange[];
  readonly nodes?: readonly string[];
  readonly by: EraseBy;
}

export interface Erasure {
  readonly state: 'running' | 'done' | 'failed' | 'stopped';

  readonly nodes: readonly {
    readonly node: string;
    readonly by: EraseBy;
    readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped';
    readonly scanned: number;
    readonly removed: number;
    readonly detail?: string;
  }[];
  readonly seconds: number;
}

/** The effects of a flush before it is done, partly estimated. */
export interface FlushPreview {
  readonly mode: FlushMode;
  readonly fraction: number;
  readonly ranges: readonly BucketRange[];
  /** Per node of the store; empty without one. */
  readonly nodes: readonly {
    readonly node: string;
    /** Keys of this domain in the ranges. */
    readonly keys: number;
    readonly bytes: number;
    /** False: estimated from a sample of the node's keys. */
    readonly exact: boolean;
    readonly detail?: string;
  }[];
  /** In this process. */
  readonly memory: { readonly entries: number; readonly bytes: number };
  readonly engine: SurvivalEstimate;
}

/**
 * The load on the engine, estimated from the searches of this process over the last minute (`seconds`, `searches`): with a
 * share f of the keys lost, misses rise from m to m + f·h searches. The engine can serve that while f ≤ f* = (H − 1)/(A − 1).
 */
export interface SurvivalEstimate {
  readonly seconds: number;
  readonly searches: number;
  /** Undefined without traffic. */
  readonly hitRatio?: number;
  /** Mean duration of a call. */
  readonly engineCallMs?: number;
  readonly engineCallsPerSecond: number;
  /** Maximum of additional calls right after the flush (before coalescing). */
  readonly extraCallsPerSecond?: number;
  /** H, a lower bound: capacity of the engine ÷ its calls now. The capacity follows from its limit and the mean duration. */
  readonly headroom?: number;
  /** A, an upper bound: engine calls with nothing cached ÷ engine calls now. */
  readonly amplification?: number;
  /** f*, a lower bound: the share of the keys that may be lost at once, 0–1. */
  readonly survivable?: number;
}

/** Events of flushes, for the log. */
export type FlushEvent =
  | {
      readonly kind: 'flushed';
      readonly domain: string;
      readonly mode: FlushMode;
      /** Number of buckets, of 10 000. */
      readonly buckets: number;
      readonly generation: number;
    }
  | { readonly kind: 'purged'; readonly domain: string; readonly generation: number }
  | { readonly kind: 'suppressed'; readonly domain: string; readonly ids: number; readonly lifted: boolean }
  /** An erasure has ended. */
  | {
      readonly kind: 'erasure';
      readonly domain: string;
      readonly state: Exclude<Erasure['state'], 'running'>;
      readonly removed: number;
      readonly durationMs: number;
      /** The messages of the nodes that failed. */
      readonly detail?: string;
    }
  /** Entries that can never be served again were removed from L1. */
  | { readonly kind: 'swept'; readonly domain: string; readonly looked: number; readonly removed: number };
