/** Why a lookup missed: a closed list, the first that holds. Shown in `Cache-Status; detail` and counted. */
export const MISS_REASONS = [
  'bypass',
  'node-open',
  'store-down',
  'store-saturated',
  'store-slow',
  'incompatible',
  'corrupt',
  'oversized',
  'unsigned',
  'flushed',
  'suppressed',
  'lapsed',
  'not-storable',
  'unseen',
] as const;

export type MissReason = (typeof MISS_REASONS)[number];

/** What a store may answer when it has no value to give through a fault of its own. */
export type StoreFault = Extract<MissReason, 'node-open' | 'store-down' | 'store-saturated' | 'store-slow'>;
