import type { MissReason } from '../cache/reason.ts';
import type { Outcome } from '../search/outcome.ts';

/** One per search answered or refused, batch items included: `domain` is a configured name or `none`, never a client's text. */
export interface RequestEvent {
  readonly kind: 'request';
  readonly route: 'search' | 'msearch';
  readonly domain: string;
  readonly outcome: Outcome;
  readonly reason?: MissReason;
  readonly status: number;
  readonly durationMs: number;
}
