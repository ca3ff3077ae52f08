import type { ControlValue } from './control-store.ts';
import { type ControlDocument, tagOf } from './document.ts';
import { parseDocument } from './parse-document.ts';
import { Damage, fieldsOf } from './parse-fields.ts';

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
