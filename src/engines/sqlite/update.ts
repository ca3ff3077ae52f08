import type { DatabaseSync } from 'node:sqlite';
import type { Document, SearchDomain } from '../../search/domain.ts';
import type { DocumentUpdates, IndexChange } from '../../search/engine.ts';
import { createRows } from './rows.ts';
import { execLocking, fileIdentity, IndexError, openFile, readMeta } from './schema.ts';

interface UpdateOptions extends DocumentUpdates {
  readonly file: string;
  readonly domain: SearchDomain;
  /** Wall time in milliseconds: the age of the index is counted from its last update. */
  readonly atMs: number;
}

/**
 * Takes documents into an index, and out of it, in one transaction: a search sees all of them or none. Afterwards the index
 * answers as one that is built afresh: a known id keeps its place in the order of the catalogue, a new one is last. The call
 * blocks its thread; another writer is waited for.
 * @returns a member for each upsert, then for each deletion.
 * @throws IndexError when the file is no index for this domain, an error of SQLite when it cannot be written.
 */
export function updateIndex({ file, domain, upserts, deletions, atMs }: UpdateOptions): readonly IndexChange[] {
  const database = lockIndex(file);
  if (database === undefined) {
    const message = `${file} does not exist; build it with: serpcache index ${domain.name} <file.ndjson|csv>`;
    throw new IndexError('missing', file, message);
  }
  try {
    const meta = readMeta(database, file, domain);
    const rows = createRows(database, domain, { isNew: false });
    const held = database.prepare('SELECT n, title, description, attributes FROM documents WHERE id = ?');
    const last = database.prepare('SELECT coalesce(max(n), 0) AS n FROM documents');
    let { documents } = meta;
    const heldAs = (id: string): { n: number; before: Document } | undefined => {
      const row = held.get(id);
      if (row === undefined) return undefined;
      const attributes = JSON.parse(String(row['attributes'])) as Document['attributes'];
      const before = { id, title: String(row['title']), description: String(row['description']), attributes };
      return { n: Number(row['n']), before };
    };
    const upsert = (after: Document): IndexChange => {
      const { id } = after;
      let facts: ReturnType<typeof rows.factsOf>;
      try {
        facts = rows.factsOf(after);
      } catch (error) {
        return { id, fault: error instanceof Error ? error.message : String(error) };
      }
      const found = heldAs(id);
      rows.put(found?.n ?? Number(last.get()?.['n']) + 1, after, facts, found?.before);
      if (found === undefined) documents += 1;
      return { id, before: found?.before, after };
    };
    const remove = (id: string): IndexChange => {
      const found = heldAs(id);
      if (found === undefined) return { id };
      rows.remove(found.n, found.before);
      documents -= 1;
      return { id, before: found.before };
    };
    const changes = [...upserts.map(upsert), ...deletions.map(remove)];
    rows.finish();
    const setMeta = database.prepare('UPDATE meta SET value = ? WHERE name = ?');
    setMeta.run(String(documents), 'documents');
    setMeta.run(String(atMs), 'builtAtMs');
    execLocking(database, 'COMMIT');
    return changes;
  } finally {
    database.close();
  }
}

/** Pages in memory, so that a large transaction does not write to the file before its end: that would block searches. */
const WRITE_CACHE_KIB = 256 * 1024;
const MAX_OPENINGS = 10;

/**
 * The index with its lock for writing, in a transaction; undefined when there is none. Writers of all processes wait for
 * each other. A file that is replaced between its opening and the lock is opened again.
 */
export function lockIndex(file: string): DatabaseSync | undefined {
  for (let opening = 0; opening < MAX_OPENINGS; opening += 1) {
    const identity = fileIdentity(file);
    if (identity === undefined) return undefined;
    const database = openFile(file);
    try {
      database.exec(`PRAGMA cache_size = -${WRITE_CACHE_KIB}; PRAGMA cache_spill = OFF; PRAGMA synchronous = NORMAL`);
      execLocking(database, 'BEGIN IMMEDIATE');
      if (fileIdentity(file) === identity) return database;
    } catch (cause) {
      database.close();
      const detail = cause instanceof Error ? cause.message : String(cause);
      throw new IndexError('failed', file, `${file} cannot be updated: ${detail}`, { cause });
    }
    database.close();
  }
  throw new IndexError('failed', file, `${file} is replaced again and again`);
}
