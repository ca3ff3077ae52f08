import type { Entry } from '../cache/entry.ts';
import { remainingMs } from '../cache/freshness.ts';
import type { MissReason } from '../cache/reason.ts';
import type { Clock } from '../clock.ts';
import type { AnswerOutcome } from './outcome.ts';
import type { SearchRequest } from './request.ts';

/** A validated search with the text that identifies its answer. Cheap to keep: http remembers it per URL. */
export interface PreparedSearch {
  readonly request: SearchRequest;
  /** Two requests share it exactly when they must share an answer; see canonical.ts. */
  readonly canonical: string;
  /** First 16 bytes of SHA-256 of the canonical form, base64url: 22 characters. */
  readonly key: string;
  /** The name of its entry in the domain's store: `sc1:<domain>:{<key>}`. */
  readonly storeName: string;
  /** Key hash mod 10 000: what flushes and drills count in. */
  readonly bucket: number;
}

/** A page, where it came from and what each tier did on the way. */
export interface Answer {
  readonly entry: Entry;
  readonly outcome: AnswerOutcome;
  /** Until the entry stops being fresh; negative while it is served stale. */
  readonly remainingMs: number;
  readonly l1: TierStep;
  /** Absent where the domain has no store, or L1 answered. */
  readonly l2?: TierStep;
  /** Why the first tier that had to forward missed; absent on hits. */
  readonly reason?: MissReason;
  /** Milliseconds spent in each part, for Server-Timing; only the parts that took part. */
  readonly timings: { readonly l2Ms?: number; readonly engineMs?: number };
}

/** What one tier did, in the words of RFC 9211. */
export type TierStep =
  | { readonly kind: 'hit' }
  | {
      readonly kind: 'forward';
      readonly why: 'uri-miss' | 'stale' | 'bypass';
      /** The status of a forwarded request that failed; then the tier served stale. */
      readonly forwardStatus?: 429 | 502 | 503 | 504;
      readonly stored?: boolean;
      readonly collapsed?: boolean;
      readonly detail?: MissReason | 'lifeboat';
    };

/** Until the entry stops being fresh. One served as stale has no fresh life left, whatever its age: it was outdated. */
export function lifeLeftMs(entry: Entry, outcome: AnswerOutcome, clock: Clock): number {
  const left = remainingMs(entry, clock.monotonicMs());
  return outcome === 'stale' ? Math.min(left, -1) : left;
}
