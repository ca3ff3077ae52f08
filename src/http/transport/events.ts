/**
 * A limit on connections took effect. `refused`: more than `maxConnections`. `crowded`: idle connections were closed to
 * make room. `ran-ahead`: closed because the client pipelined too many requests. `held`: closed because of the bytes that
 * were buffered for it. `slow`: its request did not arrive in time. `share`: closed while idle, or refused, because its
 * address has as many connections as one address may have.
 */
export interface ConnectionEvent {
  readonly kind: 'connection';
  readonly what: (typeof CONNECTION_EVENTS)[number];
}

export const CONNECTION_EVENTS = ['refused', 'crowded', 'ran-ahead', 'held', 'slow', 'share'] as const;

/**
 * A Bearer token that gave no access. `wrong`: it was compared. `throttled`: it was not compared, because its address has
 * sent too many wrong ones. `ignored`: it was sent to the public listener, which compares no tokens.
 */
export interface TokenEvent {
  readonly kind: 'token';
  readonly listener: 'public' | 'admin';
  readonly result: (typeof TOKEN_RESULTS)[number];
  /** As client.ts names it. */
  readonly address: string;
}

export const TOKEN_RESULTS = ['ignored', 'wrong', 'throttled'] as const;
