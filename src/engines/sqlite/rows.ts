import type { DatabaseSync } from 'node:sqlite';
import { canonicalDocumentText } from '../../search/canonical.ts';
import { type Document, isDocumentId, MAX_ID_BYTES, type SearchDomain, searchedText } from '../../search/domain.ts';
import {
  indexedWords,
  isNgram,
  onlyPieceOf,
  PLAIN,
  runsOf,
  spellingsOf,
  type WordRun,
  withoutUmlauts,
} from '../analysis/words.ts';
import { createLabels, factsOf, type WrittenColumn } from './facts.ts';
import { factColumnsOf } from './schema.ts';

/**
 * The rows of documents in all tables of an index: for a new index, or for one that answers searches. Rows are written in
 * their order: FTS5 makes a segment each time when a row is before the last one. Call `finish` before the transaction ends.
 */
export function createRows(database: DatabaseSync, domain: SearchDomain, { isNew }: { readonly isNew: boolean }) {
  const columns = [...factColumnsOf(domain).values()].map((column): WrittenColumn => {
    const isText = column.attribute.type === 'string';
    return { ...column, labels: isText ? createLabels(database, column, isNew) : undefined };
  });
  const spellings = createCounts(database, 'spellings', ['words', 'phrase', 'piece']);
  const words = createCounts(database, 'words', ['word']);
  const spellingsIn = createSpeller();
  const putDocument = database.prepare('INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)');
  const putFacts = database.prepare(`INSERT OR REPLACE INTO facts VALUES (?${', ?'.repeat(columns.length)})`);
  const putFoldedId = database.prepare('INSERT OR IGNORE INTO folded_ids (folded, n) VALUES (?, ?)');
  const putText = database.prepare('INSERT INTO fts (rowid, title, description, attributes) VALUES (?, ?, ?, ?)');
  const dropText = database.prepare(
    "INSERT INTO fts (fts, rowid, title, description, attributes) VALUES ('delete', ?, ?, ?, ?)",
  );
  const drops = ['documents', 'facts', 'folded_ids'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE n = ?`),
  );
  /** The words of the columns of `fts`. Counts them, their spellings and the texts of attributes. */
  const counted = (n: number, document: Document, change: 1 | -1): readonly string[] => {
    for (const { labels } of columns) labels?.count(document, n, change);
    const wordsOf = (text: string): string =>
      runsOf(text)
        .flatMap((run) => {
          for (const spelling of spellingsIn(text, run)) spellings.count(spelling, change);
          return run.parts.flatMap(indexedWords);
        })
        .join(' ');
    const made = [document.title, document.description, searchedText(document, domain)].map(wordsOf);
    // The vocabulary of a new index is read from `fts` at its end.
    if (!isNew) for (const word of new Set(made.flatMap(tokensOf))) words.count(word, change);
    return made;
  };

  const replaceTexts = (n: number, before: Document | undefined, after: Document | undefined): void => {
    const old = before && counted(n, before, -1);
    const now = after && counted(n, after, 1);
    if (old?.join('\n') === now?.join('\n')) return;
    if (old !== undefined) dropText.run(n, ...old);
    if (now !== undefined) putText.run(n, ...now);
  };

  return {
    /**
     * @param before the document that the row holds; absent for a new row
     * @returns why the document cannot be indexed; nothing is written then
     */
    put: (n: number, given: Document, before?: Document): string | undefined => {
      if (!isDocumentId(given.id))
        return `an id must be 1 to ${MAX_ID_BYTES} bytes of text, without NUL or half a character`;
      let facts: ReturnType<typeof factsOf>;
      try {
        facts = factsOf(given, columns);
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
      // SQLite ends text at a NUL.
      const [title, description] = [given.title.replaceAll('\0', ' '), given.description.replaceAll('\0', ' ')];
      putDocument.run(n, given.id, title, description, JSON.stringify(given.attributes));
      putFacts.run(n, ...facts);
      const folded = canonicalDocumentText(given.id);
      if (folded !== given.id) putFoldedId.run(folded, n);
      replaceTexts(n, before, { ...given, title, description });
      return undefined;
    },
    remove: (n: number, before: Document): void => {
      for (const drop of drops) drop.run(n);
      replaceTexts(n, before, undefined);
    },
    finish: (): void => {
      for (const { labels } of columns) labels?.write();
      spellings.write();
      words.write();
    },
  };
}

/** The words into which FTS5's tokeniser splits a column: at ASCII signs but those of words. */
function tokensOf(column: string): readonly string[] {
  return column.match(/[a-z0-9+#\u0080-\u{10ffff}]+/gu) ?? [];
}

const MAX_REMEMBERED = 20_000;

/** Numbers of a table by its key, whose parts are joined by NUL. A row whose number becomes 0 is deleted. */
function createCounts(database: DatabaseSync, table: string, key: readonly string[]) {
  const add = database.prepare(
    `INSERT INTO ${table} (${key.join(', ')}, documents) VALUES (?${', ?'.repeat(key.length)})
     ON CONFLICT DO UPDATE SET documents = documents + excluded.documents`,
  );
  const sweep = database.prepare(`DELETE FROM ${table} WHERE ${key.join(' = ? AND ')} = ? AND documents = 0`);
  const changes = new Map<string, number>();
  const write = (): void => {
    for (const [joined, change] of changes) {
      if (change === 0) continue;
      const parts = joined.split('\0');
      add.run(...parts, change);
      if (change < 0) sweep.run(...parts);
    }
    changes.clear();
  };
  return {
    count: (joined: string, change: number): void => {
      if (changes.size >= MAX_REMEMBERED) write();
      changes.set(joined, (changes.get(joined) ?? 0) + change);
    },
    write,
  };
}

/** The rows of `spellings` of each run. Catalogues repeat runs, so the last ones are remembered. */
function createSpeller() {
  const seen = new Map<string, readonly string[]>();
  return (text: string, run: WordRun): readonly string[] => {
    const typed = text.slice(run.from, run.to);
    const isPlain = PLAIN.test(typed);
    if (isPlain && onlyPieceOf(run) !== undefined) return [];
    const known = seen.get(typed);
    if (known !== undefined) return known;
    if (seen.size === MAX_REMEMBERED) seen.clear();
    const umlauts = (isPlain ? [] : run.parts.flatMap(({ pieces }) => pieces)).flatMap(({ text: word, from, to }) => {
      const words = withoutUmlauts(text.slice(from, to));
      return words !== word && !isNgram(word) ? [{ words, phrase: word, isPiece: false }] : [];
    });
    const made = [...spellingsOf(run), ...umlauts].map(({ words, phrase, isPiece }) =>
      [words, phrase, isPiece ? 1 : 0].join('\0'),
    );
    seen.set(typed, made);
    return made;
  };
}
