import { randomUUID } from 'node:crypto';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Document, MAX_ID_LENGTH } from '../../search/document.ts';
import type { SearchDomain } from '../../search/domain.ts';
import { factsOf } from './facts.ts';
import { IndexError } from './index-error.ts';
import { createLabels } from './labels.ts';
import { replaceFile } from './replace-file.ts';
import { columnsOf, createTables, writeMeta } from './schema.ts';
import { wordsOf } from './words.ts';

export interface BuildOptions {
  /** The index file to make or to replace. Engines that have the old one open keep it until they are restarted. */
  readonly file: string;
  readonly domain: SearchDomain;
  readonly documents: Iterable<Document> | AsyncIterable<Document>;
  /** Wall time in milliseconds, kept in the file. */
  readonly builtAtMs: number;
  /** Told the number of documents so far, now and then. */
  readonly onProgress?: (documents: number) => void;
  readonly signal?: AbortSignal;
}

/** Between turns of the event loop: what draws a progress bar or aborts the build gets its chance. */
const DOCUMENTS_PER_TURN = 500;

/**
 * Makes the index of a catalogue: either the whole file appears under its name, or nothing changes.
 * @throws IndexError naming the row of a document that cannot be indexed, or the file that cannot be written.
 */
export async function buildIndex(options: BuildOptions): Promise<{ readonly documents: number }> {
  let documents = 0;
  await replaceFile(options.file, async (temporary) => {
    const database = new DatabaseSync(temporary);
    try {
      // Nobody reads the file before it is complete and on disk, so it needs no journal and no syncs on the way. Not OFF:
      // node:sqlite opens files in defensive mode, which ignores that and keeps a journal on disk.
      database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE');
      createTables(database, options.domain);
      database.exec('BEGIN');
      documents = await insertAll(database, options);
      finish(database);
      writeMeta(database, options.domain, { documents, builtAtMs: options.builtAtMs, build: randomUUID() });
      database.exec('COMMIT');
    } finally {
      database.close();
    }
  });
  options.onProgress?.(documents);
  return { documents };
}

async function insertAll(database: DatabaseSync, options: BuildOptions): Promise<number> {
  const columns = [...columnsOf(options.domain).values()];
  const labels = createLabels();
  const document = database.prepare(
    'INSERT INTO documents (n, id, title, description, attributes) VALUES (?, ?, ?, ?, ?)',
  );
  const facts = database.prepare(`INSERT INTO facts VALUES (?${', ?'.repeat(columns.length)})`);
  const fts = database.prepare('INSERT INTO fts (rowid, title, description) VALUES (?, ?, ?)');
  const holder = database.prepare('SELECT n FROM documents WHERE id = ?');

  let row = 0;
  for await (const next of options.documents) {
    row += 1;
    try {
      // SQLite ends text at a NUL; the rest is kept as it came.
      const [title, description] = [next.title.replaceAll('\0', ' '), next.description.replaceAll('\0', ' ')];
      const values = factsOf(next, columns, labels);
      checkId(next.id, holder);
      document.run(row, next.id, title, description, JSON.stringify(next.attributes));
      facts.run(row, ...values);
      fts.run(row, wordsOf(title).join(' '), wordsOf(description).join(' '));
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause);
      const message = `row ${row} (id ${JSON.stringify(next.id)}): ${detail}`;
      throw new IndexError('invalid-document', options.file, message, { cause, row });
    }
    if (row % DOCUMENTS_PER_TURN === 0) {
      options.onProgress?.(row);
      await nextTurn();
      if (options.signal?.aborted) throw options.signal.reason;
    }
  }
  if (options.signal?.aborted) throw options.signal.reason;
  labels.write(database, columns);
  return row;
}

function checkId(id: string, holder: StatementSync): void {
  if (id === '' || [...id].length > MAX_ID_LENGTH || id.includes('\0') || !id.isWellFormed()) {
    throw new Error(`an id must be 1 to ${MAX_ID_LENGTH} characters of text`);
  }
  const first = holder.get(id);
  if (first !== undefined) throw new Error(`the id is taken by row ${Number(first['n'])}`);
}

/** One segment answers faster than many; the vocabulary is read from it. */
function finish(database: DatabaseSync): void {
  database.exec(`
    INSERT INTO fts (fts) VALUES ('optimize');
    CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, fts, row);
    INSERT INTO words (word, documents) SELECT term, doc FROM temp.vocabulary ORDER BY term;
    DROP TABLE temp.vocabulary;
  `);
}
