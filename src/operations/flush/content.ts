/**
 * What a store holds for a domain, node by node: to count it before a flush and to erase it. Only keys of entries
 * (`sc1:<domain>:{<22 characters>}`) are ever named or removed, except by `flushNode`. Never `KEYS`.
 * Promises, checked by test/contract/content.ts over every adapter: everything rejects with StoreUnreachable alone, and
 * every call is one bounded command.
 */
export interface StoreContent {
  /** Nodes that own names (`host:port`). */
  readonly nodes: () => readonly string[];
  /** One SCAN of about `count` keys. `cursor` is '0' at first and again at the end. */
  readonly scan: (node: string, cursor: string, count: number) => Promise<ScannedNames>;
  /** Bytes of each value (STRLEN), 0 where there is none any more; at most 512 names, all of that node. */
  readonly sizes: (node: string, names: readonly string[]) => Promise<readonly number[]>;
  /** UNLINK; how many were there. At most 512 names, all of that node. */
  readonly unlink: (node: string, names: readonly string[]) => Promise<number>;
  /** Keys on the node, whoever's they are (DBSIZE). */
  readonly count: (node: string) => Promise<number>;
  /**
   * Everything on the node in the store's database (FLUSHDB ASYNC), whoever's it is: only where the store is declared
   * dedicated. Its server takes the right to do so, which the advised ACL does not give.
   */
  readonly flushNode: (node: string) => Promise<void>;
}

interface ScannedNames {
  readonly cursor: string;
  /** Names of this domain's entries. */
  readonly names: readonly string[];
}

/** The node did not answer, or refused (no right to SCAN, UNLINK or FLUSHALL): the message says what. */
export class StoreUnreachable extends Error {
  override readonly name = 'StoreUnreachable';
}
