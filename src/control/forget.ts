import { MAX_SKEW_MS } from '../cache/freshness.ts';
import type { ControlDocument } from './document.ts';

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
