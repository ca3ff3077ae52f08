import type { MissReason } from '../../cache/events.ts';
import type { Outcome } from '../../search/events.ts';

/** One per search answered or refused, batch items included: `domain` is a configured name or `none`, never a client's text. */
export interface RequestEvent {
  readonly kind: 'request';
  readonly route: 'search' | 'msearch';
  readonly domain: string;
  readonly outcome: Outcome;
  readonly reason?: MissReason;
  readonly status: number;
  /** Of its key; absent when it had none. */
  readonly bucket?: number;
  readonly durationMs: number;
}

/**
 * What became of connections that never got as far as a search. `refused`: more than `maxConnections`. `crowded`: idle
 * ones were closed to make room. `ran-ahead`: cut for asking without waiting for answers. `held`: cut for what was kept
 * in memory for it. `slow`: its request did not arrive in time. `share`: idle and closed, or refused, because its address
 * has as many as one address may.
 */
export interface ConnectionEvent {
  readonly kind: 'connection';
  readonly what: (typeof CONNECTION_EVENTS)[number];
}

export const CONNECTION_EVENTS = ['refused', 'crowded', 'ran-ahead', 'held', 'slow', 'share'] as const;

/**
 * A Bearer that let nobody in. `wrong`: it was compared. `throttled`: its address has sent too many, it was not. The
 * public listener takes no tokens and compares none: what it is sent is `ignored`.
 */
export interface TokenEvent {
  readonly kind: 'token';
  readonly listener: 'public' | 'admin';
  readonly result: (typeof TOKEN_RESULTS)[number];
  /** As client.ts names it. */
  readonly address: string;
}

export const TOKEN_RESULTS = ['ignored', 'wrong', 'throttled'] as const;
