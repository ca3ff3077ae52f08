/** Every request ends in exactly one outcome; they are disjoint, so a stale answer is never counted as a hit. */
export const OUTCOMES = [
  'hit-l1',
  'hit-l2',
  'stale',
  'collapsed',
  'engine',
  'lifeboat',
  'shed',
  'failed',
  'rejected',
  'aborted',
] as const;

export type Outcome = (typeof OUTCOMES)[number];
