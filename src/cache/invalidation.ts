import type { Entry, FeedMark } from './entry.ts';
import type { MissReason } from './events.ts';

/**
 * Whether an entry may be served, whatever its age: flushes, purges, suppressions and changes of documents decide it. Called
 * at every lookup, so it must cost next to nothing while there are none (7 ns). `Request`: what the rules read of a search.
 */
export interface EntryRules<Request = RuledRequest> {
  /** The generation of new entries. It is read when the engine call starts, so that a flush during the call holds. */
  readonly generation: () => number;
  /** `outdated`: served as a stale entry is, even while it is fresh. `changed`: served only when the engine fails. */
  readonly judge: (entry: Entry, name: RuledName<Request>) => EntryVerdict;
  /** The place of a new entry in the feed of changes, read with `generation`. Absent: the domain has no feed. */
  readonly birth?: () => FeedMark;
  /** Seconds since a change, by its position in the feed. Absent: the domain has no feed. */
  readonly secondsSince?: (position: number) => number;
  /**
   * Whether a document must not be shown, though an engine found it. Undefined while there are no such documents.
   * @param engine `lifeboat`: its index is older than the feed of changes
   */
  readonly hides: (engine?: 'lifeboat') => ((id: string) => boolean) | undefined;
}

export type EntryVerdict = 'whole' | 'outdated' | 'changed' | DeniedReason;

/** Why an entry may not be served at all. */
export type DeniedReason = Extract<MissReason, 'flushed' | 'suppressed' | 'deleted'>;

/**
 * Whether the rules of this process are up to date. `unheard`: the control store has not answered yet with a document
 * or with none. `away`: the control store does not answer; the last known document is in force. `corrupt`: the stored
 * document is damaged or not trusted; the last known one is in force, and without one no flush, purge or suppression is
 * known.
 */
export const CONTROL_STANDINGS = ['ok', 'unheard', 'away', 'corrupt'] as const;
export type ControlStanding = (typeof CONTROL_STANDINGS)[number];

/** Number of buckets, the unit of flushes and drills: a key's bucket is its hash modulo this. */
export const BUCKETS = 10_000;

/** The identity of an entry, as far as the rules read it. */
export interface RuledName<Request = RuledRequest> {
  readonly storeName: string;
  readonly bucket: number;
  /** Absent when only the key is known: purges, and changes of documents that are not on the page, are not checked then. */
  readonly request?: Request;
}

/** Purges compare its canonical text. */
export interface RuledRequest {
  readonly text: string;
}
