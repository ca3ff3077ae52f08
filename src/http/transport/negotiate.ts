import type { Coding } from '../../cache/entry.ts';

/** `stored`: the bytes pass through. `identity`: they are inflated first. `none`: the client accepts neither. */
export type Form = 'stored' | 'identity' | 'none';

/** Browsers and libraries send a few dozen different values; past that the memo is begun again. */
const MAX_REMEMBERED = 128;
const MAX_FIELD_LENGTH = 256;

/**
 * Chooses the form in which a stored body is sent, by `Accept-Encoding` (RFC 9110 §12.5.3).
 * Without the field any coding would be allowed; a client that does not name codings rarely has any, so it gets
 * identity. On equal weights the stored coding wins: it costs nothing.
 */
export function createNegotiator(): (acceptEncoding: string | undefined, stored: Coding) => Form {
  const remembered = new Map<string, ReadonlyMap<string, number>>();

  const weightsOf = (field: string): ReadonlyMap<string, number> => {
    const known = remembered.get(field);
    if (known !== undefined) return known;
    const weights = parseAcceptEncoding(field);
    if (field.length <= MAX_FIELD_LENGTH) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(field, weights);
    }
    return weights;
  };

  return (acceptEncoding, stored) => {
    if (acceptEncoding === undefined) return stored === 'identity' ? 'stored' : 'identity';
    const weights = weightsOf(acceptEncoding);
    const any = weights.get('*');
    // Identity needs no naming: only its own zero, or that of `*`, forbids it.
    const identity = weights.get('identity');
    const identityAllowed = (identity ?? any ?? 1) > 0;
    if (stored === 'identity') return identityAllowed ? 'stored' : 'none';
    const weight = weights.get(stored) ?? any ?? 0;
    if (weight > 0 && weight >= (identity ?? 0)) return 'stored';
    if (identityAllowed) return 'identity';
    return weight > 0 ? 'stored' : 'none';
  };
}

/** Codings of what the process compresses itself, beside stored pages; the smallest first. */
export type OwnCoding = 'br' | 'gzip' | 'identity';
const OWN_CODINGS: readonly OwnCoding[] = ['br', 'gzip', 'identity'];

/** The coding that the client prefers; of equal weights the first. Identity when it accepts none of them. */
export function ownCoding(acceptEncoding: string | undefined, codings: readonly OwnCoding[] = OWN_CODINGS): OwnCoding {
  const weights = parseAcceptEncoding(acceptEncoding ?? '');
  const weightOf = (coding: OwnCoding): number =>
    weights.get(coding) ?? (coding === 'identity' ? 0 : (weights.get('*') ?? 0));
  const best = Math.max(...codings.map(weightOf));
  return (best > 0 ? codings.find((coding) => weightOf(coding) === best) : undefined) ?? 'identity';
}

/** Coding → weight 0–1. An item that cannot be read counts as not given. */
function parseAcceptEncoding(field: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const item of field.split(',')) {
    const parsed = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i.exec(item);
    if (parsed?.[1] === undefined) continue;
    const name = parsed[1].toLowerCase();
    weights.set(name === 'x-gzip' ? 'gzip' : name, parsed[2] === undefined ? 1 : Number(parsed[2]));
  }
  return weights;
}

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
