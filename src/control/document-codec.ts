import { BUCKETS } from '../cache/invalidation.ts';
import { countLimit } from './changes.ts';
import type { ControlValue } from './control-store.ts';
import {
  type BucketRange,
  type ControlDocument,
  FLUSH_MODES,
  type FlushRange,
  type Halt,
  type LongestLife,
  MAX_COHORTS,
  MAX_LIFE_MS,
  MAX_LINE,
  MAX_MERGED_SUPPRESSED,
  MAX_PURGES,
  MAX_RANGES,
  type Overlay,
  type OverlayRange,
  tagOf,
} from './document.ts';

/** Raised when older readers would misread a document. Theirs is kept apart by it: neither side writes over the other. */
const FORMAT = 1;
/** Well above what all bounds together allow with ordinary texts. */
export const MAX_BYTES = 8 << 20;

export type DecodedDocument = { readonly kind: 'document'; readonly document: ControlDocument } | DocumentFault;

export interface DocumentFault {
  readonly kind: 'fault';
  /** `version`: of another format, so neither side writes over the other. `unsigned`: not by a key configured here. */
  readonly why: 'damaged' | 'version' | 'unsigned';
  /** For people. */
  readonly detail: string;
}

export function encodeDocument(document: ControlDocument): ControlValue {
  return { tag: tagOf(document), value: Buffer.from(JSON.stringify({ format: FORMAT, ...document })) };
}

const damaged = (detail: string): DocumentFault => ({ kind: 'fault', why: 'damaged', detail });

/**
 * Believes nothing before it is checked. Never throws.
 * @param nowMs wall time: revision and generation are bounded by it
 */
export function decodeDocument({ tag, value }: ControlValue, nowMs: number): DecodedDocument {
  if (value.length > MAX_BYTES) return damaged(`${value.length} bytes are no control document`);
  try {
    const fields = fieldsOf(JSON.parse(value.toString('utf8')), 'document');
    const { format } = fields;
    if (format !== FORMAT) {
      if (!Number.isInteger(format)) return damaged('of no format: serpcache did not write it');
      const detail = `of format ${format}, not of ${FORMAT}: another version of serpcache wrote it`;
      return { kind: 'fault', why: 'version', detail };
    }
    const document = parseDocument(fields, nowMs);
    if (tagOf(document) !== tag) return damaged(`tagged ${tag.slice(0, 100)}, but ${tagOf(document)}`);
    return { kind: 'document', document };
  } catch (error) {
    if (error instanceof Damage) return damaged(error.message);
    if (error instanceof SyntaxError) return damaged('no JSON');
    throw error;
  }
}

/** Canonical text may be longer than what was typed: at most 256 characters, each of which may become eighteen. */
const MAX_TEXT = 4608;
const MAX_ID = 512;
const MAX_NAME = 256;
const MAX_REASON = 2000;
const MAX_NODES = 1024;
/** The most that `drills.lease` allows. */
const MAX_LEASE_MS = 60_000;
/** What a clock may be ahead of this one; a time beyond it would never be forgotten. */
const MAX_AHEAD_MS = 2 * 3_600_000;

/**
 * The document that parsed JSON holds, within every bound: the one check of what is read, merged or written. Fields
 * nobody knows are left out, and times are brought within 1970 and two hours from now.
 * @throws Damage
 */
export function parseDocument(value: unknown, nowMs: number): ControlDocument {
  const fields = fieldsOf(value, 'document');
  const limit = countLimit(nowMs);
  const generation = intOf(fields, 'generation', 1, limit);
  const revision = intOf(fields, 'revision', 1, limit);
  const atMsOf = (part: Fields): number => Math.min(wallOf(part), nowMs + MAX_AHEAD_MS);
  const upTo = (part: Fields, name: string): number => intOf(part, name, 1, generation);
  const ranges = listOf(fields, 'ranges', MAX_RANGES, (one): FlushRange => {
    const floor = upTo(one, 'floor');
    return { ...rangeOf(one), floor, freshFloor: intOf(one, 'freshFloor', floor, generation), atMs: atMsOf(one) };
  });
  const { overlay, halted, longestLife } = fields;
  if (overlay !== undefined && halted !== undefined) throw new Damage('a halted domain has no overlay');
  return {
    revision,
    stamp: stampOf(fields),
    generation,
    ranges: risingOf(ranges, 'ranges'),
    ...(fields['indexVersion'] !== undefined && { indexVersion: textOf(fields, 'indexVersion', 128) }),
    purges: listOf(fields, 'purges', MAX_PURGES, (one) => ({
      text: textOf(one, 'text', MAX_TEXT),
      generation: upTo(one, 'generation'),
      atMs: atMsOf(one),
    })),
    suppressed: listOf(fields, 'suppressed', MAX_MERGED_SUPPRESSED, (one) => ({
      id: textOf(one, 'id', MAX_ID),
      generation: upTo(one, 'generation'),
      atMs: atMsOf(one),
    })),
    ...(longestLife !== undefined && { longestLife: lifeOf(fieldsOf(longestLife, 'longestLife'), atMsOf) }),
    ...(halted !== undefined && { halted: haltOf(fieldsOf(halted, 'halted'), atMsOf) }),
    ...(overlay !== undefined && { overlay: overlayOf(fieldsOf(overlay, 'overlay'), generation) }),
    ...(fields['line'] !== undefined && { line: lineOf(fields, revision) }),
  };
}

function lifeOf(fields: Fields, atMsOf: (fields: Fields) => number): LongestLife {
  return { ms: intOf(fields, 'ms', 1, MAX_LIFE_MS), atMs: atMsOf(fields) };
}

function haltOf(fields: Fields, atMsOf: (fields: Fields) => number): Halt {
  return { reason: textOf(fields, 'reason', MAX_REASON), by: textOf(fields, 'by', MAX_NAME), atMs: atMsOf(fields) };
}

/** Tags of what a document descends from: each of a lower revision. */
function lineOf(fields: Fields, revision: number): readonly string[] {
  const line = textsOf(fields, 'line', MAX_LINE, MAX_NAME);
  const isBefore = (tag: string): boolean => /^[1-9]\d*-[\w-]{1,64}$/.test(tag) && Number.parseInt(tag, 10) < revision;
  if (!line.every(isBefore)) throw new Damage(`line holds what is no tag of a revision below ${revision}`);
  return line;
}

function overlayOf(fields: Fields, generation: number): Overlay {
  const mode = FLUSH_MODES.find((one) => one === fields['mode']);
  if (mode === undefined) throw new Damage(`overlay.mode is none of ${FLUSH_MODES.join(', ')}`);
  const floor = intOf(fields, 'floor', 1, generation);
  const ranges = listOf(fields, 'ranges', MAX_RANGES, (one): OverlayRange => {
    const own = one['floor'] === undefined ? {} : { floor: intOf(one, 'floor', floor, generation) };
    return { ...rangeOf(one), ...own };
  });
  const cohorts = fields['cohorts'];
  if (!Array.isArray(cohorts) || cohorts.length > MAX_COHORTS) {
    throw new Damage(`overlay.cohorts is no list of at most ${MAX_COHORTS}`);
  }
  return {
    drill: textOf(fields, 'drill', MAX_NAME),
    owner: textOf(fields, 'owner', MAX_NAME),
    leaseMs: intOf(fields, 'leaseMs', 1, MAX_LEASE_MS),
    mode,
    floor,
    ranges: risingOf(ranges, 'overlay.ranges'),
    ...(fields['nodes'] !== undefined && { nodes: textsOf(fields, 'nodes', MAX_NODES, MAX_NAME) }),
    blackout: boolOf(fields, 'blackout'),
    cohorts: cohorts.map((ranges: unknown) => listOf({ cohort: ranges }, 'cohort', MAX_RANGES, rangeOf)),
  };
}

function rangeOf(fields: Fields): { readonly from: number; readonly to: number } {
  const from = intOf(fields, 'from', 0, BUCKETS - 1);
  return { from, to: intOf(fields, 'to', from + 1, BUCKETS) };
}

function wallOf(fields: Fields): number {
  const { atMs } = fields;
  if (typeof atMs !== 'number' || !Number.isFinite(atMs)) throw new Damage('atMs is no time');
  return Math.max(0, atMs);
}

function stampOf(fields: Fields): string {
  const stamp = textOf(fields, 'stamp', 64);
  if (!/^[\w-]+$/.test(stamp)) throw new Damage('stamp is no single word');
  return stamp;
}

function textsOf(fields: Fields, name: string, max: number, maxLength: number): readonly string[] {
  const texts = fields[name];
  if (!Array.isArray(texts) || texts.length > max) throw new Damage(`${name} is no list of at most ${max}`);
  return texts.map((text: unknown) => textOf({ [name]: text }, name, maxLength));
}

/** What is wrong with a document, in words. Thrown while parsing, and caught by the codec alone. */
export class Damage extends Error {
  override readonly name = 'Damage';
}

export type Fields = Readonly<Record<string, unknown>>;

/** Each reads one field and gives it back checked. @throws Damage */
export function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Damage(`${name} is no object`);
  return { ...value };
}

export function intOf(fields: Fields, name: string, min: number, max: number): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new Damage(`${name} is no whole number from ${min} to ${max}`);
  }
  return value;
}

export function textOf(fields: Fields, name: string, maxLength: number): string {
  const value = fields[name];
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength) {
    throw new Damage(`${name} is no text of 1 to ${maxLength} characters`);
  }
  return value;
}

export function boolOf(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value !== 'boolean') throw new Damage(`${name} is neither true nor false`);
  return value;
}

export function listOf<Part>(fields: Fields, name: string, max: number, parse: (one: Fields) => Part): Part[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new Damage(`${name} is no list`);
  if (value.length > max) throw new Damage(`${name} holds ${value.length}, at most ${max} are allowed`);
  return value.map((one: unknown) => parse(fieldsOf(one, `one of ${name}`)));
}

export function risingOf<Range extends BucketRange>(ranges: readonly Range[], name: string): readonly Range[] {
  if (ranges.some(({ from }, index) => index > 0 && from < (ranges[index - 1]?.to ?? 0))) {
    throw new Damage(`${name} overlap or do not rise`);
  }
  return ranges;
}
