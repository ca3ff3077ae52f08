import { fingerprint } from '../cache/codec.ts';
import type { Entry } from '../cache/entry.ts';
import { BUCKETS, type EntryRules, type EntryVerdict, type RuledName } from '../cache/invalidation.ts';
import { compileSuppressions } from './changes.ts';
import type { BucketRange, ControlDocument, Overlay } from './document.ts';

/** `host:port` of the node that owns a name, as far as it is known. */
export type Locate = (storeName: string) => string | undefined;

/** That of the empty document: everything that was ever decided concerns it. */
const LOWEST_GENERATION = 1;

/**
 * What a document says, and the overlay of a drill that lives, in a form that costs next to nothing to ask: a table of
 * floors by bucket, and one number above which an entry was computed after everything that was ever flushed.
 *
 * An entry of a generation above the document's own is judged as one of the lowest generation. Either another process has
 * heard of a newer document: then whatever was decided about the entry costs one computation, within a poll. Or nobody gave
 * that generation out, and a purge, a flush or a suppression must hold for it too. It is asked at every lookup, so the same
 * entry counts again as soon as its document is heard.
 */
export function compileRules(document: ControlDocument, overlay: Overlay | undefined, locate: Locate): EntryRules {
  const floors = createFloors();
  const freshFloors = createFloors();
  const nodeFloors = createFloors();
  for (const range of document.ranges) {
    floors.raise(range, range.floor);
    freshFloors.raise(range, range.freshFloor);
  }
  const nodes = overlay?.nodes === undefined ? undefined : new Set(overlay.nodes);
  if (overlay !== undefined) {
    const kind = overlay.mode === 'refresh' ? freshFloors : floors;
    for (const range of overlay.ranges) {
      (nodes === undefined ? kind : nodeFloors).raise(range, range.floor ?? overlay.floor);
    }
  }
  const purges = new Map(document.purges.map(({ text, generation }) => [text, generation]));
  const purgedBelow = highest(document.purges.map(({ generation }) => generation));
  const holdsSuppressed = compileSuppressions(
    document.suppressed.map(({ id, generation }) => ({ fingerprint: fingerprint(id), generation })),
  );
  const suppressedBelow = highest(document.suppressed.map(({ generation }) => generation));
  const newest = document.generation;
  const wholeFrom = Math.max(floors.max(), freshFloors.max(), nodeFloors.max(), purgedBelow, suppressedBelow);

  const isOnNode = (name: RuledName): boolean => nodes?.has(locate(name.storeName) ?? '') === true;

  const judgeOlder = (entry: Entry, name: RuledName): EntryVerdict => {
    const generation = entry.generation > newest ? LOWEST_GENERATION : entry.generation;
    const { bucket, request } = name;
    if (generation < floors.at(bucket)) return 'flushed';
    if (generation < purgedBelow && request !== undefined && generation < (purges.get(request.text) ?? 0))
      return 'flushed';
    const isOnFlushedNode = generation < nodeFloors.at(bucket) && isOnNode(name);
    if (isOnFlushedNode && overlay?.mode !== 'refresh') return 'flushed';
    if (generation < suppressedBelow && holdsSuppressed(entry.fingerprints, generation)) return 'suppressed';
    return isOnFlushedNode || generation < freshFloors.at(bucket) ? 'outdated' : 'whole';
  };

  const hidden = new Set(document.suppressed.map(({ id }) => id));
  const hides = hidden.size === 0 ? undefined : (id: string): boolean => hidden.has(id);
  return {
    generation: () => newest,
    judge: (entry, name) =>
      entry.generation >= wholeFrom && entry.generation <= newest ? 'whole' : judgeOlder(entry, name),
    hides: () => hides,
  };
}

function highest(generations: readonly number[]): number {
  return generations.reduce((most, one) => Math.max(most, one), 0);
}

interface Floors {
  readonly raise: (range: BucketRange, floor: number) => void;
  readonly at: (bucket: number) => number;
  readonly max: () => number;
}

/** Takes its 40 KB only when something is raised. */
function createFloors(): Floors {
  let table = new Uint32Array(0);
  let max = 0;
  return {
    raise: ({ from, to }, floor) => {
      if (table.length === 0) table = new Uint32Array(BUCKETS);
      for (let bucket = from; bucket < to; bucket += 1) table[bucket] = Math.max(table[bucket] ?? 0, floor);
      max = Math.max(max, floor);
    },
    at: (bucket) => table[bucket] ?? 0,
    max: () => max,
  };
}
