import type { DatabaseSync } from 'node:sqlite';
import { canonicalDocumentText, dateText, MS_PER_DAY } from '../../search/canonical.ts';
import type { AttributeValue, Document } from '../../search/domain.ts';
import type { FactColumn } from './schema.ts';

type Fact = number | string | null;

/**
 * A document's attributes as the table `facts` holds them, in the order of its columns; null for a missing one.
 * @throws an error that names an attribute that is not declared or has another type.
 */
export function factsOf(document: Document, columns: readonly FactColumn[], labels: Labels): readonly Fact[] {
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
    return column.attribute.multiple === true ? listOf(column, given, labels) : factOf(column, given, labels);
  });
}

/** Numbers with commas between them: joined to a JSON array, those of many documents are one list. */
function listOf(column: FactColumn, given: AttributeValue, labels: Labels): string | null {
  const facts = [given].flat().flatMap((value) => factOf(column, value, labels) ?? []);
  return facts.length === 0 ? null : facts.join(',');
}

function factOf(column: FactColumn, given: AttributeValue, labels: Labels): number | null {
  const { name, type } = column.attribute;
  const refuse = (expected: string): Error =>
    new Error(`attribute "${name}" is ${JSON.stringify(given)}, expected ${expected}`);
  switch (type) {
    case 'string':
      if (typeof given !== 'string') throw refuse('text');
      return labels.codeOf(column, given);
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
  readonly label: string;
  readonly arrival: number;
}

/** Maximum number of texts per attribute whose code is remembered: real attributes repeat a few thousand texts. */
const MAX_REMEMBERED = 20_000;

/**
 * Codes for the attribute texts of one build. Two texts that a filter cannot tell apart share one code. Facets show the
 * code's label, which is the first of its texts. While documents are added, codes follow the order of arrival; `write`
 * renumbers them in the order of the texts, so that sorting by code sorts by text.
 */
export function createLabels() {
  const byKey = new Map<number, Map<string, Label>>();
  const byText = new Map<number, Map<string, number>>();

  return {
    /** Null for an empty text: no filter can name it, so it is a missing value. */
    codeOf: ({ index }: FactColumn, text: string): number | null => {
      const remembered = setDefault(byText, index);
      const known = remembered.get(text);
      if (known !== undefined) return known;
      const key = canonicalDocumentText(text);
      if (key === '') return null;
      const labels = setDefault(byKey, index);
      const label = labels.get(key) ?? { key, label: text, arrival: labels.size };
      labels.set(key, label);
      if (remembered.size < MAX_REMEMBERED) remembered.set(text, label.arrival);
      return label.arrival;
    },
    write: (database: DatabaseSync, columns: readonly FactColumn[]): void => {
      database.exec(
        'CREATE TEMP TABLE arrivals (attribute, arrival, code, PRIMARY KEY (attribute, arrival)) WITHOUT ROWID',
      );
      const insertArrival = database.prepare('INSERT INTO arrivals VALUES (?, ?, ?)');
      const insertLabel = database.prepare('INSERT INTO labels (attribute, code, key, label) VALUES (?, ?, ?, ?)');
      for (const { attribute, index, name } of columns) {
        if (attribute.type !== 'string') continue;
        // SQLite's order of UTF-8. `<` on JavaScript strings puts U+FF00 behind an emoji.
        const labels = [...(byKey.get(index)?.values() ?? [])].sort((a, b) =>
          Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)),
        );
        for (const [code, { key, label, arrival }] of labels.entries()) {
          insertArrival.run(index, arrival, code);
          insertLabel.run(index, code, key, label);
        }
        const codes =
          attribute.multiple === true
            ? `SELECT group_concat(code) FROM json_each('[' || ${name} || ']') CROSS JOIN arrivals ON attribute = ${index} AND arrival = value`
            : `SELECT code FROM arrivals WHERE attribute = ${index} AND arrival = ${name}`;
        database.exec(`UPDATE facts SET ${name} = (${codes}) WHERE ${name} IS NOT NULL`);
      }
      database.exec('DROP TABLE arrivals; CREATE INDEX label_keys ON labels (attribute, key)');
    },
  };
}

type Labels = ReturnType<typeof createLabels>;

function setDefault<V>(maps: Map<number, Map<string, V>>, index: number): Map<string, V> {
  const found = maps.get(index) ?? new Map<string, V>();
  maps.set(index, found);
  return found;
}
