import type { StoreFault } from './events.ts';

/**
 * The L2 port: a domain's Redis-protocol store. Bytes in, bytes out; what they mean is the entry codec's business.
 * Promises, checked by test/contract/store.ts over every adapter and the memory fake:
 * - nothing here ever rejects or throws: a store's problem is a miss with a reason, never a client's problem.
 * - `read` settles within its deadline (plus timer resolution), whatever the node does; it closes no connection.
 * - work outstanding per node is bounded: past the bound a read is `store-saturated`, a write is dropped.
 */
export interface Store {
  readonly read: (name: string, deadlineMs: number) => Promise<StoreRead>;
  /** Results in the order of `names`, in per-node pipelines of bounded batches; each reply stands for itself. */
  readonly readMany: (names: readonly string[], deadlineMs: number) => Promise<readonly StoreRead[]>;
  /** Overwrites. `ttlMs` ≥ 1. Resolves when the node has confirmed or the write was given up. */
  readonly write: (name: string, value: Buffer, ttlMs: number) => Promise<StoreWrite>;
  /** As `write`, where nothing is: what is there stays. In per-node pipelines of bounded batches, results in order. */
  readonly seedMany: (items: readonly SeedItem[]) => Promise<readonly SeedResult[]>;
  readonly leases: LeaseStore;
  /**
   * A random word per part of the store that is lost alone (a cluster's node, a server), written there when there is
   * none. It changes when, and only when, that part has lost what it held. Parts that cannot be asked are left out.
   */
  readonly epochs: (deadlineMs: number) => Promise<readonly StoreEpoch[]>;
  /** Says that process `id` lives for `ttlMs` more, and counts those that do, on the server's clock. */
  readonly beat: (id: string, ttlMs: number, deadlineMs: number) => Promise<StoreBeat>;
  /** Takes `id` out of that count at once. */
  readonly leave: (id: string, deadlineMs: number) => Promise<void>;
  /** Where a name lives, without asking the network. */
  readonly locate: (name: string) => StoreLocation;
  readonly nodes: () => readonly StoreNode[];
  readonly close: () => Promise<void>;
}

export type StoreRead =
  /** Perhaps a view of a larger read buffer: who keeps it copies it. */
  | { readonly kind: 'value'; readonly value: Buffer }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'fault';
      readonly fault: StoreFault;
      /** With `store-slow`: the reply that may still come, undefined when absent or never. Never rejects. */
      readonly late?: Promise<Buffer | undefined>;
    };

export type StoreWrite =
  | { readonly kind: 'stored' }
  | { readonly kind: 'dropped'; readonly fault: StoreFault | 'refused' };

export interface SeedItem {
  readonly name: string;
  readonly value: Buffer;
  /** ≥ 1. */
  readonly ttlMs: number;
}

export type SeedResult = StoreWrite | { readonly kind: 'kept' };

export interface StoreEpoch {
  /** Names the part across failovers: the same data keeps its part. */
  readonly part: string;
  /** `host:port` that serves it now, as `locate` says it. */
  readonly node: string;
  readonly epoch: string;
}

export type StoreBeat =
  /** `rank`: the place of this process among them, 0 … live − 1, by id. */
  | { readonly kind: 'fleet'; readonly live: number; readonly rank: number }
  | { readonly kind: 'fault'; readonly fault: StoreFault | 'refused' };

export interface StoreLocation {
  /** Redis Cluster hash slot, 0–16383; absent for stores without slots. */
  readonly slot?: number;
  /** `host:port` of the node that owns the name, as far as the client knows. */
  readonly node?: string;
}

export interface StoreNode {
  /** `host:port`. */
  readonly node: string;
  /** Of the node's breaker: `open` costs its own keys a miss in ~0 ms and other nodes nothing. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  readonly connected: boolean;
  /** Commands sent and not yet answered. */
  readonly outstanding: number;
}

/** What a store says happened, once; metrics, logs and tests read it. */
export type StoreEvent =
  | {
      readonly kind: 'command';
      /**
       * `lease`: one script of a lease. `fleet`: an epoch, a beat, a leave. `control`: a domain's control document and the
       * reports of its processes. `content`: counting and erasing. `counters`: what is asked.
       */
      readonly operation: 'read' | 'write' | 'lease' | 'fleet' | 'control' | 'content' | 'counters';
      readonly node: string;
      /** `answered`: of all but `read` and `write`, whatever the answer was. */
      readonly result: 'value' | 'absent' | 'stored' | 'answered' | StoreFault | 'refused';
      readonly durationMs: number;
    }
  | {
      readonly kind: 'pipeline';
      readonly type: 'read' | 'write';
      readonly node: string;
      readonly size: number;
      readonly failed: number;
      readonly durationMs: number;
    }
  | { readonly kind: 'late'; readonly node: string; readonly hit: boolean; readonly durationMs: number }
  | { readonly kind: 'breaker'; readonly node: string; readonly state: StoreNode['breaker'] }
  | {
      readonly kind: 'connection';
      readonly node: string;
      readonly state: 'open' | 'closed' | 'failed';
      readonly detail?: string;
    }
  | { readonly kind: 'topology'; readonly detail: string };

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
