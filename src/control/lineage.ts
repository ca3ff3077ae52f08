import { type ControlDocument, MAX_LINE, tagOf } from './document.ts';

/** How the stored document stands to the one this process knows. */
export type Lineage =
  | 'same'
  /** It descends from the known one. */
  | 'newer'
  /** The known one descends from it: the store was put back to an earlier state, by a failover or a backup. */
  | 'older'
  /** Each holds what the other does not know: the store was wiped, and somebody began anew. */
  | 'diverged';

/**
 * Told by the tags a document descends from. Where those no longer reach back far enough the higher revision is taken
 * for the newer one: a process that was away for more than `MAX_LINE` changes.
 */
export function lineageOf(known: ControlDocument, stored: ControlDocument): Lineage {
  if (tagOf(known) === tagOf(stored)) return 'same';
  if (descends(stored, known)) return stored.generation < known.generation ? 'diverged' : 'newer';
  return descends(known, stored) ? 'older' : 'diverged';
}

function descends(later: ControlDocument, earlier: ControlDocument): boolean {
  if (earlier.revision === 0) return true;
  const line = later.line ?? [];
  return line.includes(tagOf(earlier)) || (line.length === MAX_LINE && line.every((tag) => isAfter(tag, earlier)));
}

function isAfter(tag: string, { revision }: ControlDocument): boolean {
  return Number.parseInt(tag, 10) > revision;
}

/** The next of its line: what a change has made of `before`. */
export function descendant(next: ControlDocument, before: ControlDocument, stamp: string): ControlDocument {
  const line = before.revision === 0 ? [] : [tagOf(before), ...(before.line ?? [])];
  return { ...next, revision: before.revision + 1, stamp, line: line.slice(0, MAX_LINE) };
}

/** Of a document that was merged from both: their own tags first, then what each descends from, highest first. */
export function mergedLine(left: ControlDocument, right: ControlDocument): readonly string[] {
  const own = byRevision([tagOf(left), tagOf(right)]);
  const before = byRevision([...(left.line ?? []), ...(right.line ?? [])]);
  return [...new Set([...own, ...before])].slice(0, MAX_LINE);
}

function byRevision(tags: readonly string[]): readonly string[] {
  return [...tags].sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10) || (a < b ? -1 : 1));
}
