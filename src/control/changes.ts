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
  tagOf,
} from './document.ts';
import { OperationRefused } from './operation-error.ts';

/** Flushes the ranges: what was computed before is a miss. @throws OperationRefused control-full, invalid-request */
export function raiseFloors(document: ControlDocument, ranges: readonly BucketRange[], atMs: number): ControlDocument {
  const next = raise(document, ranges, (_, generation) => ({ floor: generation, freshFloor: generation, atMs }));
  // What lies below every floor needs no purge any more.
  const lowest = next.ranges.reduce(
    (least, { floor }) => Math.min(least, floor),
    bucketsIn(next.ranges) === BUCKETS ? Number.POSITIVE_INFINITY : 0,
  );
  return { ...next, purges: next.purges.filter(({ generation }) => generation > lowest) };
}

/**
 * Makes stale what was computed before; an indexing job calls it after a rotation, and says which index it is.
 * @throws OperationRefused control-full, invalid-request
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
    throw new OperationRefused(
      'control-full',
      `this would make ${kept.length} ranges with floors of their own, at most ${MAX_RANGES} are kept; a flush of the whole domain makes them one`,
    );
  }
  return { ...document, generation, ranges: kept };
}

/** Equal floors are one range; it is remembered as long as the later of the two. */
export function joinEqual(left: FlushRange, right: FlushRange): FlushRange | undefined {
  if (left.floor !== right.floor || left.freshFloor !== right.freshFloor) return undefined;
  return { ...left, to: right.to, atMs: Math.max(left.atMs, right.atMs) };
}

/** Every page of one canonical text that was computed before is a miss. @throws OperationRefused control-full */
export function purge(document: ControlDocument, text: string, atMs: number): ControlDocument {
  const generation = nextGeneration(document);
  const others = document.purges.filter((one) => one.text !== text);
  if (others.length >= MAX_PURGES) {
    throw new OperationRefused(
      'control-full',
      `${MAX_PURGES} purges are remembered, which is the most; a flush of the whole domain makes them needless; otherwise each is forgotten when every entry it names has lapsed, by the longest lifetimes that were in force`,
    );
  }
  return { ...document, generation, purges: [...others, { text, generation, atMs }] };
}

/**
 * Documents that must not be seen. Cached pages that hold one are misses, unless they are computed from now on, by
 * processes that know of it and leave it out. @throws OperationRefused control-full
 */
export function suppress(document: ControlDocument, ids: readonly string[], atMs: number): ControlDocument {
  if (ids.length === 0) return document;
  const named = new Set(ids);
  const others = document.suppressed.filter(({ id }) => !named.has(id));
  if (others.length + named.size > MAX_SUPPRESSED) {
    throw new OperationRefused(
      'control-full',
      `${others.length} other documents are suppressed, ${named.size} more would be over the bound of ${MAX_SUPPRESSED}; lift some that the index no longer holds`,
    );
  }
  const generation = nextGeneration(document);
  const added = [...named].map((id) => ({ id, generation, atMs }));
  return { ...document, generation, suppressed: [...others, ...added] };
}

/** They may be seen again. Pages that left them out stay as they are until they lapse. */
export function lift(document: ControlDocument, ids: readonly string[]): ControlDocument {
  const named = new Set(ids);
  const suppressed = document.suppressed.filter(({ id }) => !named.has(id));
  return suppressed.length === document.suppressed.length ? document : { ...document, suppressed };
}

/** Whether an entry of that generation holds a document which was suppressed since. */
export type HoldsSuppressed = (fingerprints: Uint32Array, generation: number) => boolean;

/** One byte each: with 1,024 documents a fingerprint of none of them is looked up in 1.6 % of all cases. */
const SLOTS = 1 << 16;

/** A filter before a map, as nearly all that is asked for is not there. */
export function compileSuppressions(
  suppressed: readonly { readonly fingerprint: number; readonly generation: number }[],
): HoldsSuppressed {
  if (suppressed.length === 0) return () => false;
  const filter = new Uint8Array(SLOTS);
  const generations = new Map<number, number>();
  for (const { fingerprint, generation } of suppressed) {
    filter[fingerprint & 65535] = 1;
    generations.set(fingerprint, Math.max(generation, generations.get(fingerprint) ?? 0));
  }
  return (fingerprints, generation) => {
    // By index: an iterator over 20 of them took twice as long.
    for (let index = 0; index < fingerprints.length; index += 1) {
      const fingerprint = fingerprints[index] ?? 0;
      if (filter[fingerprint & 65535] === 1 && generation < (generations.get(fingerprint) ?? 0)) return true;
    }
    return false;
  };
}

/** The generation a change takes: the first that no entry has. @throws OperationRefused control-full */
export function nextGeneration({ generation }: ControlDocument): number {
  if (generation < MAX_GENERATION) return generation + 1;
  throw new OperationRefused('control-full', `all ${MAX_GENERATION} generations of the domain are used up`);
}

/** No drill runs from now on, and none may begin. */
export function halt(document: ControlDocument, halted: Halt): ControlDocument {
  const { overlay: _ended, ...rest } = document;
  return { ...rest, halted };
}

/** Drills may begin again. */
export function liftHalt(document: ControlDocument): ControlDocument {
  const { halted, ...rest } = document;
  return halted === undefined ? document : rest;
}

/** How often a process says again that the longest policy is its own: one write a day, by whichever process comes first. */
const SAID_EVERY_MS = 86_400_000;

/**
 * The document with the longest life of an entry that any process has, or had: what was purged while entries lived for a day
 * must be remembered for a day, though the `ttl` is a minute by now, or is a minute in the process that changes the document.
 * A store still holds the old entries, a process with the old configuration serves them, and a `ttl` that is raised again
 * revives them.
 *
 * It falls to `ownLifeMs` when every entry of the longer life is gone: no process has said that it has the longer one for a
 * day, in which each that runs and hears the control store would have, and the last entry of one that had left by then has
 * been outlived.
 */
export function noteLongestLife(document: ControlDocument, nowMs: number, ownLifeMs: number): ControlDocument {
  const { longestLife: known } = document;
  const own = { ...document, longestLife: { ms: ownLifeMs, atMs: nowMs } };
  if (known === undefined || known.ms < ownLifeMs) return own;
  const keptMs = known.ms === ownLifeMs ? 0 : known.ms + MAX_SKEW_MS;
  return nowMs - known.atMs > SAID_EVERY_MS + keptMs ? own : document;
}

/** Whether this process has something to say of the longest life beside its changes. A life falls with a change alone. */
export function owesLongestLife(document: ControlDocument, nowMs: number, ownLifeMs: number): boolean {
  const { revision, longestLife } = document;
  if (revision === 0 || (longestLife?.ms ?? 0) > ownLifeMs) return false;
  return noteLongestLife(document, nowMs, ownLifeMs) !== document;
}

/**
 * Leaves out purges and ranges that every entry they concern has outlived, so that the lists have room again.
 * Suppressions stay until they are lifted: an engine may hold the document for ever.
 * @param ownLifeMs the longest life of an entry by this process's policy; the document may know a longer one
 */
export function forget(document: ControlDocument, nowMs: number, ownLifeMs: number): ControlDocument {
  const keptMs = Math.max(ownLifeMs, document.longestLife?.ms ?? 0) + MAX_SKEW_MS;
  const matters = ({ atMs }: { readonly atMs: number }): boolean => nowMs - atMs <= keptMs;
  const ranges = document.ranges.filter(matters);
  const purges = document.purges.filter(matters);
  const isSame = ranges.length === document.ranges.length && purges.length === document.purges.length;
  return isSame ? document : { ...document, ranges, purges };
}

const EPOCH_MS = Date.UTC(2020, 0, 1);
/** A clock that shows less is wrong: this version did not exist then. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
/** Beyond one change a second since 2020 on average: 8.5 years of changes or of clock error. */
const AHEAD = 2 ** 28;
/** More than a fleet changes while one process does not hear of it: a burst, and so many changes a second. */
const MAX_STEP = 2 ** 20;
const MAX_STEP_PER_SECOND = 100;

/** Seconds since 2020, where new lines begin to count. Negative for a clock that shows less. */
export function secondsSince2020(wallMs: number): number {
  return Math.floor((wallMs - EPOCH_MS) / 1000);
}

/**
 * The highest revision and the highest generation a document may have by this clock. It rises with the clock, so a
 * document that somebody put right at the limit allows one more change each second and never stops a domain for good.
 */
export function countLimit(nowMs: number): number {
  return Math.min(MAX_GENERATION, secondsSince2020(Math.max(nowMs, EARLIEST_MS)) + AHEAD);
}

export interface StepContext {
  /** Nothing is known at revision 0: then only the limit counts. */
  readonly known: ControlDocument;
  readonly nowMs: number;
  /** Since this process last read a document or its absence. */
  readonly silentMs: number;
}

/**
 * Why a document is further ahead of the known one than changes can have taken it; undefined when it is not. One that
 * names the known one in its line is not judged: another process may have joined what this one refuses with what it knows,
 * and the two would write over each other for ever.
 */
export function stepFault(stored: ControlDocument, { known, nowMs, silentMs }: StepContext): string | undefined {
  if (known.revision === 0 || stored.line?.includes(tagOf(known)) === true) return undefined;
  const most = MAX_STEP + Math.ceil((silentMs / 1000) * MAX_STEP_PER_SECOND);
  if (stored.revision > known.revision + most) {
    return `revision ${stored.revision} is more than ${most} above ${known.revision}, which is known here`;
  }
  // A line that began anew counts from the seconds since 2020, however few the known one has used.
  const from = Math.max(known.generation, secondsSince2020(nowMs));
  if (stored.generation <= from + most) return undefined;
  return `generation ${stored.generation} is more than ${most} above ${known.generation}, which is known here`;
}
