import type { DatabaseSync } from 'node:sqlite';
import { canonicalDocumentText, dateText, MS_PER_DAY } from '../../search/canonical.ts';
import type { AttributeValue, Document } from '../../search/domain.ts';
import type { FactColumn } from './schema.ts';

type Fact = number | string | null;

/** A column of `facts` that is written, with the codes of its texts where it has texts. */
export interface WrittenColumn extends FactColumn {
  readonly labels: ReturnType<typeof createLabels> | undefined;
}

/**
 * A document's attributes as the table `facts` holds them, in the order of its columns; null for a missing one.
 * @throws an error that names an attribute that is not declared or has another type.
 */
export function factsOf(document: Document, columns: readonly WrittenColumn[]): readonly Fact[] {
  const { attributes } = document;
  const declared = columns.filter(({ attribute }) => attributes[attribute.name] !== undefined);
  if (declared.length !== Object.keys(attributes).length) {
    const names = new Set(declared.map(({ attribute }) => attribute.name));
    const stray = Object.keys(attributes).filter((name) => !names.has(name));
    throw new Error(`attribute "${stray.join('", "')}" is not declared for this domain`);
  }
  return columns.map((column) => {
    const given = attributes[column.attribute.name];
    if (given === undefined) return null;
    return column.attribute.multiple === true ? listOf(column, given) : factOf(column, given);
  });
}

/** Numbers with commas between them: joined to a JSON array, those of many documents are one list. */
function listOf(column: WrittenColumn, given: AttributeValue): string | null {
  const facts = [given].flat().flatMap((value) => factOf(column, value) ?? []);
  return facts.length === 0 ? null : facts.join(',');
}

function factOf({ attribute, labels }: WrittenColumn, given: AttributeValue): number | null {
  const { name, type } = attribute;
  const refuse = (expected: string): Error =>
    new Error(`attribute "${name}" is ${JSON.stringify(given)}, expected ${expected}`);
  switch (type) {
    case 'string':
      if (typeof given !== 'string') throw refuse('text');
      return labels?.codeOf(given) ?? null;
    case 'integer':
      if (!Number.isSafeInteger(given)) throw refuse('a whole number within ±2^53');
      return Number(given);
    case 'number':
      if (typeof given !== 'number' || !Number.isFinite(given)) throw refuse('a number');
      return given;
    case 'date': {
      const days = Date.parse(`${given}T00:00:00Z`) / MS_PER_DAY;
      if (!Number.isInteger(days) || dateText(days) !== given) throw refuse('a date as YYYY-MM-DD');
      return days;
    }
  }
}

interface Label {
  readonly key: string;
  readonly code: number;
  /** The text that facets show: that of the first document, whose row is `first`. */
  label: string;
  first: number;
  documents: number;
  /** Its first document was taken away: the next one is after it. */
  isLost: boolean;
}

/** Maximum number of texts per attribute whose label is remembered: real attributes repeat a few thousand texts. */
const MAX_REMEMBERED = 20_000;
/** Distance of two codes in an index that takes new texts: it can be halved 16 times. */
const CODE_STEP = 65_536;
/** Codes of an index are from 0; those that `write` is to renumber are below this. */
const BEFORE_FIRST = -1;

/**
 * Codes for the texts of an attribute. Two texts that a filter cannot tell apart share one code. Facets show the code's label,
 * which is the first of its texts. Codes are in the order of the texts, so that sorting by code sorts by text: a new text
 * gets a code between its neighbours. Where none is left, and in a new index, it gets a negative one, and `write` renumbers
 * all.
 */
export function createLabels(database: DatabaseSync, { attribute, index, name }: FactColumn, isNew: boolean) {
  const byKey = new Map<string, Label>();
  const byText = new Map<string, Label>();
  const select = database.prepare('SELECT code, label, first, documents FROM labels WHERE attribute = ? AND key = ?');
  const put = database.prepare('INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM labels WHERE attribute = ? AND key = ?');
  const neighbour = (sign: string, order: string) =>
    database.prepare(`SELECT code FROM labels WHERE attribute = ? AND key ${sign} ? ORDER BY key ${order} LIMIT 1`);
  const [below, above] = [neighbour('<', 'DESC'), neighbour('>', 'ASC')];

  /** Undefined for an empty text: no filter can name it, so it is a missing value. */
  const find = (text: string): Label | undefined => {
    const known = byText.get(text);
    if (known !== undefined) return known;
    const key = canonicalDocumentText(text);
    if (key === '') return undefined;
    const label = byKey.get(key) ?? read(key) ?? made(key, text);
    byKey.set(key, label);
    if (byText.size < MAX_REMEMBERED) byText.set(text, label);
    return label;
  };

  function read(key: string): Label | undefined {
    const row = isNew ? undefined : select.get(index, key);
    if (row === undefined) return undefined;
    const [code, first, documents] = [Number(row['code']), Number(row['first']), Number(row['documents'])];
    return { key, code, label: String(row['label']), first, documents, isLost: false };
  }

  function made(key: string, text: string): Label {
    const code = (isNew ? undefined : codeBetween(key)) ?? BEFORE_FIRST - 1 - byKey.size;
    const label = { key, code, label: text, first: Number.MAX_SAFE_INTEGER, documents: 0, isLost: false };
    // The codes of the next new texts are around it.
    if (!isNew) put.run(index, key, code, text, label.first, 0);
    return label;
  }

  function codeBetween(key: string): number | undefined {
    const low = Number(below.get(index, key)?.['code'] ?? BEFORE_FIRST);
    const next = above.get(index, key);
    const high = next === undefined ? low + 2 * CODE_STEP : Number(next['code']);
    const code = Math.floor((low + high) / 2);
    return low >= BEFORE_FIRST && code > low && code < high ? code : undefined;
  }

  /** The first document that has the label, now that another one has it no more. */
  function refind(label: Label): void {
    const holds =
      attribute.multiple === true ? `instr(',' || ${name} || ',', ',${label.code},')` : `${name} = ${label.code}`;
    const sql = `SELECT n, attributes FROM facts CROSS JOIN documents USING (n) WHERE ${holds} AND n > ? ORDER BY n LIMIT 1`;
    const row = database.prepare(sql).get(label.first);
    if (row === undefined) throw new Error(`no document has "${label.key}": the file is damaged`);
    const { [attribute.name]: values } = JSON.parse(String(row['attributes'])) as Document['attributes'];
    const texts = [values ?? []].flat().map(String);
    label.first = Number(row['n']);
    label.label = texts.find((text) => canonicalDocumentText(text) === label.key) ?? '';
  }

  function renumber(): void {
    // SQLite's order of UTF-8. `<` on JavaScript strings puts U+FF00 behind an emoji.
    database.exec(`
      CREATE TEMP TABLE moved (old INTEGER PRIMARY KEY, code INTEGER NOT NULL);
      INSERT INTO moved SELECT code, (row_number() OVER (ORDER BY key) - 1) * ${isNew ? 1 : CODE_STEP}
        FROM labels WHERE attribute = ${index};
      UPDATE labels SET code = (SELECT code FROM moved WHERE old = labels.code) WHERE attribute = ${index};
    `);
    const codes =
      attribute.multiple === true
        ? `SELECT group_concat(code) FROM json_each('[' || ${name} || ']') CROSS JOIN moved ON old = value`
        : `SELECT code FROM moved WHERE old = ${name}`;
    database.exec(`UPDATE facts SET ${name} = (${codes}) WHERE ${name} IS NOT NULL; DROP TABLE moved`);
  }

  return {
    codeOf: (text: string): number | undefined => find(text)?.code,
    /** Counts the texts of a document that is written or taken away, in row `n`. */
    count: ({ attributes }: Document, n: number, change: 1 | -1): void => {
      for (const text of [attributes[attribute.name] ?? []].flat().map(String)) {
        const label = find(text);
        if (label === undefined) continue;
        label.documents += change;
        if (change === -1) label.isLost ||= n === label.first;
        else if (n < label.first || (label.isLost && n === label.first)) {
          Object.assign(label, { label: text, first: n, isLost: false });
        }
      }
    },
    /** After all rows: writes the labels of these documents. */
    write: (): void => {
      for (const label of byKey.values()) {
        if (label.documents === 0) {
          remove.run(index, label.key);
          continue;
        }
        if (label.isLost) refind(label);
        put.run(index, label.key, label.code, label.label, label.first, label.documents);
      }
      if (byKey.values().some(({ code, documents }) => code < 0 && documents > 0)) renumber();
    },
  };
}
