import { CODINGS, decompress, ETAG_SUFFIX } from '../../cache/codec.ts';
import type { Coding, Entry } from '../../cache/entry.ts';
import type { ReadHeaders } from '../lane/head.ts';
import { Refusal } from './problem.ts';
import { createWeakCache } from './weak-cache.ts';

/** `stored`: the stored bytes are sent. `identity`: they are inflated first. `none`: the client accepts neither. */
export type Form = 'stored' | 'identity' | 'none';

type Negotiate = (acceptEncoding: string | undefined, stored: Coding) => Form;

/** Number of values at which the memo is cleared: browsers and libraries send a few dozen different ones. */
const MAX_REMEMBERED = 128;
const MAX_FIELD_LENGTH = 256;

/**
 * Chooses the form in which a stored body is sent, by `Accept-Encoding` (RFC 9110 §12.5.3). Without the field any coding
 * would be allowed, but a client that names no coding rarely supports one, so it gets identity. On equal weights the
 * stored coding wins, because it costs nothing.
 */
export function createNegotiator(): Negotiate {
  const remembered = new Map<string, Readonly<Record<Coding, Form>>>();

  const formsFor = (field: string): Readonly<Record<Coding, Form>> => {
    const known = remembered.get(field);
    if (known !== undefined) return known;
    const weights = parseAcceptEncoding(field);
    const forms = Object.fromEntries(CODINGS.map((stored) => [stored, formOf(stored, weights)])) as Record<
      Coding,
      Form
    >;
    if (field.length <= MAX_FIELD_LENGTH) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(field, forms);
    }
    return forms;
  };

  return (acceptEncoding, stored) => {
    if (acceptEncoding === undefined) return stored === 'identity' ? 'stored' : 'identity';
    return formsFor(acceptEncoding)[stored];
  };
}

function formOf(stored: Coding, weights: ReadonlyMap<string, number>): Form {
  const any = weights.get('*');
  // Identity is allowed unless its own weight, or that of `*`, is zero.
  const identity = weights.get('identity');
  const identityAllowed = (identity ?? any ?? 1) > 0;
  if (stored === 'identity') return identityAllowed ? 'stored' : 'none';
  const weight = weights.get(stored) ?? any ?? 0;
  if (weight > 0 && weight >= (identity ?? 0)) return 'stored';
  if (identityAllowed) return 'identity';
  return weight > 0 ? 'stored' : 'none';
}

/** Codings of files and pages that the process compresses itself; the smallest result first. */
export type OwnCoding = 'br' | 'gzip' | 'identity';
const OWN_CODINGS: readonly OwnCoding[] = ['br', 'gzip', 'identity'];

/** The coding that the client prefers; on equal weights the first. Identity when it accepts none of them. */
export function ownCoding(acceptEncoding: string | undefined, codings: readonly OwnCoding[] = OWN_CODINGS): OwnCoding {
  const weights = parseAcceptEncoding(acceptEncoding ?? '');
  const weightOf = (coding: OwnCoding): number =>
    weights.get(coding) ?? (coding === 'identity' ? 0 : (weights.get('*') ?? 0));
  const best = Math.max(...codings.map(weightOf));
  return (best > 0 ? codings.find((coding) => weightOf(coding) === best) : undefined) ?? 'identity';
}

/** Coding → weight 0–1. An item that cannot be parsed is ignored. */
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

export interface IdentityBodies {
  /** The page before compression; without a promise when it is cached. Rejects when the body cannot be inflated. */
  readonly of: (entry: Entry) => Buffer | Promise<Buffer>;
}

/**
 * Inflates stored bodies for clients that accept none of the stored codings, and caches `maxBytes` of them by their
 * entries, so that an L1 hit does not inflate each time.
 */
export function createIdentityBodies(options: {
  readonly maxBytes: number;
  readonly maxPageBytes: number;
}): IdentityBodies {
  const bodies = createWeakCache<Entry, Buffer>(options.maxBytes);
  /** Inflations in progress: concurrent requests for one entry inflate it once. */
  const pending = new WeakMap<Entry, Promise<Buffer>>();

  const inflate = async (entry: Entry): Promise<Buffer> => {
    try {
      const body = await decompress(entry.body, entry.coding, options.maxPageBytes);
      bodies.set(entry, body, body.length);
      return body;
    } finally {
      pending.delete(entry);
    }
  };

  return {
    of: (entry) => {
      if (entry.coding === 'identity') return entry.body;
      const known = bodies.get(entry);
      if (known !== undefined) return known;
      let inflating = pending.get(entry);
      if (inflating === undefined) {
        inflating = inflate(entry);
        pending.set(entry, inflating);
      }
      return inflating;
    },
  };
}
