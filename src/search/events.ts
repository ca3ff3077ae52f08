import type { CacheEvent } from '../cache/events.ts';
import type { EngineReason, SearchErrorCode } from '../resilience/search-error.ts';
import type { Outcome } from './outcome.ts';

/** The events of search and of the cache under it. Metrics, logs and tests read them. */
export type SearchEvent =
  | CacheEvent
  | {
      readonly kind: 'engine';
      readonly domain: string;
      readonly result: 'whole' | 'empty' | 'partial' | EngineReason;
      /** The reply came after the client had been answered. */
      readonly late: boolean;
      readonly durationMs: number;
      /** The engine's own text about a failure or a partial page: for the log, never for clients. */
      readonly detail?: string;
      /** Where the search is traced. */
      readonly traceId?: string;
    }
  | {
      readonly kind: 'refresh';
      readonly domain: string;
      /** `leased`: another process is loading the page. */
      readonly result: 'from-store' | 'from-engine' | 'leased' | SearchErrorCode;
    }
  /** A hit was compared with the engine's answer at that moment. */
  | { readonly kind: 'audit'; readonly domain: string; readonly result: 'equal' | StaleReason }
  | {
      readonly kind: 'lifeboat';
      readonly domain: string;
      readonly result: 'whole' | 'empty' | 'shed' | EngineReason;
    };

/**
 * Why a page was not what the engine answered, the first that holds. `changed`: a document of both has other members. `left`,
 * `entered`: a document is on one of them only. `facet`: totals or facets differ. `unknown`: the order of documents of different
 * ranks differs.
 */
export type StaleReason = 'changed' | 'left' | 'entered' | 'facet' | 'unknown';

/** The outcomes that have a page. */
export type AnswerOutcome = Extract<Outcome, 'hit-l1' | 'hit-l2' | 'stale' | 'collapsed' | 'engine' | 'lifeboat'>;
