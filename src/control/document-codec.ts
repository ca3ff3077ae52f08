import type { ControlValue } from './control-store.ts';
import type { ControlDocument } from './document.ts';
import { parseDocument } from './parse-document.ts';
import { Damage, fieldsOf } from './parse-fields.ts';

/** Raised when older readers would misread a document. Theirs is kept apart by it: neither side writes over the other. */
const FORMAT = 1;
/** Well above what all bounds together allow with ordinary texts. */
const MAX_BYTES = 8 << 20;

export type DecodedDocument =
  | { readonly kind: 'document'; readonly document: ControlDocument }
  /** Damaged, foreign, or of another version; `detail` for people. */
  | { readonly kind: 'fault'; readonly detail: string };

export function tagOf({ revision, stamp }: Pick<ControlDocument, 'revision' | 'stamp'>): string {
  return `${revision}-${stamp}`;
}

export function encodeDocument(document: ControlDocument): ControlValue {
  return { tag: tagOf(document), value: Buffer.from(JSON.stringify({ format: FORMAT, ...document })) };
}

/** Believes nothing before it is checked. Never throws. */
export function decodeDocument({ tag, value }: ControlValue): DecodedDocument {
  if (value.length > MAX_BYTES) return { kind: 'fault', detail: `${value.length} bytes are no control document` };
  try {
    const fields = fieldsOf(JSON.parse(value.toString('utf8')), 'document');
    const { format } = fields;
    if (format !== FORMAT) {
      const said = typeof format === 'number' ? `format ${format}` : 'no format';
      return { kind: 'fault', detail: `of ${said}, not of ${FORMAT}: another version of serpcache wrote it, or none` };
    }
    const document = parseDocument(fields);
    if (tagOf(document) !== tag)
      return { kind: 'fault', detail: `tagged ${tag.slice(0, 100)}, but ${tagOf(document)}` };
    return { kind: 'document', document };
  } catch (error) {
    if (error instanceof Damage) return { kind: 'fault', detail: error.message };
    if (error instanceof SyntaxError) return { kind: 'fault', detail: 'no JSON' };
    throw error;
  }
}
