import { BUCKETS } from '../cache/invalidation.ts';
import { OperationError } from './operation-error.ts';

/**
 * The control document of a domain: all decisions of operators about its cache. Every process of the fleet follows it, and
 * it is changed by compare-and-set. It counts **generations**, not times: each entry carries the generation that was
 * current when its engine call began, so no two clocks have to agree.
 */
export interface ControlDocument {
  /** Rises by one with each change. */
  readonly revision: number;
  /** Random, from the writer: distinguishes two documents of one revision, which can exist after a store was wiped. */
  readonly stamp: string;
  /** The highest generation in use, at least 1; it never falls. New entries carry it. See `withInitialGeneration`. */
  readonly generation: number;
  /** Disjoint, in ascending order, at most `MAX_RANGES`. */
  readonly ranges: readonly FlushRange[];
  /** The version that the indexing job gave for its latest index. At most 128 characters. */
  readonly indexVersion?: string;
  /** At most `MAX_PURGES`. */
  readonly purges: readonly Purge[];
  /** At most `MAX_SUPPRESSED` by changes of operators, and `MAX_MERGED_SUPPRESSED` after a merge. */
  readonly suppressed: readonly Suppression[];
  /** The longest time that any process serves an entry. Absent: no process has written it. See `noteLongestLife`. */
  readonly longestLife?: LongestLife;
  /** While present, no drill, shadow or cut-over may start; those that ran were ended. A committed cut-over stays. */
  readonly halted?: Halt;
  /** The effect of the running drill. A drill changes nothing else, so removing the overlay restores everything. */
  readonly overlay?: Overlay;
  /** Copies of the domain's store commands go to a candidate store. */
  readonly shadow?: Shadow;
  /** Which stores hold the entries. Absent: the store of each process's configuration. */
  readonly placement?: Placement;
  /**
   * Tags of the ancestors of this document, newest first, at most `MAX_LINE`: distinguishes an older document from a
   * diverged one.
   */
  readonly line?: readonly string[];
}

/** The document of a domain without changes. It is never stored. */
export const emptyDocument: ControlDocument = {
  revision: 0,
  stamp: 'none',
  generation: 1,
  ranges: [],
  purges: [],
  suppressed: [],
};

/** Identifies one document among all documents of its domain. */
export function tagOf({ revision, stamp }: Pick<ControlDocument, 'revision' | 'stamp'>): string {
  return `${revision}-${stamp}`;
}

/** Buckets `from` … `to − 1` of 10 000. */
export interface BucketRange {
  readonly from: number;
  readonly to: number;
}

export interface FlushRange extends BucketRange {
  /** Entries of a lower generation are misses (`flushed`). */
  readonly floor: number;
  /** Entries of a lower generation are served as stale. At least `floor`. */
  readonly freshFloor: number;
  /** Wall time of the latest flush: shown to operators, and used to prune the range once all older entries have expired. */
  readonly atMs: number;
}

/** All pages of one query text, with any filters and any page number. */
export interface Purge {
  /** In canonical form. */
  readonly text: string;
  /** Entries of a lower generation are misses (`flushed`). */
  readonly generation: number;
  /** Wall time: shown to operators, and used to prune the purge once all older entries have expired. */
  readonly atMs: number;
}

/** A result that must not be shown: cached pages of a lower generation that hold it are misses, new pages leave it out. */
export interface Suppression {
  readonly id: string;
  readonly generation: number;
  readonly atMs: number;
}

export interface LongestLife {
  /** From the start of the engine call to the end of the last stale window, at most `MAX_LIFE_MS`. */
  readonly ms: number;
  /** Wall time at which a process with that policy last wrote it. */
  readonly atMs: number;
}

export interface Halt {
  readonly reason: string;
  readonly by: string;
  readonly atMs: number;
}

export const FLUSH_MODES = ['refresh', 'drop', 'erase'] as const;

/** `refresh`: served as stale while it is recomputed. `drop`: a miss, but still stored. `erase`: deleted. */
export type FlushMode = (typeof FLUSH_MODES)[number];

/** The effect of a drill on the domain while its owner renews it; void after `leaseMs` without a renewal. */
export interface Overlay {
  readonly drill: string;
  /** The process that runs it. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly mode: FlushMode;
  /** Entries of a lower generation in `ranges` are flushed (`refresh`: outdated). */
  readonly floor: number;
  /** Flushed buckets; empty before the first stage. */
  readonly ranges: readonly OverlayRange[];
  /** Limits the flush to keys on these nodes (`host:port`). Absent: keys on all nodes. */
  readonly nodes?: readonly string[];
  /** Simulates an engine outage: the breakers are forced open. */
  readonly blackout: boolean;
  /** The cohorts that each process measures: the control cohort, then the cohort of each stage. At most `MAX_COHORTS`. */
  readonly cohorts: readonly (readonly BucketRange[])[];
}

/** `floor`: set by `changeOverlay` for the buckets of a later stage, whose floor is above the overlay's. */
export interface OverlayRange extends BucketRange {
  readonly floor?: number;
}

/** A store by its name in the configuration and the hash of its addresses: no address and no credential. */
export interface StoreRef {
  readonly name: string;
  /** 16 base64url characters, see `fingerprintOf`. Two processes mean the same store when these are equal. */
  readonly fingerprint: string;
}

/** Shadow traffic of a domain. */
export interface Shadow {
  readonly id: string;
  readonly candidate: StoreRef;
  /** Share of the keys, chosen by hash: above 0, at most 1. A larger fraction contains the keys of a smaller one. */
  readonly fraction: number;
  /** Copies of each read of these keys: 1 to `MAX_SHADOW_READS`. */
  readonly reads: number;
  readonly by: string;
  readonly atMs: number;
  /** Wall time at which it ends by itself. */
  readonly untilMs: number;
}

export const PLACEMENT_PHASES = ['prepared', 'committed', 'settled'] as const;

/**
 * The stores of a domain during and after a cut-over. `active` is read first and holds the leases. `other` is written after
 * it; with `committed` it is also read where `active` has no value. `settled`: there is no other store.
 */
export interface Placement {
  readonly id: string;
  readonly phase: (typeof PLACEMENT_PHASES)[number];
  readonly active: StoreRef;
  /** Present unless `settled`. */
  readonly other?: StoreRef;
  /** With `prepared` only: the placement before was settled, and is so again when the cut-over is cancelled. */
  readonly settledBefore?: true;
  /** The way back was taken: a repeated call must not lead forward again. */
  readonly reversed?: true;
  readonly by: string;
  readonly atMs: number;
}

export const MAX_SHADOW_READS = 5;
export const MAX_SHADOW_MS = 30 * 86_400_000;
export const MAX_RANGES = 32;
export const MAX_PURGES = 256;
export const MAX_SUPPRESSED = 1024;
/** A merge drops no suppression, so there is room for those of several documents. */
export const MAX_MERGED_SUPPRESSED = 4 * MAX_SUPPRESSED;
export const MAX_COHORTS = 17;
export const MAX_LINE = 32;
/** Entries store it in 32 bits. */
export const MAX_GENERATION = 0xffff_ffff;
/** The longest life that a configuration allows: a `ttl` of 30 days × 1.5 for jitter, plus 30 days stale. */
export const MAX_LIFE_MS = 75 * 86_400_000;

/** The time from which `withInitialGeneration` and `countLimit` count seconds. */
const EPOCH_MS = Date.UTC(2020, 0, 1);

/** Negative for a clock that shows an earlier time. */
export function secondsSince2020(wallMs: number): number {
  return Math.floor((wallMs - EPOCH_MS) / 1000);
}

export interface BucketPiece<Left, Right> extends BucketRange {
  /** The range of each list that covers this piece. */
  readonly left: Left | undefined;
  readonly right: Right | undefined;
}

/**
 * Cuts all buckets wherever a range of either list begins or ends. The lists may be in any order; where ranges of one list
 * overlap, the first one counts.
 */
export function piecesOf<Left extends BucketRange, Right extends BucketRange>(
  left: readonly Left[],
  right: readonly Right[],
): readonly BucketPiece<Left, Right>[] {
  const cuts = new Set([0, BUCKETS]);
  for (const { from, to } of [...left, ...right]) cuts.add(from).add(to);
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((from, index) => ({
    from,
    to: sorted[index + 1] ?? BUCKETS,
    left: left.find((range) => range.from <= from && from < range.to),
    right: right.find((range) => range.from <= from && from < range.to),
  }));
}

/** Joins neighbours for which `join` returns one range instead of undefined. The ranges are in ascending order. */
export function joined<Range extends BucketRange>(
  ranges: readonly Range[],
  join: (left: Range, right: Range) => Range | undefined,
): readonly Range[] {
  const out: Range[] = [];
  for (const range of ranges) {
    const last = out.at(-1);
    const one = last !== undefined && last.to === range.from ? join(last, range) : undefined;
    if (one === undefined) out.push(range);
    else out[out.length - 1] = one;
  }
  return out;
}

/** @throws OperationError invalid-request when there is no range, or one that is empty or outside the buckets. */
export function checkRanges(ranges: readonly BucketRange[]): void {
  const isWrong = ({ from, to }: BucketRange): boolean =>
    !Number.isInteger(from) || !Number.isInteger(to) || from < 0 || from >= to || to > BUCKETS;
  if (ranges.length === 0 || ranges.some(isWrong)) {
    throw new OperationError('invalid-request', `ranges of buckets lie within 0 … ${BUCKETS} and hold at least one`);
  }
}

/** `width` buckets starting at `from`; two ranges where they wrap past the last bucket. In ascending order. */
export function arc(from: number, width: number): readonly BucketRange[] {
  if (width <= 0) return [];
  if (width >= BUCKETS) return [{ from: 0, to: BUCKETS }];
  const start = from % BUCKETS;
  const end = start + width;
  if (end <= BUCKETS) return [{ from: start, to: end }];
  return [
    { from: 0, to: end - BUCKETS },
    { from: start, to: BUCKETS },
  ];
}

/** The count of buckets in disjoint ranges. */
export function bucketsIn(ranges: readonly BucketRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}
