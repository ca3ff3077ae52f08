import Type from 'typebox';
import { BUCKET_RANGE, type BucketRange, FLUSH_MODES, type FlushMode } from '../../control/document.ts';
import { amount, count, type Decoded, oneOf, share } from '../../schema/fields.ts';

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
export const ERASE_BY = ['unlink', 'flushall'] as const;
export type EraseBy = (typeof ERASE_BY)[number];

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

/** The mode of a flush or a drill in a body or a journal. */
export const FLUSH_MODE = oneOf(
  FLUSH_MODES,
  '`refresh` serves the pages as stale while they are computed again, `drop` makes them misses, `erase` also removes them from the store.',
);
export const ERASE_METHOD = oneOf(
  ERASE_BY,
  'How to erase: the keys of this domain one by one, or whole nodes of a store that is declared dedicated.',
);

export const ERASURE = Type.Object({
  state: oneOf(['running', 'done', 'failed', 'stopped']),
  nodes: Type.Array(
    Type.Object({
      node: Type.String(),
      by: ERASE_METHOD,
      state: oneOf(['waiting', 'running', 'done', 'failed', 'stopped']),
      scanned: Type.Integer(),
      removed: Type.Integer(),
      detail: Type.Optional(Type.String()),
    }),
  ),
  seconds: Type.Number(),
});
export type Erasure = Decoded<typeof ERASURE>;

/**
 * The load on the engine, estimated from the searches of this process over the last minute (`seconds`, `searches`): with a
 * share f of the keys lost, misses rise from m to m + f·h searches. The engine can serve that while f ≤ f* = (H − 1)/(A − 1).
 */
const SURVIVAL_ESTIMATE = Type.Object(
  {
    seconds: amount(),
    searches: count(),
    hitRatio: Type.Optional(share('Absent without traffic.')),
    engineCallMs: Type.Optional(amount('Mean duration of a call.')),
    engineCallsPerSecond: amount(),
    extraCallsPerSecond: Type.Optional(amount('Maximum of additional calls right after the flush, before coalescing.')),
    headroom: Type.Optional(
      amount('H, a lower bound: the capacity of the engine, by its limit and mean duration, ÷ its present calls.'),
    ),
    amplification: Type.Optional(amount('A, an upper bound: engine calls without a cache ÷ engine calls now.')),
    survivable: Type.Optional(
      amount('f* = (H − 1)/(A − 1), 0–1, a lower bound: the share of the keys that may be lost at once.'),
    ),
  },
  { description: 'From the searches of this process in about the last minute.' },
);

const MAX_ITEMS = 1024;

/** The effects of a flush before it is done, partly estimated. */
export const FLUSH_PREVIEW = Type.Object({
  mode: FLUSH_MODE,
  fraction: share(),
  ranges: Type.Array(BUCKET_RANGE, { maxItems: MAX_ITEMS }),
  nodes: Type.Array(
    Type.Object({
      node: Type.String({ maxLength: 300 }),
      keys: amount('Keys of this domain in the ranges.'),
      bytes: amount(),
      exact: Type.Boolean({ description: 'False: estimated from a sample.' }),
      detail: Type.Optional(Type.String({ maxLength: 4000 })),
    }),
    { maxItems: MAX_ITEMS, description: 'Per node of the store; empty without one.' },
  ),
  memory: Type.Object({ entries: amount(), bytes: amount() }, { description: 'In this process.' }),
  engine: SURVIVAL_ESTIMATE,
});

export type FlushPreview = Decoded<typeof FLUSH_PREVIEW>;
export type SurvivalEstimate = FlushPreview['engine'];

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
