import { type AttributeValue, isDocumentId, MAX_ID_BYTES, MAX_LIST_VALUES } from '../search/domain.ts';

/** One line of the feed: a document of the engine's index was added, changed or deleted. Only `id` is required. */
export interface Change {
  readonly id: string;
  readonly op: 'upsert' | 'delete';
  /** Title, description and searched attributes as they are now, or were before a deletion. Without it the words are unknown. */
  readonly text?: string;
  /** Attributes as they are now. */
  readonly attributes?: ChangedAttributes;
  /** The members that were different before. Without `was.text` the text is the same as before; without `was` everything may have changed. */
  readonly was?: { readonly text?: string; readonly attributes?: ChangedAttributes };
}

export type ChangedAttributes = Readonly<Record<string, AttributeValue>>;

/** A longer text is cut here, in UTF-16 units: it then enters fewer pages than it should. */
export const MAX_CHANGE_TEXT = 16 * 1024;
const MAX_ATTRIBUTES = 64;

/**
 * A line of NDJSON, or the value of one.
 * @returns the change; `cut`: its text was longer than MAX_CHANGE_TEXT
 * @throws Error that names the member and what is allowed
 */
export function parseChange(line: unknown): { readonly change: Change; readonly cut: boolean } {
  const given = mapping('a change', typeof line === 'string' ? parseJson(line) : line);
  const { id, op = 'upsert', text, attributes, was, ...others } = given;
  refuseOthers('a change', others, 'id, op, text, attributes, was');
  if (op !== 'upsert' && op !== 'delete') throw new Error('op must be upsert or delete');
  const before = was === undefined || was === null ? undefined : mapping('was', was);
  const { text: oldText, attributes: oldAttributes, ...strange } = before ?? {};
  refuseOthers('was', strange, 'text, attributes');
  const texts = [textOf('text', text), textOf('was.text', oldText)];
  const [now, then] = texts.map((value) => value?.slice(0, MAX_CHANGE_TEXT));
  return {
    change: {
      id: idOf(id),
      op,
      text: now,
      attributes: attributesOf('attributes', attributes),
      was: before && { text: then, attributes: attributesOf('was.attributes', oldAttributes) },
    },
    cut: texts.some((value) => (value?.length ?? 0) > MAX_CHANGE_TEXT),
  };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Error(`it is not JSON: ${error instanceof Error ? error.message : error}`);
  }
}

function mapping(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`${name} must be an object`);
}

function refuseOthers(name: string, others: object, allowed: string): void {
  const [stray] = Object.keys(others);
  if (stray !== undefined)
    throw new Error(`${name} has an unknown member ${JSON.stringify(stray)}; known are ${allowed}`);
}

/** Tools that count documents write numbers. */
function idOf(value: unknown): string {
  const id = Number.isSafeInteger(value) ? String(value) : value;
  if (typeof id === 'string' && isDocumentId(id)) return id;
  throw new Error(`id must be a text of 1 to ${MAX_ID_BYTES} bytes, without NUL or half a character`);
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new Error(`${name} must be a text`);
}

/** An attribute that is null or an empty list has no value. */
function attributesOf(name: string, value: unknown): ChangedAttributes | undefined {
  if (value === undefined || value === null) return undefined;
  const given = Object.entries(mapping(name, value));
  if (given.length > MAX_ATTRIBUTES) throw new Error(`${name} must have at most ${MAX_ATTRIBUTES} members`);
  return Object.fromEntries(given.map(([attribute, one]) => [attribute, valuesOf(`${name}.${attribute}`, one)]));
}

function valuesOf(name: string, value: unknown): readonly (string | number)[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : value === null ? [] : [value];
  if (values.length > MAX_LIST_VALUES) throw new Error(`${name} must have at most ${MAX_LIST_VALUES} values`);
  return values.map((one) => {
    if (typeof one === 'string' || (typeof one === 'number' && Number.isFinite(one))) return one;
    throw new Error(`${name} must be a text, a number, or a list of them`);
  });
}
