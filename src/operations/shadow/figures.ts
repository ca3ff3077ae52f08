import Type from 'typebox';
import { amount, count, type Decoded, difference, oneOf, share } from '../../schema/fields.ts';

/*
 * The figures of a shadow: what the primary and the candidate did for the same sampled searches in the same time. The
 * schemas are also the description of the answers of the admin API and of a kept report.
 */

/** The results of a read or a write that are errors, in the order of the reports. */
export const FAULTS = ['store-slow', 'store-down', 'node-open', 'store-saturated', 'refused'] as const;
export type FaultName = (typeof FAULTS)[number];

/** The two sides of a comparison. */
export const SIDES = ['primary', 'candidate'] as const;
export type SideName = (typeof SIDES)[number];

/** The servers of one side by their own account (INFO), summed over its nodes. Rates are of the time since the sample before. */
export const SERVERS = Type.Object({
  nodes: count('Nodes that answered INFO.'),
  missing: count('Nodes that did not answer; the sums are without them.'),
  connections: count(),
  memoryBytes: amount(),
  maxMemoryBytes: amount('0: no limit is set.'),
  evictedPerSecond: Type.Optional(amount()),
  expiredPerSecond: Type.Optional(amount()),
  bytesInPerSecond: Type.Optional(amount()),
  bytesOutPerSecond: Type.Optional(amount()),
  cpu: Type.Optional(amount('Processors in use by the servers.')),
});
export type Servers = Decoded<typeof SERVERS>;

/** One side between two moments. Reads of the primary are the sampled ones. The candidate's copies beyond the first count for latency and errors, not for hits. */
export const SIDE = Type.Object({
  reads: count('Reads sent, copies included.'),
  readsPerSecond: amount(),
  compared: count('First copies, which count for the hit ratio.'),
  hits: count(),
  hitRatio: Type.Optional(share('Hits of `compared` without its errors, 0–1; absent without reads.')),
  writes: count(),
  errors: Type.Object(
    Object.fromEntries(FAULTS.map((fault) => [fault, count()])) as Record<FaultName, ReturnType<typeof count>>,
  ),
  errorRate: Type.Optional(share('Errors of all reads and writes, 0–1.')),
  p50Ms: Type.Optional(amount()),
  p95Ms: Type.Optional(amount()),
  p99Ms: Type.Optional(amount()),
  servers: Type.Optional(SERVERS),
});
export type Side = Decoded<typeof SIDE>;

/** How the candidate's answer to a read relates to the primary's. `missing` and `surplus`: only one side has a value. */
export const AGREED = ['equal', 'older', 'newer', 'wrong', 'missing', 'surplus'] as const;
export type Agreed = (typeof AGREED)[number];

/** How the values of both sides agree, for reads that both answered. */
export const AGREEMENT = Type.Object({
  compared: count('Reads that both sides answered.'),
  equal: count('The same bytes, or no value on either side.'),
  older: count('The candidate has an older page of the same search.'),
  newer: count('The candidate has a newer page of the same search.'),
  wrong: count('The candidate has a value that is no entry of this search, or other bytes than its entry.'),
  missing: count('Only the primary has a value.'),
  surplus: count('Only the candidate has a value.'),
  lifeSamples: count('Pairs of equal values whose remaining lives were compared.'),
  lifeDriftMs: Type.Optional(amount('Mean difference of the remaining lives.')),
  lifeDriftMaxMs: Type.Optional(amount('The largest difference since the start of the shadow.')),
});
export type Agreement = Decoded<typeof AGREEMENT>;

/** The fate of the copies. */
export const COPYING = Type.Object({
  sampled: count('Reads and writes of sampled keys.'),
  sent: count(),
  dropped: count('Copies that were given up because the queue was full.'),
  paused: count('Copies that were not made because the event loop was late.'),
  filled: count('Values of the primary that were written to the candidate, because it had none or an older one.'),
});
export type Copying = Decoded<typeof COPYING>;

/** The figures of all processes between two moments. */
export const SHADOW_FIGURES = Type.Object({
  seconds: amount(),
  processes: count('Processes whose figures are included.'),
  primary: SIDE,
  candidate: SIDE,
  agreement: AGREEMENT,
  copying: COPYING,
});
export type ShadowFigures = Decoded<typeof SHADOW_FIGURES>;

/** One point of the curves. `atMs`: milliseconds since the start of the shadow, at the end of the interval. */
export const SHADOW_SAMPLE = Type.Object({ atMs: amount(), figures: SHADOW_FIGURES });
export type ShadowSample = Decoded<typeof SHADOW_SAMPLE>;

/** One condition of the verdict with its measured value. */
export const CRITERION = Type.Object({
  name: oneOf(['duration', 'volume', 'hit-ratio', 'latency', 'errors', 'values']),
  what: Type.String({ description: 'In words, with the measured figure and the bound.' }),
  met: oneOf(['yes', 'no', 'not-measured']),
  value: Type.Optional(difference()),
  bound: Type.Optional(difference()),
});
export type Criterion = Decoded<typeof CRITERION>;

export const VERDICT_KINDS = ['cut-over', 'do-not', 'undecided'] as const;
/** `undecided`: a criterion was not measured, and none is missed. */
export const SHADOW_VERDICT = Type.Object({
  kind: oneOf(VERDICT_KINDS),
  why: Type.String(),
  criteria: Type.Array(CRITERION, { maxItems: 16 }),
});
export type ShadowVerdict = Decoded<typeof SHADOW_VERDICT>;
