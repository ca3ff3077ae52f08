import type { StoreFault } from '../cache/events.ts';

/**
 * The store of control documents: a store of their own, the store of the domain or, without a store, this process's
 * memory. The contract, checked by test/contract/control-store.ts for every adapter and for the memory store:
 * - no method rejects; an operation that fails gives a fault within `deadlineMs`.
 * - `swap` is one script on the server: exactly one of the writers that expect the same tag succeeds.
 * - a document has no expiry, but a server that evicts may lose it: absent does not mean empty.
 */
export interface ControlStore {
  /** The stored document, unless its tag is `known`. One round trip, with a small reply while nothing changes. */
  readonly read: (domain: string, known: string | undefined, deadlineMs: number) => Promise<ControlRead>;
  /** Replaces the document with the tag `expected` by `next`. Undefined: succeeds only when no document is stored. */
  readonly swap: (
    domain: string,
    expected: string | undefined,
    next: ControlValue,
    deadlineMs: number,
  ) => Promise<ControlSwap>;
  /** Raises the count of renewals: the owner of the drill is alive. */
  readonly renew: (domain: string, deadlineMs: number) => Promise<ControlRenewal>;
  /** One process's latest report (figures, a drill's state). All reports are kept `ttlMs` after the last one of any process. */
  readonly report: (domain: string, id: string, value: Buffer, ttlMs: number, deadlineMs: number) => Promise<boolean>;
  /** The reports of all processes. Those of dead processes are included until they expire. */
  readonly reports: (domain: string, deadlineMs: number) => Promise<ControlReports>;
}

export interface ControlValue {
  /** `<revision>-<stamp>`: one line without spaces. */
  readonly tag: string;
  readonly value: Buffer;
}

type Fault = { readonly kind: 'fault'; readonly fault: StoreFault | 'refused' };

export type ControlRead =
  | { readonly kind: 'unchanged'; readonly renewals: number }
  | { readonly kind: 'value'; readonly tag: string; readonly value: Buffer; readonly renewals: number }
  | { readonly kind: 'absent' }
  | Fault;

export type ControlSwap =
  | { readonly kind: 'swapped' }
  /** Another writer was faster, or the store lost the document. */
  | { readonly kind: 'conflict' }
  | Fault;

type ControlRenewal = { readonly kind: 'renewed'; readonly renewals: number } | Fault;

type ControlReports =
  | { readonly kind: 'reports'; readonly reports: readonly { readonly id: string; readonly value: Buffer }[] }
  | Fault;
