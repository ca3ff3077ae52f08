/**
 * The keys of a domain in a store, node by node: to count them before a flush, to erase them, and to compare two stores.
 * Only keys of entries (`sc1:<domain>:{<22 characters>}`) are named or removed, except by `flushNode` and `sample`. No
 * adapter uses `KEYS`.
 * The contract, tested by test/contract/content.ts for every adapter: every call is one bounded command, and rejects only
 * with StoreUnreachable.
 */
export interface StoreContent {
  /** Nodes that own names (`host:port`). */
  readonly nodes: () => readonly string[];
  /** One SCAN of about `count` keys: the names of this domain's entries. `cursor` is '0' at first and again at the end. */
  readonly scan: (
    node: string,
    cursor: string,
    count: number,
  ) => Promise<{ readonly cursor: string; readonly names: readonly string[] }>;
  /** Bytes of each value (STRLEN), 0 for a missing one. At most 512 names, all of that node. */
  readonly sizes: (node: string, names: readonly string[]) => Promise<readonly number[]>;
  /** UNLINK; resolves to the number of removed keys. At most 512 names, all of that node. */
  readonly unlink: (node: string, names: readonly string[]) => Promise<number>;
  /** All keys on the node, also those of other applications (DBSIZE). */
  readonly count: (node: string) => Promise<number>;
  /**
   * Removes everything in the store's database on the node, also keys of other applications (FLUSHDB ASYNC). Only for a
   * store that is declared dedicated. The recommended ACL does not permit it.
   */
  readonly flushNode: (node: string) => Promise<void>;
  /** The figures that the server tells in lines `name:value`, in its default sections (INFO). At most 64 KiB. */
  readonly info: (node: string) => Promise<string>;
  /**
   * Remaining life of an entry, asked of the node that owns its name (PTTL). Undefined for an absent one; infinite for one
   * without expiry.
   */
  readonly lifeMs: (name: string) => Promise<number | undefined>;
  /**
   * Names on the node that match the glob pattern, as they are: those that one SCAN of about `count` keys from the start
   * finds, at most `count`.
   */
  readonly sample: (node: string, pattern: string, count: number) => Promise<readonly string[]>;
}

/** The node did not answer, or refused (no permission for SCAN, UNLINK, INFO …). The message says which. */
export class StoreUnreachable extends Error {
  override readonly name = 'StoreUnreachable';
}
