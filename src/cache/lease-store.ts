import type { StoreFault } from './reason.ts';
import type { StoreWrite } from './store.ts';

/**
 * What a lease needs of a store: one short key beside each entry, on the same slot. Promises, checked by
 * test/contract/lease.ts over every adapter and the memory fake:
 * - nothing here rejects; what cannot be done is a fault, and its caller goes on without a lease (fail-open).
 * - every change of a lease is one script on the server that looks at the token first: whoever lost its lease changes
 *   nothing any more.
 */
export interface LeaseStore {
  /** Takes the lease if nobody holds it. Settles within `deadlineMs`; a lease taken after that is given back unasked. */
  readonly take: (names: LeaseNames, token: string, ttlMs: number, deadlineMs: number) => Promise<LeaseTake>;
  /**
   * In one script: if the lease is still `token`'s, SET the entry with its lifetime and DEL the lease; else nothing. When
   * the entry cannot be written the lease is given back all the same, as far as the node can be reached.
   */
  readonly writeAndRelease: (names: LeaseNames, token: string, value: Buffer, ttlMs: number) => Promise<LeaseWrite>;
  /**
   * DEL if it is still `token`'s. With `passForMs` a mark stays in its place for so long: this page cannot be stored, so
   * that whoever waits for it asks the engine itself instead of queuing for the next lease.
   */
  readonly release: (names: LeaseNames, token: string, passForMs?: number) => Promise<void>;
  /** For those who wait: the entry once nobody holds the lease any more. Small while it is held. */
  readonly look: (names: LeaseNames, deadlineMs: number) => Promise<LeaseLook>;
}

export interface LeaseNames {
  /** `sc1:<domain>:{<key>}` */
  readonly entry: string;
  /** `sc1:<domain>:lease:{<key>}` */
  readonly lease: string;
}

export type LeaseTake =
  /** `value`: the entry as it is at this moment. It may have been written since the caller looked. */
  | { readonly kind: 'taken'; readonly value?: Buffer }
  | { readonly kind: 'held' }
  /** Somebody's page could not be stored a moment ago: no lease for this key now. */
  | { readonly kind: 'pass' }
  | { readonly kind: 'fault'; readonly fault: StoreFault | 'refused' };

export type LeaseWrite = StoreWrite | { readonly kind: 'dropped'; readonly fault: 'fenced' };

export type LeaseLook =
  | { readonly kind: 'held' }
  | { readonly kind: 'pass' }
  /** `value` is absent when whoever held it left without storing anything. */
  | { readonly kind: 'free'; readonly value?: Buffer }
  | { readonly kind: 'fault'; readonly fault: StoreFault | 'refused' };

/** The braces keep the entry and its lease on one slot. */
export function leaseNames(entry: string): LeaseNames {
  return { entry, lease: entry.replace('{', 'lease:{') };
}
