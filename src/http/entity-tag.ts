/** Each coding's addition to the tag of the same content: of entries in `ETAG_SUFFIX`, of files in static-file.ts. */
const SUFFIXES = ['', '-gz', '-zst', '-br'];

/**
 * Whether `If-None-Match` names this content in any coding: the comparison is weak (RFC 9110 §13.1.2), and a client
 * that holds the content as zstd has nothing to gain from getting it again as gzip.
 */
export function matchesEntityTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  for (const [, opaque] of ifNoneMatch.matchAll(/(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g)) {
    if (opaque?.startsWith(etag) && SUFFIXES.includes(opaque.slice(etag.length))) return true;
  }
  return false;
}
