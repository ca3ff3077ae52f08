import { gzipSync } from 'node:zlib';
import { CODINGS, compress, decompress, ETAG_SUFFIX } from '../../cache/codec.ts';
import type { Coding, Entry } from '../../cache/entry.ts';
import type { ReadHeaders } from '../lane/head.ts';
import { Refusal } from './problem.ts';

/** Number of values at which the memo is cleared: browsers and libraries send a few dozen different ones. */
const MAX_REMEMBERED = 128;
const MAX_FIELD_LENGTH = 256;

/**
 * Chooses the coding in which a stored body is sent, by `Accept-Encoding` (RFC 9110 §12.5.3). Without the field any coding
 * would be allowed, but a client that names no coding rarely supports one, so it gets identity. On equal weights the
 * stored coding wins, because it costs nothing. Another coding is made for a client that takes neither it nor identity.
 */
export function createNegotiator() {
  const remembered = new Map<string, Readonly<Record<Coding, Coding>>>();

  const codingsFor = (field: string): Readonly<Record<Coding, Coding>> => {
    const known = remembered.get(field);
    if (known !== undefined) return known;
    const weights = weightsIn(field);
    const codings = Object.fromEntries(
      CODINGS.map((stored) => [stored, preferred(weights, [stored, 'identity'], CODINGS)]),
    ) as Record<Coding, Coding>;
    if (field.length <= MAX_FIELD_LENGTH) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(field, codings);
    }
    return codings;
  };

  return (acceptEncoding: string | undefined, stored: Coding): Coding =>
    acceptEncoding === undefined ? 'identity' : codingsFor(acceptEncoding)[stored];
}

/** Codings of files and pages that the process compresses itself; the smallest result first. */
export type OwnCoding = 'br' | 'gzip' | 'identity';
const OWN_CODINGS: readonly OwnCoding[] = ['br', 'gzip', 'identity'];

/** The coding of a file or page. One that is not worth compressing is compressed for a client that refuses identity. */
export function ownCoding(
  acceptEncoding: string | undefined,
  codings: readonly OwnCoding[] = OWN_CODINGS,
  isWorthIt = true,
): OwnCoding {
  return preferred(weightsIn(acceptEncoding ?? ''), isWorthIt ? codings : ['identity'], codings);
}

/**
 * The coding that the client prefers in the first list of which it accepts one; on equal weights the first. A client that
 * accepts none at all gets identity, as if it had not sent the field: a page that it may be able to read helps it more
 * than a refusal, and RFC 9110 §12.5.3 leaves the choice.
 */
function preferred<Offered extends OwnCoding | Coding>(
  weights: ReadonlyMap<string, number>,
  ...lists: readonly (readonly Offered[])[]
): Offered | 'identity' {
  // Identity that is not named is acceptable, and any coding that is named is preferred to it.
  const weightOf = (coding: Offered): number =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? 1e-4 : 0);
  for (const codings of lists) {
    const best = Math.max(...codings.map(weightOf));
    if (best > 0) return codings.find((coding) => weightOf(coding) === best) ?? 'identity';
  }
  return 'identity';
}

/** Accept-Encoding or Accept-Language → weights 0–1. An item that cannot be parsed is ignored. */
export function weightsIn(field: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const item of field.split(',')) {
    const parsed = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i.exec(item);
    if (parsed?.[1] === undefined) continue;
    const name = parsed[1].toLowerCase();
    weights.set(name === 'x-gzip' ? 'gzip' : name, parsed[2] === undefined ? 1 : Number(parsed[2]));
  }
  return weights;
}

/** The suffix that each coding adds to the tag of the same content. */
export const TAG_SUFFIX = { ...ETAG_SUFFIX, br: '-br' } as const satisfies Readonly<Record<Coding | OwnCoding, string>>;

type Conditions = Pick<ReadHeaders, 'if-match' | 'if-none-match'>;

/**
 * Evaluates the preconditions of a GET or HEAD whose answer would be a 200 (RFC 9110 §13.2.2). Each coding of a content has
 * a tag of its own, so a client that holds one coding and is sent another one gets the whole answer.
 * @param sent the tag of what would be sent, without quotes. It is a strong one.
 * @returns whether the answer is a 304.
 * @throws Refusal `precondition-failed`.
 */
export function notModified(conditions: Conditions, sent: string): boolean {
  const { 'if-match': match, 'if-none-match': noneMatch } = conditions;
  if (match !== undefined && !names(match, sent, 'strong')) {
    const detail = 'If-Match names another version of this content than the one that would be sent.';
    throw new Refusal({ code: 'precondition-failed', detail, parameter: 'If-Match' });
  }
  return noneMatch !== undefined && names(noneMatch, sent, 'weak');
}

const ENTITY_TAG = /[ \t,]*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?=,|$)/y;

/** Whether a list of entity tags has this one. What stands behind a malformed member is not read. */
function names(field: string, tag: string, comparison: 'strong' | 'weak'): boolean {
  if (field.trim() === '*') return true;
  ENTITY_TAG.lastIndex = 0;
  for (let found = ENTITY_TAG.exec(field); found !== null; found = ENTITY_TAG.exec(field)) {
    const [, weak, opaque] = found;
    if (opaque === tag && (comparison === 'weak' || weak === undefined)) return true;
  }
  return false;
}

/**
 * Up to this size gzip on the event loop (0.1 ms for 25 KB) takes less time than the way to the thread pool and back, and
 * does not wait for a thread.
 */
export const MAX_SYNC_BYTES = 64 * 1024;

interface Kept<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** A Map or a WeakMap. */
interface Generation<Key, Value> {
  readonly get: (key: Key) => Value | undefined;
  readonly set: (key: Key, value: Value) => unknown;
}

/**
 * A cache of two generations that limit its size: when the young one holds half of `maxBytes`, the old one is dropped and
 * the young one takes its place. An entry of the old generation that is read moves to the young one: what is used again
 * stays, and what is used once costs one slot.
 * @param createGeneration a Map; a WeakMap for objects that are held weakly, whose entry goes with its key
 */
export function createRecentCache<Key, Value>(maxBytes: number, createGeneration: () => Generation<Key, Kept<Value>>) {
  let young = createGeneration();
  let old = createGeneration();
  let youngBytes = 0;

  const set = (key: Key, value: Value, bytes: number): void => {
    if (youngBytes + bytes > maxBytes / 2) {
      old = young;
      young = createGeneration();
      youngBytes = 0;
    }
    young.set(key, { value, bytes });
    youngBytes += bytes;
  };

  return {
    get: (key: Key): Value | undefined => {
      const recent = young.get(key);
      if (recent !== undefined) return recent.value;
      const older = old.get(key);
      if (older === undefined) return undefined;
      set(key, older.value, older.bytes);
      return older.value;
    },
    set,
  };
}

export type PageBodies = ReturnType<typeof createPageBodies>;

/**
 * Makes the bodies of clients that do not get the stored coding, nearly all of them identity. Caches `maxBytes` of each
 * coding by their entries, so that an L1 hit does not inflate each time.
 */
export function createPageBodies(options: { readonly maxBytes: number; readonly maxPageBytes: number }) {
  const made = (coding: Coding) => {
    const bodies = createRecentCache<Entry, Buffer>(options.maxBytes, () => new WeakMap());
    /** Bodies in progress: concurrent requests for one entry make it once. */
    const pending = new WeakMap<Entry, Promise<Buffer>>();

    const keep = (entry: Entry, body: Buffer): Buffer => {
      bodies.set(entry, body, body.length);
      return body;
    };
    const make = async (entry: Entry): Promise<Buffer> => {
      try {
        return keep(entry, await compress(await decompress(entry.body, entry.coding, options.maxPageBytes), coding));
      } finally {
        pending.delete(entry);
      }
    };

    return (entry: Entry): Buffer | Promise<Buffer> => {
      const known = bodies.get(entry);
      if (known !== undefined) return known;
      if (coding === 'gzip' && entry.coding === 'identity' && entry.body.length <= MAX_SYNC_BYTES)
        return keep(entry, gzipSync(entry.body));
      let making = pending.get(entry);
      if (making === undefined) {
        making = make(entry);
        pending.set(entry, making);
      }
      return making;
    };
  };
  const bodyIn = { identity: made('identity'), gzip: made('gzip'), zstd: made('zstd') };
  return {
    /** The page in a coding; without a promise when it is stored so or cached. Rejects when the body cannot be inflated. */
    of: (entry: Entry, coding: Coding = 'identity'): Buffer | Promise<Buffer> =>
      entry.coding === coding ? entry.body : bodyIn[coding](entry),
  };
}
