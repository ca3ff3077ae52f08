import type { MissReason } from '../cache/events.ts';
import type { Outcome } from '../search/outcome.ts';

/**
 * One event per search, answered or refused; each item of a batch is a search. `domain` is a configured name or `none`,
 * never text that a client sent.
 */
export interface RequestEvent {
  readonly kind: 'request';
  readonly route: 'search' | 'msearch';
  readonly domain: string;
  readonly outcome: Outcome;
  readonly reason?: MissReason;
  readonly status: number;
  /** The bucket of the search's key; absent when the request has no key. */
  readonly bucket?: number;
  readonly durationMs: number;
  /** Where the request is traced. */
  readonly traceId?: string;
}
