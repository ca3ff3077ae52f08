import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
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
import { createLabels, factsOf } from './facts.ts';
import { createTables, factColumnsOf, IndexError, writeMeta } from './schema.ts';

interface BuildOptions {
  /** The index file to make or replace. Engines that have the old file open keep it until they are restarted. */
  readonly file: string;
  readonly domain: SearchDomain;
  readonly documents: Iterable<Document> | AsyncIterable<Document>;
  /** Wall time in milliseconds, kept in the file. */
  readonly builtAtMs: number;
  /** Called now and then with the number of documents so far. */
  readonly onProgress?: (documents: number) => void;
  /** Takes a document that cannot be indexed; it is left out, unless the function throws. By default it throws. */
  readonly onRefused?: (error: IndexError) => void;
  readonly signal?: AbortSignal;
}

/** Number of documents between two turns of the event loop, in which a progress bar is drawn or the build is aborted. */
const DOCUMENTS_PER_TURN = 500;

/**
 * Builds the index of a catalogue: either the whole file appears under its name, or nothing changes.
 * @throws IndexError that names the row of a document that cannot be indexed, or the file that cannot be written.
 */
export async function buildIndex(options: BuildOptions): Promise<{ readonly documents: number }> {
  let documents = 0;
  await replaceFile(options.file, async (temporary) => {
    const database = new DatabaseSync(temporary);
    try {
      // The file is not read before it is complete and on disk, so it needs no journal on disk and no syncs. journal_mode is
      // MEMORY, not OFF: node:sqlite opens files in defensive mode, which ignores OFF and keeps a journal on disk.
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
  const columns = [...factColumnsOf(options.domain).values()];
  const labels = createLabels();
  const document = database.prepare(
    'INSERT INTO documents (n, id, title, description, attributes) VALUES (?, ?, ?, ?, ?)',
  );
  const facts = database.prepare(`INSERT INTO facts VALUES (?${', ?'.repeat(columns.length)})`);
  const fts = database.prepare('INSERT INTO fts (rowid, title, description, attributes) VALUES (?, ?, ?, ?)');
  const foldedId = database.prepare('INSERT INTO folded_ids (folded, n) VALUES (?, ?)');
  const spell = createSpeller(database);
  const wordsOf = (text: string): string =>
    runsOf(text)
      .flatMap((run) => {
        spell(text, run);
        return run.parts.flatMap(indexedWords);
      })
      .join(' ');
  const holder = database.prepare('SELECT n FROM documents WHERE id = ?');

  let [row, refused] = [0, 0];
  for await (const next of options.documents) {
    row += 1;
    let values: ReturnType<typeof factsOf>;
    try {
      checkId(next.id, holder);
      values = factsOf(next, columns, labels);
    } catch (cause) {
      const message = `row ${row} (id ${JSON.stringify(next.id)}): ${cause instanceof Error ? cause.message : cause}`;
      const error = new IndexError('invalid-document', options.file, message, { cause, row });
      if (options.onRefused === undefined) throw error;
      options.onRefused(error);
      refused += 1;
      continue;
    }
    // SQLite ends text at a NUL.
    const [title, description] = [next.title.replaceAll('\0', ' '), next.description.replaceAll('\0', ' ')];
    document.run(row, next.id, title, description, JSON.stringify(next.attributes));
    facts.run(row, ...values);
    const folded = canonicalDocumentText(next.id);
    if (folded !== next.id) foldedId.run(folded, row);
    fts.run(row, wordsOf(title), wordsOf(description), wordsOf(searchedText(next, options.domain)));
    if (row % DOCUMENTS_PER_TURN === 0) {
      options.onProgress?.(row);
      await nextTurn();
      if (options.signal?.aborted) throw options.signal.reason;
    }
  }
  if (options.signal?.aborted) throw options.signal.reason;
  labels.write(database, columns);
  return row - refused;
}

/** Keeps the spellings of runs. Catalogues repeat them, so the last ones are remembered. */
function createSpeller(database: DatabaseSync) {
  const insert = database.prepare('INSERT OR IGNORE INTO spellings (words, phrase, piece) VALUES (?, ?, ?)');
  const seen = new Set<string>();
  return (text: string, run: WordRun): void => {
    const typed = text.slice(run.from, run.to);
    const isPlain = PLAIN.test(typed);
    if ((isPlain && onlyPieceOf(run) !== undefined) || seen.has(typed)) return;
    if (seen.size === MAX_REMEMBERED) seen.clear();
    seen.add(typed);
    for (const { words, phrase, isPiece } of spellingsOf(run)) insert.run(words, phrase, isPiece ? 1 : 0);
    for (const { text: word, from, to } of isPlain ? [] : run.parts.flatMap(({ pieces }) => pieces)) {
      const spelling = withoutUmlauts(text.slice(from, to));
      if (spelling !== word && !isNgram(word)) insert.run(spelling, word, 0);
    }
  };
}

const MAX_REMEMBERED = 20_000;

function checkId(id: string, holder: StatementSync): void {
  if (!isDocumentId(id)) {
    throw new Error(`an id must be 1 to ${MAX_ID_BYTES} bytes of text`);
  }
  const first = holder.get(id);
  if (first !== undefined) throw new Error(`the id is taken by row ${Number(first['n'])}`);
}

/** Merges the index into one segment, which answers faster than many, and reads the vocabulary from it. */
function finish(database: DatabaseSync): void {
  database.exec(`
    INSERT INTO fts (fts) VALUES ('optimize');
    CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, fts, row);
    INSERT INTO words (word, documents) SELECT term, doc FROM temp.vocabulary ORDER BY term;
    DROP TABLE temp.vocabulary;
  `);
}

/** A build that died leaves its temporary file behind. A temporary file older than this is deleted. */
const LEFTOVER_AGE_MS = 3_600_000;

/**
 * Lets `write` make a temporary file beside `file`, syncs it and renames it: readers see the old file or the whole new
 * one, also after a crash or a power cut. On any failure the temporary file is deleted and `file` does not change.
 * @throws IndexError `failed` when the file system refuses.
 */
async function replaceFile(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const directory = dirname(file);
  const temporary = `${file}.building-${randomUUID()}`;
  try {
    await mkdir(directory, { recursive: true });
    await (await open(temporary, 'wx')).close();
    await removeLeftovers(file, temporary);
    await write(temporary);
    await sync(temporary, 'r+');
    await rename(temporary, file);
    await sync(directory, 'r');
  } catch (cause) {
    // If this fails too (the directory may be a file), the first failure is the one to report.
    await rm(temporary, { force: true }).catch(() => undefined);
    if (cause instanceof IndexError) throw cause;
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new IndexError('failed', file, `${file} was not built: ${detail}`, { cause });
  }
}

async function sync(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeLeftovers(file: string, newest: string): Promise<void> {
  const directory = dirname(file);
  const now = (await stat(newest)).mtimeMs;
  for (const name of await readdir(directory)) {
    if (!name.startsWith(`${basename(file)}.building-`)) continue;
    const leftover = join(directory, name);
    const age = now - ((await stat(leftover).catch(() => undefined))?.mtimeMs ?? now);
    if (age > LEFTOVER_AGE_MS) await rm(leftover, { force: true });
  }
}
