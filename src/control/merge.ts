import {
  type ControlDocument,
  type Halt,
  type LongestLife,
  MAX_GENERATION,
  MAX_PURGES,
  type Overlay,
  tagOf,
} from './document.ts';
import { mergedLine } from './lineage.ts';
import { mergeFloors, raiseAll } from './merge-floors.ts';

/**
 * One document of two lines that do not know of each other: the control store was wiped, and somebody changed something
 * before what the others know was written back. Errs on the side of computing anew: no floor falls, nothing purged,
 * suppressed or halted comes back (a lift that only one of them knows is lost). More purges than there is room for become a
 * floor below which everything is flushed. More suppressions make a document that no process accepts: none is dropped.
 *
 * Both lines count generations by themselves, so an entry of the one may carry a number that a purge of the other has
 * taken too. What only one line knows gets a generation above all, unless its own already is.
 *
 * A drill goes on only when both lines know it: one that either has ended, or never heard of, is not revived.
 * Symmetric, but for the stamp: whoever merges gives its own. Revision and line are those of a descendant of both.
 */
export function merge(left: ControlDocument, right: ControlDocument, stamp: string): ControlDocument {
  if (sameContent(left, right)) return left;
  const above = Math.min(MAX_GENERATION, Math.max(left.generation, right.generation) + 1);
  const allPurges = unite(
    left,
    right,
    above,
    (one) => one.purges,
    ({ text }) => text,
  );
  const purges = allPurges.slice(-MAX_PURGES);
  const ranges = raiseAll(mergeFloors(left, right, above), allPurges.slice(0, -MAX_PURGES));
  const suppressed = unite(
    left,
    right,
    above,
    (one) => one.suppressed,
    ({ id }) => id,
  );
  const halted = laterHalt(left.halted, right.halted);
  const overlay = halted === undefined ? sharedOverlay(left, right) : undefined;
  const { indexVersion } = leading(left, right);
  const longestLife = longerLife(left.longestLife, right.longestLife);
  const wasTaken = [
    ...ranges.map(({ freshFloor }) => freshFloor),
    ...[...purges, ...suppressed].map(generationOf),
  ].includes(above);
  return {
    revision: Math.max(left.revision, right.revision) + 1,
    stamp,
    generation: wasTaken ? above : Math.max(left.generation, right.generation),
    ranges,
    ...(indexVersion !== undefined && { indexVersion }),
    purges,
    suppressed,
    ...(longestLife !== undefined && { longestLife }),
    ...(halted !== undefined && { halted }),
    ...(overlay !== undefined && { overlay }),
    line: mergedLine(left, right),
  };
}

interface Named {
  readonly generation: number;
  readonly atMs: number;
}

const generationOf = ({ generation }: Named): number => generation;

/** The newest last. */
function unite<Item extends Named>(
  left: ControlDocument,
  right: ControlDocument,
  above: number,
  listOf: (document: ControlDocument) => readonly Item[],
  nameOf: (item: Item) => string,
): readonly Item[] {
  const united = new Map<string, Item>();
  const add = (own: ControlDocument, other: ControlDocument): void => {
    const others = new Map(listOf(other).map((item) => [nameOf(item), item]));
    for (const item of listOf(own)) {
      const same = others.get(nameOf(item));
      const isShared = same?.generation === item.generation;
      const generation = isShared || item.generation > other.generation ? item.generation : above;
      const before = united.get(nameOf(item));
      if (before === undefined || isNewer({ ...item, generation }, before)) {
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

function isNewer(left: Named, right: Named): boolean {
  return left.generation > right.generation;
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

function sharedOverlay(left: ControlDocument, right: ControlDocument): Overlay | undefined {
  return left.overlay?.drill === right.overlay?.drill ? leading(left, right).overlay : undefined;
}

/** Where only one of two can be right: that of the line that went further. */
function leading(left: ControlDocument, right: ControlDocument): ControlDocument {
  if (left.revision !== right.revision) return left.revision > right.revision ? left : right;
  return tagOf(left) > tagOf(right) ? left : right;
}

function sameContent(left: ControlDocument, right: ControlDocument): boolean {
  return tagOf(left) === tagOf(right);
}
