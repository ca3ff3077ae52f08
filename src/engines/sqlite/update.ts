import type { DatabaseSync } from 'node:sqlite';
import type { Document, SearchDomain } from '../../search/domain.ts';
import type { DocumentUpdate, IndexChange } from '../../search/engine.ts';
import { createRows } from './rows.ts';
import { execLocking, fileIdentity, IndexError, openFile, readMeta, writeMeta } from './schema.ts';

interface UpdateOptions {
  readonly updates: readonly DocumentUpdate[];
  readonly file: string;
  readonly domain: SearchDomain;
  /** Wall time in milliseconds: the age of the index is counted from its last update. */
  readonly atMs: number;
  /** Absent: the feed of changes is told what the update does, so that pages from before it are judged one by one. */
  readonly build?: string;
}

/**
 * Takes documents into an index, and out of it, in one transaction: a search sees all of them or none. Afterwards the index
 * answers as one that is built afresh: a known id keeps its place in the order of the catalogue, a new one is last. The call
 * blocks its thread; another writer is waited for.
 * @returns a member for each id, in the order of the catalogue.
 * @throws IndexError when the file is no index for this domain, an error of SQLite when it cannot be written.
 */
export function updateIndex({ file, domain, updates, atMs, build }: UpdateOptions): readonly IndexChange[] {
  const database = lockIndex(file);
  try {
    const meta = readMeta(database, file, domain);
    const rows = createRows(database, domain, { isNew: false });
    const held = database.prepare('SELECT n, title, description, attributes FROM documents WHERE id = ?');
    let last = Number(database.prepare('SELECT max(n) AS n FROM documents').get()?.['n'] ?? 0);
    let { documents } = meta;
    // The last update of an id counts.
    const wanted = new Map(updates.map(({ id, document }) => [id, document]));
    const found = [...wanted].map(([id, after]) => {
      const row = held.get(id);
      if (row === undefined) {
        last += 1;
        return { id, n: last, before: undefined, after };
      }
      const attributes = JSON.parse(String(row['attributes'])) as Document['attributes'];
      const before = { id, title: String(row['title']), description: String(row['description']), attributes };
      return { id, n: Number(row['n']), before, after };
    });
    const changes = found
      .sort((a, b) => a.n - b.n)
      .map(({ id, n, before, after }): IndexChange => {
        if (after !== undefined) {
          const fault = rows.put(n, after, before);
          if (fault !== undefined) return { id, fault };
        } else if (before !== undefined) rows.remove(n, before);
        documents += Number(after !== undefined) - Number(before !== undefined);
        return { id, before, after };
      });
    rows.finish();
    writeMeta(database, domain, { ...meta, documents, builtAtMs: atMs, build: build ?? meta.build });
    execLocking(database, 'COMMIT');
    return changes;
  } finally {
    database.close();
  }
}

/** Pages in memory, so that a large transaction does not write to the file before its end: that would block searches. */
const WRITE_CACHE_KIB = 256 * 1024;

/**
 * The index with its lock for writing, in a transaction. Writers of all processes wait for each other. A file that is
 * replaced between its opening and the lock is opened again.
 * @throws IndexError
 */
export function lockIndex(file: string): DatabaseSync {
  const identity = fileIdentity(file);
  const database = openFile(file);
  try {
    // It reads the schema, which another writer may be committing.
    execLocking(database, `PRAGMA cache_size = -${WRITE_CACHE_KIB}`);
    database.exec('PRAGMA cache_spill = OFF; PRAGMA synchronous = NORMAL');
    execLocking(database, 'BEGIN IMMEDIATE');
    if (fileIdentity(file) === identity) return database;
  } catch (cause) {
    database.close();
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new IndexError('failed', `${file} cannot be updated: ${detail}`, { cause });
  }
  database.close();
  return lockIndex(file);
}
