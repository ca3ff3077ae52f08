import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { SearchDomain, SearchRequest } from '../../search/domain.ts';
import { probeOf, type ResultPage } from '../../search/engine.ts';
import { factColumnsOf, IndexError, type IndexMeta, readMeta } from './schema.ts';
import { createIndexSearch, createStatementCache } from './search.ts';

export interface OpenIndexOptions {
  readonly file: string;
  readonly domain: SearchDomain;
  /** Maximum length of the text shown with each result, in characters. */
  readonly snippetLength: number;
}

/** An index open for reading, for one thread. Every call blocks that thread. */
export interface OpenIndex {
  readonly meta: IndexMeta;
  readonly search: (request: SearchRequest) => ResultPage;
  /** Whether the index has a document with that id. */
  readonly holds: (id: string) => boolean;
  /** @throws when a search in this index would fail. */
  readonly probe: () => void;
  readonly close: () => void;
}

const MAX_STATEMENTS = 64;
/** Page cache per thread. The file is not memory-mapped: that gained nothing, and truncating a mapped file kills the process. */
const CACHE_KIB = 8192;

/** @throws IndexError that names the file and tells what to do. */
export function openIndex({ file, domain, snippetLength }: OpenIndexOptions): OpenIndex {
  if (!existsSync(file)) {
    const message = `${file} does not exist; build it with: serpcache index ${domain.name} <file.ndjson|csv> (a lifeboat's: --into <directory>)`;
    throw new IndexError('missing', file, message);
  }
  const database = openReadOnly(file);
  try {
    const meta = readMeta(database, file, domain);
    // The file is open for reading only. `query_only` would also refuse the temporary table.
    database.exec(`
      PRAGMA cache_size = -${CACHE_KIB};
      PRAGMA temp_store = MEMORY;
      CREATE TEMP TABLE matched (n INTEGER PRIMARY KEY, score REAL NOT NULL);
    `);
    const statements = createStatementCache(database, MAX_STATEMENTS);
    const search = createIndexSearch({ statements, columns: factColumnsOf(domain), snippetLength });
    const probe = (): void => {
      search(probeOf(domain));
      // The search for an empty page reads no document, so one is read here.
      statements('SELECT n FROM documents LIMIT 1').all();
    };
    const holds = (id: string): boolean => statements('SELECT n FROM documents WHERE id = ?').get(id) !== undefined;
    return { meta, search, holds, probe, close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

function openReadOnly(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { readOnly: true });
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new IndexError('incompatible', file, `${file} cannot be opened: ${detail}`, { cause });
  }
}
