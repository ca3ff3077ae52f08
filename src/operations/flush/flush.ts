import type { BucketRange, ControlDocument, FlushMode } from '../../control/document.ts';

/** The ways to flush one domain for good. A drill flushes by its overlay instead, and takes it back. */
export interface Flush {
  /** What it would do, without doing it. @throws OperationRefused */
  readonly preview: (ask: FlushRequest) => Promise<FlushPreview>;
  /**
   * Raises the floor of the ranges (`refresh`: the fresh floor) and, to `erase`, removes what lies below it. Resolves
   * when the floor is raised; an erasure goes on behind it, see `erasure`.
   * @throws OperationRefused: invalid-fraction, control-full, not-dedicated, drill-running, control-unavailable …
   */
  readonly flush: (ask: FlushRequest) => Promise<FlushDone & { readonly affected: Affected }>;
  /** Every page of one query. @throws OperationRefused control-full, invalid-request */
  readonly purge: (query: QueryPages) => Promise<FlushDone & { readonly affected: PurgedPages }>;
  /** Documents that vanish from every page at once; `lift`: may be seen again. @throws OperationRefused control-full */
  readonly suppress: (ids: readonly string[], lift?: boolean) => Promise<FlushDone>;
  /** The latest erasure of this process, running or over. */
  readonly erasure: () => Erasure | undefined;
  /**
   * Physically removes what lies in the ranges (and on the nodes, when named). The floor must have been raised before. For
   * drills, and for `flush`. @throws OperationRefused not-dedicated
   */
  readonly erase: (ask: EraseRequest, signal: AbortSignal) => Promise<Erasure>;
  readonly close: () => void;
}

export interface FlushRequest {
  readonly mode: FlushMode;
  /** 0–1, above 0. Which buckets is chosen at random each time, unless `from` says where the range begins. */
  readonly fraction: number;
  readonly from?: number;
  /** With `refresh`: what the indexing job calls its new index. */
  readonly indexVersion?: string;
  /** With `erase`; `unlink` unless said. */
  readonly by?: EraseBy;
}

/**
 * `unlink`: SCAN and UNLINK of this domain's entries, at a bounded rate. `flushall`: whole nodes, which the store must be
 * declared `dedicated` for; it takes the fraction 1 and a control document that is kept elsewhere.
 */
export type EraseBy = 'unlink' | 'flushall';

export interface FlushDone {
  readonly before: ControlDocument;
  readonly after: ControlDocument;
  readonly ranges: readonly BucketRange[];
}

/** Pages held when the flush was asked for. */
export interface Affected {
  /** In this process. */
  readonly memory: number;
  readonly store: { readonly pages: number; readonly exact: boolean } | 'not-counted' | 'no-store';
}

/** How the pages of one query are told from others. */
export interface QueryPages {
  /** Canonical. */
  readonly text: string;
  /** The canonical form of each of its pages is this, or goes on after it with `&`. */
  readonly canonicalStart: string;
  /** The name of its first page, without filters, in a store. */
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
  /** How each node was erased. */
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

/** What a flush would cost. Estimates say what they rest on. */
export interface FlushPreview {
  readonly mode: FlushMode;
  readonly fraction: number;
  readonly ranges: readonly BucketRange[];
  /** Per node of the store; empty without one. */
  readonly nodes: readonly {
    readonly node: string;
    /** Of this domain, in the ranges. */
    readonly keys: number;
    readonly bytes: number;
    /** False: told from a sample of the node's keys. */
    readonly exact: boolean;
    readonly detail?: string;
  }[];
  /** In this process. */
  readonly memory: { readonly entries: number; readonly bytes: number };
  readonly engine: SurvivalEstimate;
}

/**
 * What the engine would get. From the searches of the last minute or so of this process (`seconds`, `searches`): with a
 * share f of the keys lost, misses rise from m to m + f·h searches; the engine carries that while f ≤ f* = (H − 1)/(A − 1).
 */
export interface SurvivalEstimate {
  readonly seconds: number;
  readonly searches: number;
  /** Undefined without traffic. */
  readonly hitRatio?: number;
  /** Mean cost of a miss. */
  readonly engineCallMs?: number;
  readonly engineCallsPerSecond: number;
  /** More of them right after the flush, at most (before coalescing). */
  readonly extraCallsPerSecond?: number;
  /** H, at least: what the engine can do ÷ what it does; measured by its limit and the cost of a call. */
  readonly headroom?: number;
  /** A, at most: engine calls with nothing cached ÷ engine calls now. */
  readonly amplification?: number;
  /** f*, at least: 0–1, the share of the keys that may be lost at once. */
  readonly survivable?: number;
}

/** What the flush room says happened, once; metrics, logs and tests read it. */
export type FlushEvent =
  | {
      readonly kind: 'flushed';
      readonly domain: string;
      readonly mode: FlushMode;
      /** Buckets of 10 000. */
      readonly buckets: number;
      readonly generation: number;
    }
  | { readonly kind: 'purged'; readonly domain: string; readonly generation: number }
  | { readonly kind: 'suppressed'; readonly domain: string; readonly ids: number; readonly lifted: boolean }
  /** An erasure is over. */
  | {
      readonly kind: 'erasure';
      readonly domain: string;
      readonly state: Exclude<Erasure['state'], 'running'>;
      readonly removed: number;
      readonly durationMs: number;
      /** What the nodes that failed said. */
      readonly detail?: string;
    }
  /** Entries that can never be served again have left L1. */
  | { readonly kind: 'swept'; readonly domain: string; readonly looked: number; readonly removed: number };
