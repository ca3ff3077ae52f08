import { ETAG_SUFFIX } from '../cache/coding.ts';

const SUFFIXES = Object.values(ETAG_SUFFIX);

/**
 * Whether `If-None-Match` names this page in any of its codings: the comparison is weak (RFC 9110 §13.1.2), and a
 * client that holds the page as zstd has nothing to gain from getting it again as gzip.
 */
export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  for (const [, opaque] of ifNoneMatch.matchAll(/(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g)) {
    if (opaque?.startsWith(etag) && SUFFIXES.includes(opaque.slice(etag.length))) return true;
  }
  return false;
}
