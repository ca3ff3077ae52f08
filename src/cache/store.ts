import type { StoreFault } from './events.ts';

/**
 * The L2 port: a domain's Redis-protocol store of bytes, which only the entry codec interprets. Its promises, which
 * test/contract/store.ts checks for every adapter and for the memory fake:
 * - nothing here rejects or throws: a failure of the store is a miss with a reason.
 * - `read` settles once, within its deadline (plus timer resolution), whatever the node does; it closes no connection.
 * - the number of outstanding commands per node is bounded: above the bound a read is `store-saturated`, a write is dropped.
 */
export interface Store {
  /**
   * Calls `settle` once, which must not throw; a read that is refused settles before `read` returns. Every search that
   * misses L1 passes here, so it makes no promise.
   */
  readonly read: (name: string, deadlineMs: number, settle: (read: StoreRead) => void) => void;
  /** Results in the order of `names`, in per-node pipelines of bounded batches; each reply succeeds or fails alone. */
  readonly readMany: (names: readonly string[], deadlineMs: number) => Promise<readonly StoreRead[]>;
  /** Overwrites. `ttlMs` ≥ 1. Resolves when the node has confirmed or the write was given up. */
  readonly write: (name: string, value: Buffer, ttlMs: number) => Promise<StoreWrite>;
  /** As `write`, but never overwrites. In per-node pipelines of bounded batches, results in order. */
  readonly seedMany: (items: readonly SeedItem[]) => Promise<readonly SeedResult[]>;
  readonly leases: LeaseStore;
  /**
   * A random word for each part of the store that can lose its data alone (a cluster's node, a server), written there when
   * there is none. It changes only when that part has lost its data. Parts that do not answer are left out.
   */
  readonly epochs: (deadlineMs: number) => Promise<readonly StoreEpoch[]>;
  /** A heartbeat: process `id` is alive for `ttlMs` more. Counts the live processes, on the server's clock. */
  readonly beat: (id: string, ttlMs: number, deadlineMs: number) => Promise<StoreBeat>;
  /** Removes `id` from that count at once. */
  readonly leave: (id: string, deadlineMs: number) => Promise<void>;
  /** The slot and the node of a name, from local data only. */
  readonly locate: (name: string) => StoreLocation;
  readonly nodes: () => readonly StoreNode[];
  /** Why its nodes cannot be found out. Each of `nodes` has its own reason beside it. */
  readonly trouble: () => StoreReason | undefined;
  readonly close: () => Promise<void>;
}

/** One read for a caller that waits for a promise. Never rejects. */
export function readOnce(store: Pick<Store, 'read'>, name: string, deadlineMs: number): Promise<StoreRead> {
  return new Promise((resolve) => store.read(name, deadlineMs, resolve));
}

export type StoreRead =
  | {
      readonly kind: 'value';
      /** May be a view of a larger read buffer: copy it to keep it. */
      readonly value: Buffer;
      /** The store that is read first has no such value: during a cut-over it came from the other one. */
      readonly behind?: true;
    }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'fault';
      readonly fault: StoreFault;
      /** With `store-slow`: the reply that may still come; undefined when the value is absent or never comes. Never rejects. */
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
  /** The name of the part across failovers: the same data has the same part. */
  readonly part: string;
  /** `host:port` of the node that serves it now, as in `locate`. */
  readonly node: string;
  readonly epoch: string;
}

export type StoreBeat =
  /** `rank`: the position of this process among the live ones, 0 … live − 1, by id. `ids`: all of them, sorted. */
  | { readonly kind: 'fleet'; readonly live: number; readonly rank: number; readonly ids: readonly string[] }
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
  /** The node's breaker. While it is `open`, its own keys miss in ~0 ms; other nodes are not affected. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  readonly connected: boolean;
  /** Commands sent and not yet answered. */
  readonly outstanding: number;
  /** Why it is not connected, or takes no writes (`read-only`). */
  readonly trouble?: StoreReason;
}

/**
 * Why a node cannot be used as it should. Words of their own, because the messages of servers may name users and addresses,
 * and `/readyz` is public.
 * `full`: too many clients. `no-cluster`: the server is no cluster. `no-master`: the sentinels name none.
 * `unknown-host`: its name does not resolve.
 */
export const STORE_REASONS = [
  'refused',
  'timeout',
  'unreachable',
  'unknown-host',
  'closed',
  'tls',
  'credentials',
  'loading',
  'read-only',
  'cluster-down',
  'no-cluster',
  'no-master',
  'database',
  'full',
  'protocol',
  'other',
] as const;

export type StoreReason = (typeof STORE_REASONS)[number];

/** The events of a store. Metrics, logs and tests read them. */
export type StoreEvent =
  | {
      readonly kind: 'command';
      /**
       * `lease`: one script of a lease. `fleet`: an epoch, a beat, a leave. `control`: a domain's control document and the
       * reports of its processes. `changes`: the feed of changes. `content`: counting and erasing. `counters`: popularity.
       */
      readonly operation: 'read' | 'write' | 'lease' | 'fleet' | 'control' | 'changes' | 'content' | 'counters';
      /** `answered`: any answer to an operation other than `read` and `write`. */
      readonly result: 'value' | 'absent' | 'stored' | 'answered' | StoreFault | 'refused';
      readonly durationMs: number;
    }
  | {
      readonly kind: 'pipeline';
      readonly type: 'read' | 'write';
      readonly size: number;
      readonly failed: number;
      readonly durationMs: number;
    }
  | { readonly kind: 'late'; readonly hit: boolean }
  | { readonly kind: 'breaker'; readonly node: string; readonly state: StoreNode['breaker'] }
  | {
      readonly kind: 'connection';
      readonly node: string;
      readonly state: 'open' | 'closed' | 'failed';
      /** With `failed`. `detail` is the message behind it. */
      readonly reason?: StoreReason;
      readonly detail?: string;
    }
  | { readonly kind: 'topology'; readonly detail: string };

/**
 * The lease port: one short key beside each entry, on the same slot. Its promises, which test/contract/lease.ts checks for
 * every adapter and for the memory fake:
 * - nothing here rejects; a failure is a fault, and the caller goes on without a lease (fail-open).
 * - every change of a lease is one script on the server that compares the token first: a process that has lost its lease
 *   changes nothing.
 */
export interface LeaseStore {
  /**
   * Takes the lease if it is free. Settles within `deadlineMs`; a lease that is taken later is released automatically.
   */
  readonly take: (names: LeaseNames, token: string, ttlMs: number, deadlineMs: number) => Promise<LeaseTake>;
  /**
   * In one script: if the lease is still `token`'s, SET the entry with its lifetime and DEL the lease; else nothing. When
   * the entry cannot be written, the lease is given back if the node can be reached.
   */
  readonly writeAndRelease: (names: LeaseNames, token: string, value: Buffer, ttlMs: number) => Promise<LeaseWrite>;
  /**
   * DEL if it is still `token`'s. With `passForMs` a mark replaces it for that time: this page cannot be stored, so the
   * waiting processes ask the engine themselves instead of taking the lease one after another (hit-for-pass).
   */
  readonly release: (names: LeaseNames, token: string, passForMs?: number) => Promise<void>;
  /** For waiting processes: the entry, once the lease is free. The reply is small while it is held. */
  readonly look: (names: LeaseNames, deadlineMs: number) => Promise<LeaseLook>;
}

export interface LeaseNames {
  /** `sc1:<domain>:{<key>}` */
  readonly entry: string;
  /** `sc1:<domain>:lease:{<key>}` */
  readonly lease: string;
}

export type LeaseTake =
  /** `value`: the entry at this moment. It may have been written since the caller's read. */
  | { readonly kind: 'taken'; readonly value?: Buffer }
  | { readonly kind: 'held' }
  /** A page of this key could not be stored a moment ago: no lease for it now. */
  | { readonly kind: 'pass' }
  | { readonly kind: 'fault'; readonly fault: StoreFault | 'refused' };

export type LeaseWrite = StoreWrite | { readonly kind: 'dropped'; readonly fault: 'fenced' };

export type LeaseLook =
  | { readonly kind: 'held' }
  | { readonly kind: 'pass' }
  /** `value` is absent when the holder stored nothing. */
  | { readonly kind: 'free'; readonly value?: Buffer }
  | { readonly kind: 'fault'; readonly fault: StoreFault | 'refused' };
