import { type Entry, remainingMs } from '../cache/entry.ts';
import type { MissReason } from '../cache/events.ts';
import type { Lookup } from '../cache/tiers.ts';
import type { Clock } from '../runtime.ts';
import type { AnswerOutcome } from './events.ts';
import type { PreparedSearch } from './key.ts';

/** A page, its source, and what each tier did for it. */
export interface Answer {
  readonly entry: Entry;
  readonly outcome: AnswerOutcome;
  /** Time until the entry stops being fresh; negative while it is served stale. */
  readonly remainingMs: number;
  readonly l1: TierStatus;
  /** Absent where the domain has no store, or L1 answered. */
  readonly l2?: TierStatus;
  /** Why the tiers missed (`missReason`); absent when a tier answered without a load. */
  readonly reason?: MissReason;
  /** Duration of each part that ran, for Server-Timing. */
  readonly timings: { readonly l2Ms?: number; readonly engineMs?: number };
}

/** The part of one tier in an answer, in the terms of RFC 9211. */
export type TierStatus =
  | { readonly kind: 'hit' }
  | {
      readonly kind: 'forward';
      readonly why: 'uri-miss' | 'stale' | 'bypass';
      /** The HTTP status of a forwarded request that failed; the tier then served a stale entry. */
      readonly forwardStatus?: 429 | 502 | 503 | 504;
      readonly stored?: boolean;
      readonly collapsed?: boolean;
      readonly detail?: MissReason | 'lifeboat';
    };

/** The results of the lookups in both tiers. */
export interface Lookups {
  readonly l1: Lookup;
  /** Absent where the domain has no store. */
  readonly l2?: Lookup;
  /** Duration of the L2 read. */
  readonly l2Ms?: number;
}

/** Turns a found entry into an answer when it may be served without a load. */
export interface TierAnswers {
  /** A stale entry is served, and refreshed in the background. Undefined: the entry may not be served as it is. */
  readonly fromL1: (prepared: PreparedSearch, l1: Lookup) => Answer | undefined;
  readonly fromL2: (prepared: PreparedSearch, lookups: Lookups) => Answer | undefined;
}

interface TierAnswersOptions {
  /** While true, an entry of the stale-if-error window is served at once, as if the engine had failed already. */
  readonly engineTroubled: () => boolean;
  readonly refreshStale: (prepared: PreparedSearch, readStore: boolean) => void;
  readonly clock: Clock;
}

export function createTierAnswers({ engineTroubled, refreshStale, clock }: TierAnswersOptions): TierAnswers {
  /** The stale window is short while the engine is healthy, and long while it is not. */
  const isServable = (lookup: Lookup): lookup is Extract<Lookup, { kind: 'found' }> =>
    lookup.kind === 'found' && (lookup.freshness !== 'stale-if-error' || engineTroubled());

  return {
    fromL1: (prepared, l1) => {
      if (!isServable(l1)) return undefined;
      const nowMs = clock.monotonicMs();
      if (l1.freshness === 'fresh') return answerOf(l1.entry, 'hit-l1', nowMs, L1_HIT);
      refreshStale(prepared, true);
      return answerOf(l1.entry, 'stale', nowMs, L1_HIT);
    },
    fromL2: (prepared, { l1, l2, l2Ms }) => {
      if (l2 === undefined || !isServable(l2)) return undefined;
      const status = { l1: forwarded(l1), l2: HIT };
      const timings = l2Ms === undefined ? NO_TIMINGS : { l2Ms };
      const nowMs = clock.monotonicMs();
      if (l2.freshness === 'fresh') return answerOf(l2.entry, 'hit-l2', nowMs, status, timings);
      // The store has just given this entry: a refresh need not read it again.
      refreshStale(prepared, false);
      return answerOf(l2.entry, 'stale', nowMs, status, timings);
    },
  };
}

const NO_TIMINGS: Answer['timings'] = {};

export function answerOf(
  entry: Entry,
  outcome: Answer['outcome'],
  monotonicMs: number,
  status: Pick<Answer, 'l1' | 'l2' | 'reason'>,
  timings = NO_TIMINGS,
): Answer {
  const leftMs = remainingMs(entry, monotonicMs);
  // An entry that operators declared outdated is served as stale whatever its age: it has no fresh lifetime left.
  return { entry, outcome, remainingMs: outcome === 'stale' ? Math.min(leftMs, -1) : leftMs, ...status, timings };
}

export const HIT: TierStatus = { kind: 'hit' };
const L1_HIT = { l1: HIT };

type Forward = Extract<TierStatus, { kind: 'forward' }>;

/** The status of a tier that had no servable entry. */
export function forwarded(lookup: Lookup, extra: Partial<Forward> = {}): TierStatus {
  return { kind: 'forward', why: whyForwarded(lookup), ...extra };
}

/** RFC 9211 §2.2: `stale` when the tier had an entry that could not be used as it was, `uri-miss` when it had none. */
function whyForwarded(lookup: Lookup): Forward['why'] {
  if (lookup.kind === 'found') return 'stale';
  switch (lookup.reason) {
    case 'bypass':
      return 'bypass';
    case 'expired':
    case 'flushed':
    case 'suppressed':
      return 'stale';
    default:
      return 'uri-miss';
  }
}

/**
 * Why both tiers missed: the first of MISS_REASONS that holds. The reason of L2 is the more precise one. When L2 only
 * says `unseen`, or there is no store, the reason of L1 counts.
 */
export function missReason({ l1, l2 }: Lookups, wasNotStorable: boolean): MissReason {
  const fromL2 = l2 === undefined ? 'unseen' : reasonIn(l2);
  const known = fromL2 === 'unseen' ? reasonIn(l1) : fromL2;
  return known === 'unseen' && wasNotStorable ? 'not-storable' : known;
}

/** An entry that may only be served when the engine fails counts as expired. */
function reasonIn(lookup: Lookup): MissReason {
  return lookup.kind === 'missed' ? lookup.reason : 'expired';
}
