import { MAX_SKEW_MS } from '../cache/entry.ts';
import { BUCKETS } from '../cache/invalidation.ts';
import {
  type BucketRange,
  bucketsIn,
  type ControlDocument,
  checkRanges,
  type FlushRange,
  type Halt,
  joined,
  MAX_GENERATION,
  MAX_PURGES,
  MAX_RANGES,
  MAX_SUPPRESSED,
  piecesOf,
  secondsSince2020,
} from './document.ts';
import { OperationError } from './operation-error.ts';
import { withoutPreparation } from './placement.ts';

/** Number of generations that stay free for changes, even when a clock is wrong by any amount. */
const SPARE_GENERATIONS = 1 << 24;

/**
 * The document that the first change of a domain builds on. When a document is lost in every process that knew it, or is
 * kept in another store from now on, a new history begins while the store still holds entries with generations of the lost
 * one. If the new history counted from 1, a flush would not cover those entries. So its first generation is the seconds
 * since 2020. That is above every history that began earlier and took fewer than one generation a second since, on average;
 * a burst of changes in the first seconds of a history can be above one that begins in the same seconds. The number fits 32
 * bits until 2156.
 *
 * No other number comes from a clock. A wrong clock matters only if the new history starts below the generation that a lost
 * one had reached: a clock that is behind by more than the age of the lost history, or a lost history whose clock was ahead
 * by as much. An entry of the lost history with a generation between the two is refused by flushes until the new
 * history reaches that generation; from then on it passes the earlier flushes, until it expires.
 */
export function withInitialGeneration(document: ControlDocument, wallMs: number): ControlDocument {
  if (document.revision > 0) return document;
  const generation = Math.max(
    document.generation,
    Math.min(secondsSince2020(wallMs), MAX_GENERATION - SPARE_GENERATIONS),
  );
  return { ...document, generation };
}

/** The generation that a change takes: the first one that no entry has. @throws OperationError control-full */
export function nextGeneration({ generation }: ControlDocument): number {
  if (generation < MAX_GENERATION) return generation + 1;
  throw new OperationError('control-full', `all ${MAX_GENERATION} generations of the domain are used up`);
}

/**
 * Flushes the ranges: entries that were computed before are misses. @throws OperationError control-full,
 * invalid-request
 */
export function raiseFloors(document: ControlDocument, ranges: readonly BucketRange[], atMs: number): ControlDocument {
  const next = raise(document, ranges, (_, generation) => ({ floor: generation, freshFloor: generation, atMs }));
  // A purge below the lowest floor has no effect any more.
  const lowest = next.ranges.reduce(
    (least, { floor }) => Math.min(least, floor),
    bucketsIn(next.ranges) === BUCKETS ? Number.POSITIVE_INFINITY : 0,
  );
  return { ...next, purges: next.purges.filter(({ generation }) => generation > lowest) };
}

/**
 * Makes entries stale that were computed before this change. An indexing job calls it after it has put an index into
 * service, with the version of that index.
 * @throws OperationError control-full, invalid-request
 */
export function raiseFreshFloors(
  document: ControlDocument,
  ranges: readonly BucketRange[],
  atMs: number,
  indexVersion?: string,
): ControlDocument {
  const next = raise(document, ranges, (floor, generation) => ({ floor, freshFloor: generation, atMs }));
  return indexVersion === undefined ? next : { ...next, indexVersion };
}

type Floors = Omit<FlushRange, keyof BucketRange>;

function raise(
  document: ControlDocument,
  ranges: readonly BucketRange[],
  floorsAt: (floor: number, generation: number) => Floors,
): ControlDocument {
  checkRanges(ranges);
  const generation = nextGeneration(document);
  const next = piecesOf(document.ranges, ranges).flatMap(({ from, to, left, right }): readonly FlushRange[] => {
    if (right !== undefined) return [{ from, to, ...floorsAt(left?.floor ?? 1, generation) }];
    return left === undefined ? [] : [{ ...left, from, to }];
  });
  const kept = joined(next, joinEqual);
  if (kept.length > MAX_RANGES) {
    throw new OperationError(
      'control-full',
      `this would make ${kept.length} ranges with floors of their own, at most ${MAX_RANGES} are kept; a flush of the whole domain makes them one`,
    );
  }
  return { ...document, generation, ranges: kept };
}

/** One range for neighbours with equal floors, kept as long as the later of the two. */
export function joinEqual(left: FlushRange, right: FlushRange): FlushRange | undefined {
  if (left.floor !== right.floor || left.freshFloor !== right.freshFloor) return undefined;
  return { ...left, to: right.to, atMs: Math.max(left.atMs, right.atMs) };
}

/** Purges one canonical text: all its pages that were computed before are misses. @throws OperationError control-full */
export function purge(document: ControlDocument, text: string, atMs: number): ControlDocument {
  const generation = nextGeneration(document);
  const others = document.purges.filter((one) => one.text !== text);
  if (others.length >= MAX_PURGES) {
    throw new OperationError(
      'control-full',
      `${MAX_PURGES} purges are in force, which is the maximum; a flush of the whole domain replaces all of them; otherwise each is removed when all entries it affects have expired, by the longest lifetimes that were in force`,
    );
  }
  return { ...document, generation, purges: [...others, { text, generation, atMs }] };
}

/**
 * Suppresses results. Cached pages that hold one of them are misses; pages computed from now on leave them out.
 * @throws OperationError control-full
 */
export function suppress(document: ControlDocument, ids: readonly string[], atMs: number): ControlDocument {
  if (ids.length === 0) return document;
  const named = new Set(ids);
  const others = document.suppressed.filter(({ id }) => !named.has(id));
  if (others.length + named.size > MAX_SUPPRESSED) {
    throw new OperationError(
      'control-full',
      `${others.length} other documents are suppressed, ${named.size} more would be over the bound of ${MAX_SUPPRESSED}; lift some that the index no longer holds`,
    );
  }
  const generation = nextGeneration(document);
  const added = [...named].map((id) => ({ id, generation, atMs }));
  return { ...document, generation, suppressed: [...others, ...added] };
}

/** Allows the results again. Pages that left them out stay as they are until they expire. */
export function lift(document: ControlDocument, ids: readonly string[]): ControlDocument {
  const named = new Set(ids);
  const suppressed = document.suppressed.filter(({ id }) => !named.has(id));
  return suppressed.length === document.suppressed.length ? document : { ...document, suppressed };
}

/**
 * Ends the running drill and the shadow, cancels a prepared cut-over, and lets none begin. A committed cut-over stays: the
 * store before it no longer has all entries.
 */
export function halt(document: ControlDocument, halted: Halt): ControlDocument {
  const { overlay: _drill, shadow: _shadow, placement: before, ...rest } = document;
  const placement = withoutPreparation(before);
  return { ...rest, halted, placement };
}

/** Lets drills, shadows and cut-overs begin again. */
export function liftHalt(document: ControlDocument): ControlDocument {
  const { halted, ...rest } = document;
  return halted === undefined ? document : rest;
}

/** Interval at which the longest life is written again while its policy is in force: one write a day for all processes. */
const LIFE_RENEWAL_MS = 86_400_000;

/**
 * The document with the longest life of an entry under the policy of any process, now or earlier. A purge made while entries
 * lived for a day must be kept for a day, even if the `ttl` is a minute by now or in the process that makes this change: the
 * store still holds the old entries, a process with the old configuration serves them, and a `ttl` that is raised again
 * makes them valid again.
 *
 * It falls to `ownLifeMs` when every entry of the longer life has expired. That takes a day in which no process wrote
 * the longer life (a running process with that policy writes it daily, if it reaches the control store), and then the
 * longer life itself, for the last entry of a process that had stopped.
 */
export function noteLongestLife(document: ControlDocument, nowMs: number, ownLifeMs: number): ControlDocument {
  const { longestLife: known } = document;
  const own = { ...document, longestLife: { ms: ownLifeMs, atMs: nowMs } };
  if (known === undefined || known.ms < ownLifeMs) return own;
  const keptMs = known.ms === ownLifeMs ? 0 : known.ms + MAX_SKEW_MS;
  return nowMs - known.atMs > LIFE_RENEWAL_MS + keptMs ? own : document;
}

/** Whether this process must write its longest life without another change. A longest life falls only with a change. */
export function shouldNoteLongestLife(document: ControlDocument, nowMs: number, ownLifeMs: number): boolean {
  const { revision, longestLife } = document;
  if (revision === 0 || (longestLife?.ms ?? 0) > ownLifeMs) return false;
  return noteLongestLife(document, nowMs, ownLifeMs) !== document;
}

/**
 * Removes purges and ranges when all entries that they affect have expired, so that the lists have room again.
 * Suppressions stay until they are lifted: the engine may hold the result for ever.
 * @param ownLifeMs the longest life of an entry under this process's policy; the document may hold a longer one
 */
export function prune(document: ControlDocument, nowMs: number, ownLifeMs: number): ControlDocument {
  const keptMs = Math.max(ownLifeMs, document.longestLife?.ms ?? 0) + MAX_SKEW_MS;
  const matters = ({ atMs }: { readonly atMs: number }): boolean => nowMs - atMs <= keptMs;
  const ranges = document.ranges.filter(matters);
  const purges = document.purges.filter(matters);
  const isSame = ranges.length === document.ranges.length && purges.length === document.purges.length;
  return isSame ? document : { ...document, ranges, purges };
}
