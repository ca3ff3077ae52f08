import type { DatabaseSync } from 'node:sqlite';
import { canonicalDocumentText } from '../../search/canonical.ts';
import type { Column } from './schema.ts';

/**
 * Codes for the texts of one build. Two texts that a filter cannot tell apart share one code; the label of a code, which
 * facets show, is the first of its texts to come. While documents come, codes are given in the order of arrival;
 * `write` renumbers them in the order of the texts, so that sorting by code sorts by text.
 */
export interface Labels {
  /** Null for a text that is empty: nobody can ask for it, so it is a missing value. */
  readonly codeOf: (column: Column, text: string) => number | null;
  readonly write: (database: DatabaseSync, columns: readonly Column[]) => void;
}

interface Label {
  readonly key: string;
  readonly label: string;
  readonly arrival: number;
}

/** Texts whose canonical form is remembered, per attribute: real attributes repeat a few thousand. */
const MAX_REMEMBERED = 20_000;

export function createLabels(): Labels {
  const byKey = new Map<number, Map<string, Label>>();
  const byText = new Map<number, Map<string, number>>();

  return {
    codeOf: ({ index }, text) => {
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
    write: (database, columns) => {
      database.exec(
        'CREATE TEMP TABLE arrivals (attribute, arrival, code, PRIMARY KEY (attribute, arrival)) WITHOUT ROWID',
      );
      const insertArrival = database.prepare('INSERT INTO arrivals VALUES (?, ?, ?)');
      const insertLabel = database.prepare('INSERT INTO labels (attribute, code, key, label) VALUES (?, ?, ?, ?)');
      for (const { attribute, index, name } of columns) {
        if (attribute.type !== 'string') continue;
        const labels = [...(byKey.get(index)?.values() ?? [])].sort((a, b) => compareCodePoints(a.key, b.key));
        for (const [code, { key, label, arrival }] of labels.entries()) {
          insertArrival.run(index, arrival, code);
          insertLabel.run(index, code, key, label);
        }
        database.exec(
          `UPDATE facts SET ${name} = (SELECT code FROM arrivals WHERE attribute = ${index} AND arrival = ${name})
           WHERE ${name} IS NOT NULL`,
        );
      }
      database.exec('DROP TABLE arrivals; CREATE INDEX label_keys ON labels (attribute, key)');
    },
  };
}

/** As SQLite and everybody else orders UTF-8; `<` on strings puts U+FF00 behind an emoji. */
function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function setDefault<V>(maps: Map<number, Map<string, V>>, index: number): Map<string, V> {
  const found = maps.get(index) ?? new Map<string, V>();
  maps.set(index, found);
  return found;
}
