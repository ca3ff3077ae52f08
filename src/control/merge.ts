import { BUCKETS } from '../cache/invalidation.ts';
import { joinEqual } from './changes.ts';
import {
  type BucketPiece,
  type ControlDocument,
  type FlushRange,
  type Halt,
  joined,
  type LongestLife,
  MAX_GENERATION,
  MAX_LINE,
  MAX_PURGES,
  MAX_RANGES,
  PLACEMENT_PHASES,
  type Placement,
  type Purge,
  piecesOf,
  type Suppression,
  tagOf,
} from './document.ts';
import { withoutPreparation } from './placement.ts';

/**
 * Merges two diverged documents: neither descends from the other, because the control store was wiped and a process
 * changed the empty document before another process wrote back the known one. The merge prefers recomputing to serving:
 * no floor falls, and nothing that was purged, suppressed or halted comes back (a lift that only one document knows is
 * lost). Purges beyond the maximum become a floor below which everything is flushed. Suppressions beyond the maximum
 * make a document that no process accepts, so none is dropped.
 *
 * The two histories count generations independently, so an entry of one may carry a generation that a purge of the
 * other has taken too. An item that only one document holds gets a generation above both, unless its own is above the
 * other's already.
 *
 * A drill or a shadow goes on only when both documents hold it: one that either has ended, or never held, is not revived.
 * A placement is kept when either holds it: without it, processes would return to a store that no longer has the entries.
 * The merge is symmetric except for the stamp. Revision and ancestors are those of a descendant of both.
 */
export function merge(left: ControlDocument, right: ControlDocument, stamp: string): ControlDocument {
  if (tagOf(left) === tagOf(right)) return left;
  const above = Math.min(MAX_GENERATION, Math.max(left.generation, right.generation) + 1);
  const allPurges = unite(left, right, above, ({ purges }) => purges);
  const purges = allPurges.slice(-MAX_PURGES);
  const ranges = raiseAll(mergeFloors(left, right, above), allPurges.slice(0, -MAX_PURGES));
  const suppressed = unite(left, right, above, (document) => document.suppressed);
  const halted = laterHalt(left.halted, right.halted);
  const { overlay, shadow, indexVersion } = leading(left, right);
  const keepsDrill = halted === undefined && left.overlay?.drill === right.overlay?.drill;
  const keepsShadow = halted === undefined && left.shadow?.id === right.shadow?.id;
  // Cancelled in each document before one is chosen, so that a cancelled preparation does not hide a committed cut-over.
  const [leftPlacement, rightPlacement] = [left, right].map(({ placement }) =>
    halted === undefined ? placement : withoutPreparation(placement),
  );
  const placement = laterPlacement(leftPlacement, rightPlacement);
  const longestLife = longerLife(left.longestLife, right.longestLife);
  const isAboveUsed =
    ranges.some(({ freshFloor }) => freshFloor === above) ||
    [...purges, ...suppressed].some(({ generation }) => generation === above);
  return {
    revision: Math.max(left.revision, right.revision) + 1,
    stamp,
    generation: isAboveUsed ? above : Math.max(left.generation, right.generation),
    ranges,
    indexVersion,
    purges,
    suppressed,
    longestLife,
    halted,
    overlay: keepsDrill ? overlay : undefined,
    shadow: keepsShadow ? shadow : undefined,
    placement,
    line: mergedHistory(left, right),
  };
}

const nameOf = (item: Purge | Suppression): string => ('text' in item ? item.text : item.id);

/** The items of both documents, each once, the newest last. */
function unite<Item extends Purge | Suppression>(
  left: ControlDocument,
  right: ControlDocument,
  above: number,
  listOf: (document: ControlDocument) => readonly Item[],
): readonly Item[] {
  const united = new Map<string, Item>();
  const add = (own: ControlDocument, other: ControlDocument): void => {
    const others = new Map(listOf(other).map((item) => [nameOf(item), item]));
    for (const item of listOf(own)) {
      const same = others.get(nameOf(item));
      const isShared = same?.generation === item.generation;
      const generation = isShared || item.generation > other.generation ? item.generation : above;
      const before = united.get(nameOf(item));
      if (before === undefined || generation > before.generation) {
        united.set(nameOf(item), { ...item, generation, atMs: Math.max(item.atMs, same?.atMs ?? item.atMs) });
      }
    }
  };
  add(left, right);
  add(right, left);
  return [...united.values()].sort(
    (a, b) => a.generation - b.generation || a.atMs - b.atMs || (nameOf(a) < nameOf(b) ? 1 : -1),
  );
}

function laterHalt(left: Halt | undefined, right: Halt | undefined): Halt | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const order = left.atMs - right.atMs || (`${left.by} ${left.reason}` < `${right.by} ${right.reason}` ? -1 : 1);
  return order > 0 ? left : right;
}

function longerLife(left: LongestLife | undefined, right: LongestLife | undefined): LongestLife | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return { ms: Math.max(left.ms, right.ms), atMs: Math.max(left.atMs, right.atMs) };
}

/** A settled placement has the time of its commit, so the later phase decides between the two. */
function laterPlacement(left: Placement | undefined, right: Placement | undefined): Placement | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const rank = ({ phase }: Placement): number => PLACEMENT_PHASES.indexOf(phase);
  const text = ({ id, active, other, by }: Placement): string => JSON.stringify([id, active, other, by]);
  const order = left.atMs - right.atMs || rank(left) - rank(right) || (text(left) < text(right) ? -1 : 1);
  return order > 0 ? left : right;
}

/** The document with the higher revision: its value is taken where only one value is possible. */
function leading(left: ControlDocument, right: ControlDocument): ControlDocument {
  if (left.revision !== right.revision) return left.revision > right.revision ? left : right;
  return tagOf(left) > tagOf(right) ? left : right;
}

/**
 * The higher of both floors in every bucket. Where they differ, the later flush (by wall time: nothing else orders the two
 * histories) must hold for entries of both histories: unless its floor is above every generation of the other document, it is
 * raised to `above`. When there are too many ranges, the most similar neighbours are joined: that flushes more, never less.
 */
function mergeFloors(left: ControlDocument, right: ControlDocument, above: number): readonly FlushRange[] {
  const merged = piecesOf(left.ranges, right.ranges).flatMap((piece) => mergePiece(piece, left, right, above));
  return fitted(merged);
}

/** Raises all floors so that everything these purges affect is flushed; afterwards the purges are dropped. */
export function raiseAll(ranges: readonly FlushRange[], purges: readonly Purge[]): readonly FlushRange[] {
  if (purges.length === 0) return ranges;
  const below = Math.max(...purges.map(({ generation }) => generation));
  const latestMs = Math.max(...purges.map(({ atMs }) => atMs));
  return fitted(
    piecesOf(ranges, [{ from: 0, to: BUCKETS }]).map(({ from, to, left = UNFLUSHED }) => {
      const floor = Math.max(below, left.floor);
      return { from, to, floor, freshFloor: Math.max(floor, left.freshFloor), atMs: Math.max(latestMs, left.atMs) };
    }),
  );
}

function fitted(pieces: readonly FlushRange[]): readonly FlushRange[] {
  let ranges = joined(pieces, joinEqual);
  while (ranges.length > MAX_RANGES) ranges = joinMostSimilar(ranges);
  return ranges;
}

/** The floors of buckets that no flush has named. */
const UNFLUSHED = { floor: 1, freshFloor: 1, atMs: Number.NEGATIVE_INFINITY };

function mergePiece(
  { from, to, left, right }: BucketPiece<FlushRange, FlushRange>,
  leftDocument: ControlDocument,
  rightDocument: ControlDocument,
  above: number,
): readonly FlushRange[] {
  if (left === undefined && right === undefined) return [];
  const [own, other] = [left ?? UNFLUSHED, right ?? UNFLUSHED];
  const floorOf = (leftFloor: number, rightFloor: number): number => {
    if (leftFloor === rightFloor) return leftFloor;
    const leftFails = own.atMs >= other.atMs && leftFloor > 1 && leftFloor <= rightDocument.generation;
    const rightFails = other.atMs >= own.atMs && rightFloor > 1 && rightFloor <= leftDocument.generation;
    return leftFails || rightFails ? above : Math.max(leftFloor, rightFloor);
  };
  const floor = floorOf(own.floor, other.floor);
  const freshFloor = Math.max(floor, floorOf(own.freshFloor, other.freshFloor));
  return [{ from, to, floor, freshFloor, atMs: Math.max(own.atMs, other.atMs) }];
}

/** Joins the two neighbours whose union flushes least beyond what they flush now: buckets times generations. */
function joinMostSimilar(ranges: readonly FlushRange[]): readonly FlushRange[] {
  const costs = ranges.slice(1).map((next, index) => {
    const one = ranges[index] ?? next;
    const union = unionOf(one, next);
    const volume = ({ from, to, floor, freshFloor }: FlushRange): number => (to - from) * (floor + freshFloor - 2);
    return volume(union) - volume(one) - volume(next);
  });
  const cheapest = costs.indexOf(Math.min(...costs));
  return ranges.flatMap((range, index) => {
    if (index === cheapest + 1) return [];
    const next = ranges[index + 1];
    return [index === cheapest && next !== undefined ? unionOf(range, next) : range];
  });
}

function unionOf(left: FlushRange, right: FlushRange): FlushRange {
  return {
    from: left.from,
    to: right.to,
    floor: Math.max(left.floor, right.floor),
    freshFloor: Math.max(left.freshFloor, right.freshFloor),
    atMs: Math.max(left.atMs, right.atMs),
  };
}

/** How the history of the stored document relates to the history of the known one. */
type HistoryOrder =
  | 'same'
  /** The stored document descends from the known one. */
  | 'newer'
  /** The known document descends from the stored one: a failover or a backup restored an earlier state of the store. */
  | 'older'
  /** Neither descends from the other: the store was wiped, and a new history began. */
  | 'diverged';

/**
 * Compares by the ancestors in each document. When they do not reach back far enough, because a process was away for more
 * than `MAX_LINE` changes, the higher revision counts as the newer one.
 */
export function compareHistories(known: ControlDocument, stored: ControlDocument): HistoryOrder {
  if (tagOf(known) === tagOf(stored)) return 'same';
  if (descends(stored, known)) return stored.generation < known.generation ? 'diverged' : 'newer';
  return descends(known, stored) ? 'older' : 'diverged';
}

function descends(later: ControlDocument, earlier: ControlDocument): boolean {
  if (earlier.revision === 0) return true;
  const ancestors = later.line ?? [];
  if (ancestors.includes(tagOf(earlier))) return true;
  return ancestors.length === MAX_LINE && ancestors.every((tag) => revisionOf(tag) > earlier.revision);
}

/** Makes `next`, the result of a change, the successor of `before`: revision, stamp and ancestors. */
export function descendant(next: ControlDocument, before: ControlDocument, stamp: string): ControlDocument {
  const line = before.revision === 0 ? [] : [tagOf(before), ...(before.line ?? [])];
  return { ...next, revision: before.revision + 1, stamp, line: line.slice(0, MAX_LINE) };
}

/** The ancestors of the merge of both: their own tags first, then the ancestors of each, highest revision first. */
function mergedHistory(left: ControlDocument, right: ControlDocument): readonly string[] {
  const own = byRevision([tagOf(left), tagOf(right)]);
  const before = byRevision([...(left.line ?? []), ...(right.line ?? [])]);
  return [...new Set([...own, ...before])].slice(0, MAX_LINE);
}

function byRevision(tags: readonly string[]): readonly string[] {
  return [...tags].sort((a, b) => revisionOf(b) - revisionOf(a) || (a < b ? -1 : 1));
}

function revisionOf(tag: string): number {
  return Number.parseInt(tag, 10);
}
