import { BUCKETS } from '../cache/invalidation.ts';
import type { ControlValue } from './control-store.ts';
import {
  type BucketRange,
  type ControlDocument,
  FLUSH_MODES,
  type FlushRange,
  MAX_COHORTS,
  MAX_GENERATION,
  MAX_LIFE_MS,
  MAX_LINE,
  MAX_MERGED_SUPPRESSED,
  MAX_PURGES,
  MAX_RANGES,
  MAX_SHADOW_MS,
  MAX_SHADOW_READS,
  type Overlay,
  type OverlayRange,
  PLACEMENT_PHASES,
  type Placement,
  type Shadow,
  type StoreRef,
  secondsSince2020,
  tagOf,
} from './document.ts';

/** Raised when older versions would misread a document. Versions of different formats do not write over each other. */
const FORMAT = 1;
/**
 * The format of a document with a placement. A version without placements would drop it at its next change, and the whole
 * fleet would return to the store before the cut-over; it leaves a document of another format alone.
 */
const PLACEMENT_FORMAT = 2;
/** Well above the size that the other bounds allow with ordinary texts. */
const MAX_BYTES = 8 << 20;

export type DecodedDocument = { readonly kind: 'document'; readonly document: ControlDocument } | DocumentFault;

export interface DocumentFault {
  readonly kind: 'fault';
  /** `version`: another format, which is not written over. `unsigned`: not signed with a key configured here. */
  readonly why: 'damaged' | 'version' | 'unsigned';
  /** For operators. */
  readonly detail: string;
}

/** The document as the control store keeps it: its tag, and JSON with the number of the format. */
export function encodeDocument(document: ControlDocument): ControlValue {
  const format = document.placement === undefined ? FORMAT : PLACEMENT_FORMAT;
  return { tag: tagOf(document), value: Buffer.from(JSON.stringify({ format, ...document })) };
}

const damaged = (detail: string): DocumentFault => ({ kind: 'fault', why: 'damaged', detail });

/**
 * Checks everything that it reads. Never throws.
 * @param nowMs wall time, which bounds revision and generation
 */
export function decodeDocument({ tag, value }: ControlValue, nowMs: number): DecodedDocument {
  if (value.length > MAX_BYTES) return damaged(`${value.length} bytes are no control document`);
  try {
    const fields = fieldsOf(JSON.parse(value.toString('utf8')), 'document');
    const { format } = fields;
    if (format !== FORMAT && format !== PLACEMENT_FORMAT) {
      if (!Number.isInteger(format)) return damaged('of no format: serpcache did not write it');
      const known = `${FORMAT} or ${PLACEMENT_FORMAT}`;
      const detail = `of format ${format}, not of ${known}: another version of serpcache wrote it`;
      return { kind: 'fault', why: 'version', detail };
    }
    if (format === FORMAT && fields['placement'] !== undefined) {
      return damaged(`of format ${FORMAT}, which has no placement`);
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

/** An earlier wall time is wrong: this version did not exist then. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
/** Revisions and generations that are allowed beyond one a second since 2020: 8.5 years of changes or of clock error. */
const MAX_AHEAD = 2 ** 28;
/**
 * Maximum step that is plausible while one process does not read the document: a burst of changes, plus a number per
 * second.
 */
const MAX_STEP = 2 ** 20;
const MAX_STEP_PER_SECOND = 100;

/**
 * The highest revision and generation that this clock allows. It rises with the clock, so a planted document at the limit
 * still allows one change a second and never blocks a domain for good.
 */
export function countLimit(nowMs: number): number {
  return Math.min(MAX_GENERATION, secondsSince2020(Math.max(nowMs, EARLIEST_MS)) + MAX_AHEAD);
}

interface StepContext {
  /** The document known here. At revision 0 only `countLimit` applies. */
  readonly known: ControlDocument;
  readonly nowMs: number;
  /** Time since the store last answered this process with a valid document or with none. */
  readonly silentMs: number;
}

/**
 * Why a stored document is further ahead of the known one than changes can explain; undefined when it is plausible. A
 * document that names the known one as an ancestor is always plausible: another process may have merged a document that
 * this one refuses, and the two would write over each other for ever.
 */
export function stepFault(stored: ControlDocument, { known, nowMs, silentMs }: StepContext): string | undefined {
  if (known.revision === 0 || stored.line?.includes(tagOf(known)) === true) return undefined;
  const most = MAX_STEP + Math.ceil((silentMs / 1000) * MAX_STEP_PER_SECOND);
  if (stored.revision > known.revision + most) {
    return `revision ${stored.revision} is more than ${most} above ${known.revision}, which is known here`;
  }
  // A history that began again counts from the seconds since 2020, even if the known one is below that.
  const from = Math.max(known.generation, secondsSince2020(nowMs));
  if (stored.generation <= from + most) return undefined;
  return `generation ${stored.generation} is more than ${most} above ${known.generation}, which is known here`;
}

/** Maximum length of a canonical text: at most 256 typed characters, each of which may become eighteen. */
const MAX_TEXT = 4608;
const MAX_ID = 512;
const MAX_NAME = 256;
const MAX_REASON = 2000;
const MAX_NODES = 1024;
const MAX_STORE_NAME = 64;
const FINGERPRINT = /^[A-Za-z0-9_-]{16}$/;
/** The maximum of the setting `drills.lease`. */
const MAX_LEASE_MS = 60_000;
/** The largest lead of another clock. An item with a later time would never be pruned. */
const MAX_CLOCK_LEAD_MS = 2 * 3_600_000;

/**
 * The document in parsed JSON, checked against every bound: the only check of documents that are read, merged or written.
 * Unknown fields are left out, and times are clamped between 1970 and two hours from now.
 * @throws Damage
 */
function parseDocument(fields: Fields, nowMs: number): ControlDocument {
  const limit = countLimit(nowMs);
  const generation = intOf(fields, 'generation', 1, limit);
  const revision = intOf(fields, 'revision', 1, limit);
  const atMsOf = (part: Fields): number => Math.min(wallOf(part), nowMs + MAX_CLOCK_LEAD_MS);
  const upTo = (part: Fields, name: string): number => intOf(part, name, 1, generation);
  const ranges = listOf(fields, 'ranges', MAX_RANGES, (one): FlushRange => {
    const floor = upTo(one, 'floor');
    return { ...rangeOf(one), floor, freshFloor: intOf(one, 'freshFloor', floor, generation), atMs: atMsOf(one) };
  });
  const stamp = textOf(fields, 'stamp', 64);
  if (!/^[\w-]+$/.test(stamp)) throw new Damage('stamp is no single word');
  const document: ControlDocument = {
    revision,
    stamp,
    generation,
    ranges: risingOf(ranges, 'ranges'),
    indexVersion: fields['indexVersion'] === undefined ? undefined : textOf(fields, 'indexVersion', 128),
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
    longestLife: partOf(fields, 'longestLife', (life) => ({
      ms: intOf(life, 'ms', 1, MAX_LIFE_MS),
      atMs: atMsOf(life),
    })),
    halted: partOf(fields, 'halted', (halt) => ({
      reason: textOf(halt, 'reason', MAX_REASON),
      by: textOf(halt, 'by', MAX_NAME),
      atMs: atMsOf(halt),
    })),
    overlay: partOf(fields, 'overlay', (overlay) => overlayOf(overlay, generation)),
    shadow: partOf(fields, 'shadow', (shadow) => shadowOf(shadow, atMsOf)),
    placement: partOf(fields, 'placement', (placement) => placementOf(placement, atMsOf)),
    line: fields['line'] === undefined ? undefined : ancestorsOf(fields, revision),
  };
  checkTogether(document);
  return document;
}

/** No change makes a document that holds two members which exclude each other. */
function checkTogether({ halted, overlay, shadow, placement }: ControlDocument): void {
  const phase = placement?.phase;
  if (halted !== undefined && (overlay !== undefined || shadow !== undefined || phase === 'prepared')) {
    throw new Damage('a halted domain has no overlay, no shadow and no prepared cut-over');
  }
  if (overlay !== undefined && (phase === 'prepared' || phase === 'committed')) {
    throw new Damage('a domain has either an overlay or a cut-over');
  }
  if (shadow !== undefined && phase === 'committed') throw new Damage('a committed cut-over has no shadow');
}

/** Tags of the ancestors, each of a lower revision. */
function ancestorsOf(fields: Fields, revision: number): readonly string[] {
  const line = textsOf(fields, 'line', MAX_LINE, MAX_NAME);
  const isBefore = (tag: string): boolean => /^[1-9]\d*-[\w-]{1,64}$/.test(tag) && Number.parseInt(tag, 10) < revision;
  if (!line.every(isBefore)) throw new Damage(`line holds what is no tag of a revision below ${revision}`);
  return line;
}

function overlayOf(fields: Fields, generation: number): Overlay {
  const mode = FLUSH_MODES.find((one) => one === fields['mode']);
  if (mode === undefined) throw new Damage(`overlay.mode is none of ${FLUSH_MODES.join(', ')}`);
  const floor = intOf(fields, 'floor', 1, generation);
  const ranges = listOf(
    fields,
    'ranges',
    MAX_RANGES,
    (one): OverlayRange => ({
      ...rangeOf(one),
      floor: one['floor'] === undefined ? undefined : intOf(one, 'floor', floor, generation),
    }),
  );
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
    nodes: fields['nodes'] === undefined ? undefined : textsOf(fields, 'nodes', MAX_NODES, MAX_NAME),
    blackout: boolOf(fields, 'blackout'),
    cohorts: cohorts.map((ranges: unknown) => listOf({ cohort: ranges }, 'cohort', MAX_RANGES, rangeOf)),
  };
}

function shadowOf(fields: Fields, atMsOf: (fields: Fields) => number): Shadow {
  const { fraction } = fields;
  if (typeof fraction !== 'number' || !(fraction > 0 && fraction <= 1)) {
    throw new Damage('shadow.fraction is no number above 0 and at most 1');
  }
  const atMs = atMsOf(fields);
  return {
    id: textOf(fields, 'id', MAX_NAME),
    candidate: storeRefOf(fields, 'candidate'),
    fraction,
    reads: intOf(fields, 'reads', 1, MAX_SHADOW_READS),
    by: textOf(fields, 'by', MAX_NAME),
    atMs,
    untilMs: Math.min(Math.max(atMs, wallOf(fields, 'untilMs')), atMs + MAX_SHADOW_MS),
  };
}

function placementOf(fields: Fields, atMsOf: (fields: Fields) => number): Placement {
  const phase = PLACEMENT_PHASES.find((one) => one === fields['phase']);
  if (phase === undefined) throw new Damage(`placement.phase is none of ${PLACEMENT_PHASES.join(', ')}`);
  const isSettled = phase === 'settled';
  if ((fields['other'] === undefined) !== isSettled) throw new Damage(`placement.other is wrong for ${phase}`);
  const active = storeRefOf(fields, 'active');
  const other = isSettled ? undefined : storeRefOf(fields, 'other');
  if (other?.fingerprint === active.fingerprint) throw new Damage('placement.other is the active store');
  const onlyWith = (name: string, wanted: Placement['phase']): true | undefined => {
    if (fields[name] === undefined) return undefined;
    if (fields[name] !== true || phase !== wanted) throw new Damage(`placement.${name} is wrong for ${phase}`);
    return true;
  };
  return {
    id: textOf(fields, 'id', MAX_NAME),
    phase,
    active,
    other,
    settledBefore: onlyWith('settledBefore', 'prepared'),
    reversed: onlyWith('reversed', 'committed'),
    by: textOf(fields, 'by', MAX_NAME),
    atMs: atMsOf(fields),
  };
}

function storeRefOf(fields: Fields, name: string): StoreRef {
  const store = fieldsOf(fields[name], name);
  const fingerprint = textOf(store, 'fingerprint', 16);
  if (!FINGERPRINT.test(fingerprint)) throw new Damage(`${name}.fingerprint is not 16 characters of base64url`);
  return { name: textOf(store, 'name', MAX_STORE_NAME), fingerprint };
}

function rangeOf(fields: Fields): { readonly from: number; readonly to: number } {
  const from = intOf(fields, 'from', 0, BUCKETS - 1);
  return { from, to: intOf(fields, 'to', from + 1, BUCKETS) };
}

function wallOf(fields: Fields, name: 'atMs' | 'untilMs' = 'atMs'): number {
  const wallMs = fields[name];
  if (typeof wallMs !== 'number' || !Number.isFinite(wallMs)) throw new Damage(`${name} is no time`);
  return Math.max(0, wallMs);
}

function textsOf(fields: Fields, name: string, max: number, maxLength: number): readonly string[] {
  const texts = fields[name];
  if (!Array.isArray(texts) || texts.length > max) throw new Damage(`${name} is no list of at most ${max}`);
  return texts.map((text: unknown) => textOf({ [name]: text }, name, maxLength));
}

/** The fault of a document, for operators. Thrown while parsing and caught in this file. */
class Damage extends Error {
  override readonly name = 'Damage';
}

type Fields = Readonly<Record<string, unknown>>;

/** The functions below read one field and check it. @throws Damage */
function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Damage(`${name} is no object`);
  return { ...value };
}

function partOf<Part>(fields: Fields, name: string, parse: (part: Fields) => Part): Part | undefined {
  return fields[name] === undefined ? undefined : parse(fieldsOf(fields[name], name));
}

function intOf(fields: Fields, name: string, min: number, max: number): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new Damage(`${name} is no whole number from ${min} to ${max}`);
  }
  return value;
}

function textOf(fields: Fields, name: string, maxLength: number): string {
  const value = fields[name];
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength) {
    throw new Damage(`${name} is no text of 1 to ${maxLength} characters`);
  }
  return value;
}

function boolOf(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value !== 'boolean') throw new Damage(`${name} is neither true nor false`);
  return value;
}

function listOf<Part>(fields: Fields, name: string, max: number, parse: (one: Fields) => Part): Part[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new Damage(`${name} is no list`);
  if (value.length > max) throw new Damage(`${name} holds ${value.length}, at most ${max} are allowed`);
  return value.map((one: unknown) => parse(fieldsOf(one, `one of ${name}`)));
}

function risingOf<Range extends BucketRange>(ranges: readonly Range[], name: string): readonly Range[] {
  if (ranges.some(({ from }, index) => index > 0 && from < (ranges[index - 1]?.to ?? 0))) {
    throw new Damage(`${name} overlap or do not rise`);
  }
  return ranges;
}
