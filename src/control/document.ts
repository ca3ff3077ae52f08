import { BUCKETS } from '../cache/invalidation.ts';
import { OperationRefused } from './operation-error.ts';

/**
 * The control document of a domain: everything operators have decided about its cache. It is followed by every process
 * of the fleet and changed by compare-and-set. What counts are **generations**, not times: each entry carries the
 * generation that was current when its engine call began, so no clock has to agree with another.
 */
export interface ControlDocument {
  /** Grows by one with each change. */
  readonly revision: number;
  /** A random word of the writer: tells two documents of one revision apart (a store that was wiped between them). */
  readonly stamp: string;
  /** The highest ever given out, at least 1; it never falls. New entries carry it. See `beginLine` for where it starts. */
  readonly generation: number;
  /** Disjoint, in rising order, at most `MAX_RANGES`. */
  readonly ranges: readonly FlushRange[];
  /** What the indexing job said of the last index it rotated in. At most 128 characters. */
  readonly indexVersion?: string;
  /** At most `MAX_PURGES`. */
  readonly purges: readonly Purge[];
  /** At most `MAX_SUPPRESSED` by what operators ask for, and `MAX_MERGED_SUPPRESSED` after a merge. */
  readonly suppressed: readonly Suppression[];
  /** Of an entry, under the longest policy of any process. Absent: no process has said. See forget.ts. */
  readonly longestLife?: LongestLife;
  /** While present no drill may run or start. */
  readonly halted?: Halt;
  /** Of the drill that runs. A drill changes nothing else, so that its end restores everything. */
  readonly overlay?: Overlay;
  /** Tags of the documents this one descends from, newest first, at most `MAX_LINE`: tells older from diverged. */
  readonly line?: readonly string[];
}

/** Of a domain nobody ever changed. It is never stored. */
export const emptyDocument: ControlDocument = {
  revision: 0,
  stamp: 'none',
  generation: 1,
  ranges: [],
  purges: [],
  suppressed: [],
};

/** Names one document among all of its domain. */
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
  /** Wall time of the latest flush here, for people, and for forgetting it when every entry it concerns has lapsed. */
  readonly atMs: number;
}

/** Every page of one query text, whatever its filters and page number. */
export interface Purge {
  /** Canonical. */
  readonly text: string;
  /** Entries of a lower one are misses (`flushed`). */
  readonly generation: number;
  /** Wall time, for people, and for forgetting it when every entry it names has lapsed. */
  readonly atMs: number;
}

/** A document that must not be seen: cached pages of a lower generation that hold it are misses, new pages leave it out. */
export interface Suppression {
  readonly id: string;
  readonly generation: number;
  readonly atMs: number;
}

export interface LongestLife {
  /** From the start of the engine call to the end of the last window, at most `MAX_LIFE_MS`. */
  readonly ms: number;
  /** Wall time: when a process with that policy last said so. */
  readonly atMs: number;
}

export interface Halt {
  readonly reason: string;
  readonly by: string;
  readonly atMs: number;
}

export const FLUSH_MODES = ['refresh', 'drop', 'erase'] as const;

/** `refresh`: served as stale while it is computed anew. `drop`: a miss, still there. `erase`: gone. */
export type FlushMode = (typeof FLUSH_MODES)[number];

/** What a drill does to the domain while its owner renews it; void once the renewals stand still for `leaseMs`. */
export interface Overlay {
  readonly drill: string;
  /** The process that runs it. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly mode: FlushMode;
  /** Entries of a lower generation in `ranges` are flushed (`refresh`: outdated). */
  readonly floor: number;
  /** Empty before the first stage. */
  readonly ranges: readonly OverlayRange[];
  /** Of the keys in `ranges` only those that live on these nodes (`host:port`). Absent: on whichever. */
  readonly nodes?: readonly string[];
  /** The engine is taken for dead: its breakers are forced open. */
  readonly blackout: boolean;
  /** What each process measures apart: the control cohort first, then the cohort of each stage. At most 17. */
  readonly cohorts: readonly (readonly BucketRange[])[];
}

/** `floor`: of the stage that took it, where that is higher than the overlay's. Set by `changeOverlay`. */
export interface OverlayRange extends BucketRange {
  readonly floor?: number;
}

export const MAX_RANGES = 32;
export const MAX_PURGES = 256;
export const MAX_SUPPRESSED = 1024;
/** A merge drops no suppression: documents of several lines have room together. */
export const MAX_MERGED_SUPPRESSED = 4 * MAX_SUPPRESSED;
export const MAX_COHORTS = 17;
export const MAX_LINE = 32;
/** Entries keep theirs in 32 bits. */
export const MAX_GENERATION = 0xffff_ffff;
/** What the longest lifetimes that a configuration may ask for add up to: 30 days × 1.5 for the jitter, and 30 days stale. */
export const MAX_LIFE_MS = 75 * 86_400_000;

export interface Piece<Left, Right> extends BucketRange {
  /** What lies there in the one list and in the other. */
  readonly left: Left | undefined;
  readonly right: Right | undefined;
}

/**
 * Cuts all buckets wherever a range of either list begins or ends. Lists may be in any order; where ranges of one list
 * overlap, the first of them counts.
 */
export function piecesOf<Left extends BucketRange, Right extends BucketRange>(
  left: readonly Left[],
  right: readonly Right[],
): readonly Piece<Left, Right>[] {
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

/** Puts neighbours together for which `join` gives one range; undefined: they differ. Ranges in rising order. */
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

/** @throws OperationRefused invalid-request: nothing, or not within the buckets. */
export function checkRanges(ranges: readonly BucketRange[]): void {
  const isWrong = ({ from, to }: BucketRange): boolean =>
    !Number.isInteger(from) || !Number.isInteger(to) || from < 0 || from >= to || to > BUCKETS;
  if (ranges.length === 0 || ranges.some(isWrong)) {
    throw new OperationRefused('invalid-request', `ranges of buckets lie within 0 … ${BUCKETS} and hold at least one`);
  }
}

/** So many buckets from one on, as one range or, past the last bucket, two; in rising order. */
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

/** Of disjoint ranges. */
export function bucketsIn(ranges: readonly BucketRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}
