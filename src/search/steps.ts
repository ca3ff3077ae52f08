import type { MissReason } from '../cache/reason.ts';
import type { Lookup } from '../cache/tiers.ts';
import type { TierStep } from './answer.ts';

type Forward = Extract<TierStep, { kind: 'forward' }>;

export const HIT: TierStep = { kind: 'hit' };

/** What a tier did that had no servable entry: it forwarded. */
export function forwarded(lookup: Lookup, extra: Partial<Forward> = {}): TierStep {
  return { kind: 'forward', why: whyForwarded(lookup), ...extra };
}

/** RFC 9211 §2.2: `stale` when the tier had an entry that could not be used as it was, `uri-miss` when it had none. */
function whyForwarded(lookup: Lookup): Forward['why'] {
  if (lookup.kind === 'found') return 'stale';
  switch (lookup.reason) {
    case 'bypass':
      return 'bypass';
    case 'lapsed':
    case 'flushed':
    case 'suppressed':
      return 'stale';
    default:
      return 'uri-miss';
  }
}

/**
 * Why both tiers missed: the first of MISS_REASONS that holds. L2 knows most; where it only says "unseen" (or there is
 * none), L1 may still remember the key.
 */
export function missReason(held: Lookup, found: Lookup | undefined, wasNotStorable: boolean): MissReason {
  const l2 = found === undefined ? 'unseen' : reasonIn(found);
  const known = l2 === 'unseen' ? reasonIn(held) : l2;
  return known === 'unseen' && wasNotStorable ? 'not-storable' : known;
}

/** An entry that may only be served when the engine fails has lapsed for everybody else. */
function reasonIn(lookup: Lookup): MissReason {
  return lookup.kind === 'missed' ? lookup.reason : 'lapsed';
}
