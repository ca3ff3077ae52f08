import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Document, SearchDomain } from '../../search/domain.ts';
import { createRows } from './rows.ts';
import { createTables, IndexError, writeMeta } from './schema.ts';
import { lockIndex } from './update.ts';

interface BuildOptions {
  /** The index file to make or replace. Engines that have the old file open search the new one from their next search on. */
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
  const rows = createRows(database, options.domain, { isNew: true });
  const holder = database.prepare('SELECT n FROM documents WHERE id = ?');
  let [row, refused] = [0, 0];
  for await (const next of options.documents) {
    row += 1;
    const first = holder.get(next.id);
    const fault = first === undefined ? rows.put(row, next) : `the id is taken by row ${Number(first['n'])}`;
    if (fault !== undefined) {
      const message = `row ${row} (id ${JSON.stringify(next.id)}): ${fault}`;
      const error = new IndexError('invalid-document', message);
      if (options.onRefused === undefined) throw error;
      options.onRefused(error);
      refused += 1;
      continue;
    }
    if (row % DOCUMENTS_PER_TURN === 0) {
      options.onProgress?.(row);
      await nextTurn();
      if (options.signal?.aborted) throw options.signal.reason;
    }
  }
  if (options.signal?.aborted) throw options.signal.reason;
  rows.finish();
  return row - refused;
}

/** Merges the index into one segment, which answers faster than many, and reads the vocabulary from it. */
function finish(database: DatabaseSync): void {
  database.exec(`
    INSERT INTO fts (fts) VALUES ('optimize');
    CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, fts, row);
    INSERT INTO words (word, documents) SELECT term, doc FROM temp.vocabulary ORDER BY term;
    DROP TABLE temp.vocabulary;
    CREATE INDEX label_codes ON labels (attribute, code);
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
    const replaced = lockIfIndex(file);
    try {
      await rename(temporary, file);
    } finally {
      replaced?.close();
    }
    await sync(directory, 'r');
  } catch (cause) {
    // If this fails too (the directory may be a file), the first failure is the one to report.
    await rm(temporary, { force: true }).catch(() => undefined);
    if (cause instanceof IndexError) throw cause;
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new IndexError('failed', `${file} was not built: ${detail}`, { cause });
  }
}

/** An update that has begun ends first: the rest of its journal would belong to the new file. */
function lockIfIndex(file: string): DatabaseSync | undefined {
  try {
    return lockIndex(file);
  } catch {
    // A missing or a damaged file is replaced too.
    return undefined;
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
