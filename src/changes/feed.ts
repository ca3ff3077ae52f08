import type { PageChange } from '../cache/entry.ts';
import type { StoreFault } from '../cache/events.ts';

/**
 * The stream of the changes of one domain, which every process reads: a capped stream of the control store, or the memory of this
 * process. The contract, checked by test/contract/change-stream.ts for every adapter:
 * - no method rejects; an operation that fails gives a fault within `deadlineMs`.
 * - batches are numbered from 1 without gaps, and their ids rise: milliseconds, and at most 1023 after the dash. A reader that misses a number has lost its place.
 * - the oldest batches are dropped beyond the maximum of bytes, never the newest.
 */
export interface ChangeStream {
  /**
   * Adds a batch. `source`: only if the stream still has that place in the source as its last, which becomes `next`.
   * A stream that is absent is begun.
   */
  readonly append: (domain: string, batch: StreamBatch, deadlineMs: number) => Promise<StreamAppend>;
  /** The batches after an id; without one, from the oldest. At most `READ_BATCHES` of them. */
  readonly read: (domain: string, after: string | undefined, deadlineMs: number) => Promise<StreamRead>;
}

export interface StreamBatch {
  readonly bytes: Buffer;
  /** The stream's time up to which pages have been computed, in ms. The id of the batch is not earlier, whatever the clock says. */
  readonly afterMs: number;
  readonly source?: { readonly expected: string; readonly next: string };
}

type Fault = { readonly kind: 'fault'; readonly fault: StoreFault | 'refused' };

export type StreamAppend = { readonly kind: 'appended' } | { readonly kind: 'conflict' } | Fault;

export type StreamRead =
  | {
      readonly kind: 'batches';
      /** Wall time of the stream's server, read before the batches. */
      readonly nowMs: number;
      /** Undefined: the stream is absent. */
      readonly last: { readonly id: string; readonly number: number; readonly source: string } | undefined;
      readonly batches: readonly { readonly id: string; readonly number: number; readonly bytes: Buffer }[];
    }
  | Fault;

/** Maximum number of batches of one read. */
export const READ_BATCHES = 64;
/** Maximum size of a batch; a larger one is refused. */
export const MAX_BATCH_BYTES = 256 * 1024;

/** A stream of another team, from which the changes of a domain are copied. */
export interface ChangeSource {
  readonly key: string;
  /** Entries after an id; `''`: only those that come from now on. */
  readonly read: (after: string, deadlineMs: number) => Promise<SourceRead>;
}

export type SourceRead =
  | {
      readonly kind: 'entries';
      /** The id to read on from. */
      readonly last: string;
      /** The entry `after` is gone, so others between may be gone too. */
      readonly trimmed: boolean;
      readonly entries: readonly { readonly id: string; readonly fields: ReadonlyMap<string, string> }[];
    }
  | { readonly kind: 'fault'; readonly fault: StoreFault | 'refused'; readonly detail?: string };

/** Events of the changes room, for metrics, logs and tests. */
export type ChangeEvent =
  /** Changes are in force in this process. `lagMs`: since they were added to the stream, by its clock; absent for its history. */
  | { readonly kind: 'changes-applied'; readonly domain: string; readonly changes: number; readonly lagMs?: number }
  /**
   * Every page before this moment counts as changed. `trimmed`, `replaced`: batches or the stream are gone. `source`: entries of the
   * source are gone. `corrupt`: a batch cannot be read. `index`: the engine has another index. `lag`: too many changes within the
   * engine's lag.
   */
  | { readonly kind: 'changes-gap'; readonly domain: string; readonly why: GapReason }
  /** The stream does not answer; pages older than a few seconds count as changed. Reported once per absence. */
  | { readonly kind: 'changes-away'; readonly domain: string; readonly fault: string }
  | { readonly kind: 'changes-back'; readonly domain: string }
  /** The source is not read; its entries are copied when it is. Reported once per absence. */
  | { readonly kind: 'source-away'; readonly domain: string; readonly key: string; readonly fault: string }
  | { readonly kind: 'source-back'; readonly domain: string; readonly key: string }
  /** Entries of the source that are no changes, or batches that are not signed. */
  | { readonly kind: 'changes-refused'; readonly domain: string; readonly count: number; readonly detail: string }
  /** A page was found changed, at its first judgement that said so. */
  | { readonly kind: 'page-changed'; readonly domain: string; readonly why: PageChange['kind'] };

export type GapReason = 'trimmed' | 'replaced' | 'source' | 'corrupt' | 'index' | 'lag';

/** The knowledge of a process about the feed of a domain, for metrics, the console and the doctor. */
export interface FeedStatus {
  /** False: the stream has not been read for more than a second. */
  readonly following: boolean;
  /** Another process follows the same stream. */
  readonly shared: boolean;
  /** Milliseconds since the stream was read to its end. */
  readonly heardMsAgo: number;
  /** Milliseconds since the last change was applied; undefined: none yet. */
  readonly changedMsAgo: number | undefined;
  /** Changes applied since the start. */
  readonly changes: number;
  /** Gaps since the start. */
  readonly gaps: number;
  /** Time of the last change on its way here. */
  readonly lagMs: number;
  /** 0–1, of the newer half of the table of documents. */
  readonly filled: number;
  /** Age of the oldest change that is known with all after it; undefined: none was dropped yet. */
  readonly coversMs: number | undefined;
  /** Changes since the start whose words may be new, so that they enter pages. */
  readonly texts: number;
  /** Changes since the start of documents that were there before, so that they may be on pages. */
  readonly known: number;
  /** Why the source is not read. */
  readonly sourceFault?: string | undefined;
}
