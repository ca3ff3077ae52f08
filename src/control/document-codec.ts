import { Compile } from 'typebox/compile';
import { nodeOf, type SchemaNode } from '../schema/node.ts';
import { isMapping } from '../schema/read.ts';
import type { ControlValue } from './control-store.ts';
import {
  type BucketRange,
  CONTROL_DOCUMENT,
  type ControlDocument,
  MAX_GENERATION,
  MAX_SHADOW_MS,
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
 * Checks everything that it reads: the only check of documents that are read, merged or written. Never throws. Unknown
 * members are left out, and times are clamped between 1970 and two hours from now.
 * @param nowMs wall time, which bounds revision and generation
 */
export function decodeDocument({ tag, value }: ControlValue, nowMs: number): DecodedDocument {
  if (value.length > MAX_BYTES) return damaged(`${value.length} bytes are no control document`);
  let tree: unknown;
  try {
    tree = JSON.parse(value.toString('utf8'));
  } catch {
    return damaged('no JSON');
  }
  if (!isMapping(tree)) return damaged('document is no object');
  const { format, ...fields } = tree;
  if (format !== FORMAT && format !== PLACEMENT_FORMAT) {
    if (!Number.isInteger(format)) return damaged('of no format: serpcache did not write it');
    const known = `${FORMAT} or ${PLACEMENT_FORMAT}`;
    const detail = `of format ${format}, not of ${known}: another version of serpcache wrote it`;
    return { kind: 'fault', why: 'version', detail };
  }
  if (format === FORMAT && fields['placement'] !== undefined) {
    return damaged(`of format ${FORMAT}, which has no placement`);
  }
  const read = knownPart(nodeOf(CONTROL_DOCUMENT), fields, nowMs + MAX_CLOCK_LEAD_MS);
  if (!isDocument(read)) {
    const [first] = shape.Errors(read);
    return damaged(`${first?.instancePath.slice(1) || 'document'} ${first?.message}`);
  }
  const wrong = contradictionIn(read, countLimit(nowMs));
  if (wrong !== undefined) return damaged(wrong);
  if (tagOf(read) !== tag) return damaged(`tagged ${tag.slice(0, 100)}, but ${tagOf(read)}`);
  return { kind: 'document', document: withBoundedShadow(read) };
}

const shape = Compile(CONTROL_DOCUMENT);
const isDocument = (value: unknown): value is ControlDocument => shape.Check(value);

/** The members that the schema has, with their times clamped. `Clean` of TypeBox takes four times as long as all else. */
function knownPart({ properties, items }: SchemaNode, value: unknown, latestMs: number): unknown {
  if (items !== undefined && Array.isArray(value)) return value.map((item) => knownPart(items, item, latestMs));
  if (properties === undefined || !isMapping(value)) return value;
  const part: Record<string, unknown> = {};
  for (const name in properties) {
    const given = value[name];
    if (name === 'atMs' && Number.isFinite(given)) part[name] = Math.min(Math.max(0, Number(given)), latestMs);
    else if (given !== undefined) part[name] = knownPart(properties[name] ?? {}, given, latestMs);
  }
  return part;
}

/** The first bound of a document that depends on another member and is broken, in words. */
function contradictionIn(document: ControlDocument, limit: number): string | undefined {
  const { revision, generation, ranges, purges, suppressed, halted, overlay, shadow, placement, line = [] } = document;
  const { phase, active, other, settledBefore, reversed } = placement ?? {};
  const { floor: lowest = 1, ranges: drilled = [], cohorts = [] } = overlay ?? {};
  const isFloor = (floor: number): boolean => floor >= lowest && floor <= generation;
  const wrong: readonly (readonly [isBroken: boolean, words: string])[] = [
    [revision > limit, `revision is above ${limit}`],
    [generation > limit, `generation is above ${limit}`],
    [[...purges, ...suppressed].some((one) => one.generation > generation), `a generation is above ${generation}`],
    [
      ranges.some(({ floor, freshFloor }) => freshFloor < floor || freshFloor > generation),
      `a freshFloor is below its floor or above ${generation}`,
    ],
    [
      !isFloor(lowest) || drilled.some(({ floor }) => floor !== undefined && !isFloor(floor)),
      `a floor of the overlay is not from ${lowest} to ${generation}`,
    ],
    [[ranges, drilled, ...cohorts].flat().some(({ from, to }) => to <= from), 'to is not above from in a range'],
    [![ranges, drilled].every(isRising), 'ranges overlap or do not rise'],
    [
      line.some((tag) => Number.parseInt(tag, 10) >= revision),
      `line holds what is no tag of a revision below ${revision}`,
    ],
    [(phase === undefined || phase === 'settled') !== (other === undefined), `placement.other is wrong for ${phase}`],
    [other !== undefined && other.fingerprint === active?.fingerprint, 'placement.other is the active store'],
    [settledBefore === true && phase !== 'prepared', `placement.settledBefore is wrong for ${phase}`],
    [reversed === true && phase !== 'committed', `placement.reversed is wrong for ${phase}`],
    // No change makes a document that holds two members which exclude each other.
    [
      halted !== undefined && (overlay !== undefined || shadow !== undefined || phase === 'prepared'),
      'a halted domain has no overlay, no shadow and no prepared cut-over',
    ],
    [
      overlay !== undefined && (phase === 'prepared' || phase === 'committed'),
      'a domain has either an overlay or a cut-over',
    ],
    [shadow !== undefined && phase === 'committed', 'a committed cut-over has no shadow'],
  ];
  return wrong.find(([isBroken]) => isBroken)?.[1];
}

function isRising(ranges: readonly BucketRange[]): boolean {
  return ranges.every(({ from }, index) => from >= (ranges[index - 1]?.to ?? 0));
}

/** A shadow ends 30 days after its start at the latest, and not before its start. */
function withBoundedShadow(document: ControlDocument): ControlDocument {
  const { shadow } = document;
  if (shadow === undefined) return document;
  const { atMs, untilMs } = shadow;
  return { ...document, shadow: { ...shadow, untilMs: Math.min(Math.max(atMs, untilMs), atMs + MAX_SHADOW_MS) } };
}

/** The largest lead of another clock. An item with a later time would never be pruned. */
const MAX_CLOCK_LEAD_MS = 2 * 3_600_000;

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
