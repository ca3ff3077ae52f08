import type { Entry } from './entry.ts';
import type { MissReason } from './events.ts';

/**
 * Whether an entry may be served, whatever its age: where flushes, purges and suppressions are judged. Asked at every
 * lookup, so an answer costs next to nothing while there are none.
 */
export interface EntryRules {
  /** Written into new entries: read when their engine call starts, so that what was flushed meanwhile stays flushed. */
  readonly generation: () => number;
  /** `outdated`: served as a stale entry is, however fresh. */
  readonly judge: (entry: Entry, name: RuledName) => EntryVerdict;
  /** Whether a document must not be shown. Undefined while all may be. */
  readonly hides: () => ((id: string) => boolean) | undefined;
}

export type EntryVerdict = 'whole' | 'outdated' | Extract<MissReason, 'flushed' | 'suppressed'>;

/**
 * How well the rules of this process are known. `unheard`: no document was read yet, nor that there is none. `away`: the
 * control store does not answer, the last known document is in force. `corrupt`: the stored document cannot be believed; the
 * last known one is in force, and without one no flush, purge or suppression is known.
 */
export const CONTROL_STANDINGS = ['ok', 'unheard', 'away', 'corrupt'] as const;

export type ControlStanding = (typeof CONTROL_STANDINGS)[number];

/** What flushes and drills count in: a key's bucket is its hash modulo this. */
export const BUCKETS = 10_000;

/** What of a name the rules may look at. */
export interface RuledName {
  readonly storeName: string;
  readonly bucket: number;
  /** Its canonical text is what a purge names. Absent where only the key is known: purges are not judged then. */
  readonly request?: { readonly text: string };
}

/** Of a domain that was never flushed: one generation, nothing refused. */
export const unflushed: EntryRules = { generation: () => 1, judge: () => 'whole', hides: () => undefined };

/** May not be served at all. */
export function isRefused(verdict: EntryVerdict): verdict is 'flushed' | 'suppressed' {
  return verdict === 'flushed' || verdict === 'suppressed';
}
