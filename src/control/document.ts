import Type from 'typebox';
import { BUCKETS } from '../cache/invalidation.ts';
import { type Decoded, oneOf, partOf, wallTime } from '../schema/fields.ts';
import { OperationError } from './operation-error.ts';

export const FLUSH_MODES = ['refresh', 'drop', 'erase'] as const;
/** `refresh`: served as stale while it is recomputed. `drop`: a miss, but still stored. `erase`: deleted. */
export type FlushMode = (typeof FLUSH_MODES)[number];

export const PLACEMENT_PHASES = ['prepared', 'committed', 'settled'] as const;

export const MAX_SHADOW_READS = 5;
export const MAX_SHADOW_MS = 30 * 86_400_000;
export const MAX_RANGES = 32;
export const MAX_PURGES = 256;
export const MAX_SUPPRESSED = 1024;
/** A merge drops no suppression, so there is room for those of several documents. */
export const MAX_MERGED_SUPPRESSED = 4 * MAX_SUPPRESSED;
const MAX_COHORTS = 17;
export const MAX_LINE = 32;
/** Entries store it in 32 bits. */
export const MAX_GENERATION = 0xffff_ffff;
/** The longest life that a configuration allows: a `ttl` of 30 days × 1.5 for jitter, plus 30 days stale. */
export const MAX_LIFE_MS = 75 * 86_400_000;
/** Maximum length of a canonical text: at most 256 typed characters, each of which may become eighteen. */
const MAX_TEXT = 4608;
/** The maximum of the setting `drills.lease`. */
const MAX_LEASE_MS = 60_000;

const text = (maxLength: number, pattern?: string) => Type.String({ minLength: 1, maxLength, pattern });
const name = text(256);
const number = (maximum: number, minimum = 1) => Type.Integer({ minimum, maximum });
const generation = number(MAX_GENERATION);
const wallMs = wallTime();

const bucketRange = { from: number(BUCKETS - 1, 0), to: number(BUCKETS) };
export const BUCKET_RANGE = Type.Object(bucketRange);
/** Buckets `from` … `to − 1` of 10 000. */
export type BucketRange = Decoded<typeof BUCKET_RANGE>;

const FLUSH_RANGE = Type.Object({
  ...bucketRange,
  floor: { ...generation, description: 'Entries of a lower generation are misses.' },
  freshFloor: { ...generation, description: 'Entries of a lower generation are stale. At least `floor`.' },
  /** Wall time of the latest flush: shown to operators, and used to prune the range once all older entries have expired. */
  atMs: wallMs,
});
export type FlushRange = Decoded<typeof FLUSH_RANGE>;

const PURGE = Type.Object({
  /** In canonical form. */
  text: text(MAX_TEXT),
  /** Entries of a lower generation are misses (`flushed`). */
  generation,
  /** Wall time: shown to operators, and used to prune the purge once all older entries have expired. */
  atMs: wallMs,
});
/** All pages of one query text, with any filters and any page number. */
export type Purge = Decoded<typeof PURGE>;

const SUPPRESSION = Type.Object({ id: text(512), generation, atMs: wallMs });
/** A result that must not be shown: cached pages of a lower generation that hold it are misses, new pages leave it out. */
export type Suppression = Decoded<typeof SUPPRESSION>;

const LONGEST_LIFE = Type.Object({
  /** From the start of the engine call to the end of the last stale window. */
  ms: number(MAX_LIFE_MS),
  /** Wall time at which a process with that policy last wrote it. */
  atMs: wallMs,
});
export type LongestLife = Decoded<typeof LONGEST_LIFE>;

export const HALT = Type.Object({ reason: text(2000), by: name, atMs: wallMs });
export type Halt = Decoded<typeof HALT>;

export const OVERLAY_RANGE = Type.Object({
  ...bucketRange,
  /** Set by `changeOverlay` for the buckets of a later stage, whose floor is above the overlay's. */
  floor: Type.Optional({ ...generation, description: 'Entries of a lower generation were flushed.' }),
});
export type OverlayRange = Decoded<typeof OVERLAY_RANGE>;

const OVERLAY = Type.Object({
  drill: name,
  /** The process that runs it. */
  owner: name,
  leaseMs: number(MAX_LEASE_MS),
  mode: oneOf(FLUSH_MODES),
  /** Entries of a lower generation in `ranges` are flushed (`refresh`: outdated). */
  floor: generation,
  /** Flushed buckets; empty before the first stage. */
  ranges: Type.Array(OVERLAY_RANGE, { maxItems: MAX_RANGES }),
  /** Limits the flush to keys on these nodes (`host:port`). Absent: keys on all nodes. */
  nodes: Type.Optional(Type.Array(name, { maxItems: 1024 })),
  /** Simulates an engine outage: the breakers are forced open. */
  blackout: Type.Boolean(),
  /** The cohorts that each process measures: the control cohort, then the cohort of each stage. */
  cohorts: Type.Array(Type.Array(BUCKET_RANGE, { maxItems: MAX_RANGES }), { maxItems: MAX_COHORTS }),
});
/** The effect of a drill on the domain while its owner renews it; void after `leaseMs` without a renewal. */
export type Overlay = Decoded<typeof OVERLAY>;

const STORE_REF = Type.Object({
  name: text(64),
  /** See `fingerprintOf`. Two processes mean the same store when these are equal. */
  fingerprint: text(16, '^[A-Za-z0-9_-]{16}$'),
});
/** A store by its name in the configuration and the hash of its addresses: no address and no credential. */
export type StoreRef = Decoded<typeof STORE_REF>;

export const SHADOW = Type.Object({
  id: name,
  candidate: STORE_REF,
  /** Chosen by hash. A larger fraction contains the keys of a smaller one. */
  fraction: partOf('Share of the keys.'),
  /** Copies of each read of these keys. */
  reads: number(MAX_SHADOW_READS),
  by: name,
  atMs: wallMs,
  /** Wall time at which it ends by itself. */
  untilMs: wallMs,
});
/** Shadow traffic of a domain. */
export type Shadow = Decoded<typeof SHADOW>;

export const PLACEMENT = Type.Object({
  id: name,
  phase: oneOf(PLACEMENT_PHASES),
  active: STORE_REF,
  /** Present unless `settled`. */
  other: Type.Optional(STORE_REF),
  /** With `prepared` only: the placement before was settled, and is so again when the cut-over is cancelled. */
  settledBefore: Type.Optional(Type.Literal(true)),
  /** With `committed` only: the way back was taken, and a repeated call must not lead forward again. */
  reversed: Type.Optional(Type.Literal(true)),
  by: name,
  atMs: wallMs,
});
/**
 * The stores of a domain during and after a cut-over. `active` is read first and holds the leases. `other` is written after
 * it; with `committed` it is also read where `active` has no value. `settled`: there is no other store.
 */
export type Placement = Decoded<typeof PLACEMENT>;

/** Bounds that depend on other members, such as those of ranges, are in `document-codec.ts`. */
export const CONTROL_DOCUMENT = Type.Object({
  /** Rises by one with each change. */
  revision: number(Number.MAX_SAFE_INTEGER),
  /** Random, from the writer: distinguishes two documents of one revision, which can exist after a store was wiped. */
  stamp: text(64, '^[\\w-]+$'),
  /** The highest generation in use; it never falls. New entries carry it. See `withInitialGeneration`. */
  generation,
  /** Disjoint, in ascending order. */
  ranges: Type.Array(FLUSH_RANGE, { maxItems: MAX_RANGES }),
  /** The version that the indexing job gave for its latest index. */
  indexVersion: Type.Optional(text(128)),
  purges: Type.Array(PURGE, { maxItems: MAX_PURGES }),
  /** At most `MAX_SUPPRESSED` by changes of operators; more after a merge. */
  suppressed: Type.Array(SUPPRESSION, { maxItems: MAX_MERGED_SUPPRESSED }),
  /** The longest time that any process serves an entry. Absent: no process has written it. See `noteLongestLife`. */
  longestLife: Type.Optional(LONGEST_LIFE),
  /** While present, no drill, shadow or cut-over may start; those that ran were ended. A committed cut-over stays. */
  halted: Type.Optional(HALT),
  /** The effect of the running drill. A drill changes nothing else, so removing the overlay restores everything. */
  overlay: Type.Optional(OVERLAY),
  /** Copies of the domain's store commands go to a candidate store. */
  shadow: Type.Optional(SHADOW),
  /** Which stores hold the entries. Absent: the store of each process's configuration. */
  placement: Type.Optional(PLACEMENT),
  /** Tags of the ancestors of this document, newest first: distinguishes an older document from a diverged one. */
  line: Type.Optional(Type.Array(text(256, '^[1-9]\\d*-[\\w-]{1,64}$'), { maxItems: MAX_LINE })),
});
/**
 * The control document of a domain: all decisions of operators about its cache. Every process of the fleet follows it, and
 * it is changed by compare-and-set. It counts **generations**, not times: each entry carries the generation that was
 * current when its engine call began, so no two clocks have to agree.
 */
export type ControlDocument = Decoded<typeof CONTROL_DOCUMENT>;

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
