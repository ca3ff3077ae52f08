import type { StoreFault } from '../cache/events.ts';

/**
 * Where control documents live: in a store of their own, in the domain's, or in this process when there is none.
 * Promises, checked by test/contract/control-store.ts over every adapter and the memory one:
 * - nothing here rejects; what cannot be done is a fault, settled within `deadlineMs`.
 * - `swap` is one script on the server: of writers that expect the same tag exactly one succeeds.
 * - what is stored has no lifetime, but a server that evicts may lose it: absent is never the same as empty.
 */
export interface ControlStore {
  /** What is stored, unless it is tagged `known`. One round trip whose reply is small while nothing changes. */
  readonly read: (domain: string, known: string | undefined, deadlineMs: number) => Promise<ControlRead>;
  /** Puts `next` in the place of what is tagged `expected`; undefined: of nothing. */
  readonly swap: (
    domain: string,
    expected: string | undefined,
    next: ControlValue,
    deadlineMs: number,
  ) => Promise<ControlSwap>;
  /** Moves the renewals on: the owner of a drill lives. */
  readonly renew: (domain: string, deadlineMs: number) => Promise<ControlRenewal>;
  /** One process's latest report (figures, a drill's state), kept `ttlMs` after the last report of anybody. */
  readonly report: (domain: string, id: string, value: Buffer, ttlMs: number, deadlineMs: number) => Promise<boolean>;
  /** All reports, whoever wrote them. Those of dead processes are among them until they lapse. */
  readonly reports: (domain: string, deadlineMs: number) => Promise<ControlReports>;
}

export interface ControlValue {
  /** Of one line, without spaces: `<revision>-<stamp>`. */
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
  /** Somebody was faster, or the store lost what it held. */
  | { readonly kind: 'conflict' }
  | Fault;

export type ControlRenewal = { readonly kind: 'renewed'; readonly renewals: number } | Fault;

export type ControlReports =
  | { readonly kind: 'reports'; readonly reports: readonly { readonly id: string; readonly value: Buffer }[] }
  | Fault;
