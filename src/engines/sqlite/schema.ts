import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Attribute, SearchDomain } from '../../search/domain.ts';
import { ANALYSIS_HASH } from '../analysis/table.ts';
import { WORD_SIGNS } from '../analysis/words.ts';

export function indexFileOf(directory: string, domain: string): string {
  return `${directory}/${domain}.sqlite`;
}

/**
 * - `missing`: no index file. `incompatible`: not an index, an index of another schema, or an index for other
 *   attributes.
 * - `invalid-document`: a document that cannot be indexed.
 * - `failed`: the file system refused, or the build was aborted.
 */
export type IndexErrorCode = 'missing' | 'incompatible' | 'invalid-document' | 'failed';

/** An index that cannot be opened or built. The message names the file and tells what to do. */
export class IndexError extends Error {
  override readonly name = 'IndexError';
  readonly code: IndexErrorCode;

  constructor(code: IndexErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Maximum time for which a search or an update waits for another one, that of this process or of another. */
const BUSY_MS = 10_000;
const BUSY_POLL_MS = 0.5;
const SQLITE_BUSY = 5;

/**
 * Opens an existing file, for reading only where it is write-protected. Readers may write too: the first one after a crash
 * in the middle of a write rolls it back.
 * @throws IndexError when there is none, or the file system refuses.
 */
export function openFile(file: string): DatabaseSync {
  if (!existsSync(file)) {
    const domain = basename(file, '.sqlite');
    const message = `${file} does not exist; build it with: serpcache index ${domain} <file.ndjson|csv> (a lifeboat's: --into <directory>)`;
    throw new IndexError('missing', message);
  }
  const url = pathToFileURL(file);
  // Without it SQLite would create a file that is missing.
  url.searchParams.set('mode', 'rw');
  try {
    return new DatabaseSync(url);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new IndexError('incompatible', `${file} cannot be opened: ${detail}`, { cause });
  }
}

/**
 * Executes a statement that waits for a lock: a search for a commit, a commit for the searches that run. SQLite's own waits
 * grow to 100 ms, in which a commit keeps all searches waiting: with one update after the other p99 was 1.3 s.
 * @throws an error of SQLite
 */
export function execLocking(database: DatabaseSync, sql: string): void {
  const untilMs = performance.now() + BUSY_MS;
  for (;;) {
    try {
      database.exec(sql);
      return;
    } catch (error) {
      const isBusy = error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
      if (!isBusy || performance.now() > untilMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_POLL_MS);
    }
  }
}

/** Runs `read` in a transaction: it sees one state of the file, whatever is written meanwhile. */
export function reading<Value>(database: DatabaseSync, read: () => Value): Value {
  if (database.isTransaction) return read();
  database.exec('BEGIN');
  try {
    execLocking(database, 'SELECT 1 FROM sqlite_schema LIMIT 1');
    return read();
  } finally {
    database.exec('COMMIT');
  }
}

/** Differs when another file has taken the place of an open one; undefined when there is none. An update keeps it. */
export function fileIdentity(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** The version of the tables, raised when they change, and the rules by which the words of a file were made. */
const SCHEMA = `3-${ANALYSIS_HASH}`;

/** The column of an attribute in `facts`. Columns are numbered: no declared name becomes SQL. */
export interface FactColumn {
  readonly attribute: Attribute;
  /** Position of the attribute in the declaration; `labels.attribute` is this number. */
  readonly index: number;
  readonly name: string;
}

export function factColumnsOf(domain: SearchDomain): ReadonlyMap<string, FactColumn> {
  return new Map(
    domain.attributes.map((attribute, index) => [attribute.name, { attribute, index, name: `v${index}` }]),
  );
}

/**
 * - `documents`: the contents of a page; `attributes` is JSON as given.
 * - `facts`: the narrow table that filters, sorts and facets read for thousands of rows. It holds numbers only: texts as
 *   their codes in `labels`, dates as days since the epoch, and several values as such numbers with commas. Over 10 000
 *   documents with four values each, a table with a row for each value took 9 ms instead of 4.5 to count, and 8 instead of 9
 *   to filter.
 * - `labels`: the texts of each attribute; codes are in the order of their canonical text, `key`. `label` is the spelling of
 *   the first document, `first` its row, `documents` their number.
 * - `folded_ids`: the canonical form of ids that have another one, because the text of a search is canonical.
 * - `fts`: the words of each document and of its searched attributes, contentless. Its tokeniser splits at spaces only,
 *   because it takes every character beyond ASCII for a letter; `runsOf` of the analysis splits text into words. A row is
 *   taken away by FTS5's command `delete` with its words: `contentless_delete` would leave its length in the mean of bm25.
 * - `spellings`: words that stand for a phrase of documents, `wifi` for `wi fi`; `piece` is 1 where they are a part of it,
 *   `4060` for `rtx4060`. They are not in `fts`, where they would change the length of documents and so the ranks of other
 *   words. `documents` counts their occurrences.
 * - `words`: the vocabulary, with the number of documents of each word.
 */
export function createTables(database: DatabaseSync, domain: SearchDomain): void {
  const facts = [...factColumnsOf(domain).values()].map(
    ({ attribute, name }) => `, ${name} ${attribute.multiple === true ? 'TEXT' : SQL_TYPES[attribute.type]}`,
  );
  database.exec(`
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE documents (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, description TEXT NOT NULL,
      attributes TEXT NOT NULL
    );
    CREATE TABLE facts (n INTEGER PRIMARY KEY${facts.join('')});
    CREATE TABLE labels (
      attribute INTEGER, key TEXT, code INTEGER NOT NULL, label TEXT NOT NULL, first INTEGER NOT NULL,
      documents INTEGER NOT NULL, PRIMARY KEY (attribute, key)
    ) WITHOUT ROWID;
    CREATE TABLE folded_ids (folded TEXT, n INTEGER, PRIMARY KEY (folded, n)) WITHOUT ROWID;
    CREATE TABLE spellings (
      words TEXT, phrase TEXT, piece INTEGER, documents INTEGER NOT NULL, PRIMARY KEY (words, phrase, piece)
    ) WITHOUT ROWID;
    CREATE TABLE words (word TEXT PRIMARY KEY, documents INTEGER NOT NULL) WITHOUT ROWID;
    CREATE VIRTUAL TABLE fts USING fts5 (
      title, description, attributes, content = '', tokenize = "ascii tokenchars '${WORD_SIGNS}'"
    );
    INSERT INTO fts (fts, rank) VALUES ('hashsize', ${FTS_HASH_BYTES});
  `);
}

const SQL_TYPES = { string: 'INTEGER', integer: 'INTEGER', number: 'REAL', date: 'INTEGER' } as const;
const FTS_HASH_BYTES = 32 * 1024 * 1024;

export interface IndexMeta {
  readonly documents: number;
  /** Wall time in milliseconds since the epoch. */
  readonly builtAtMs: number;
  /** Differs between any two builds, and before and after an update that no feed of changes is told. */
  readonly build: string;
}

export function writeMeta(database: DatabaseSync, domain: SearchDomain, meta: IndexMeta): void {
  const insert = database.prepare('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)');
  const values = { schema: SCHEMA, attributes: declarationOf(domain), ...meta };
  for (const [name, value] of Object.entries(values)) insert.run(name, String(value));
}

/** @throws when the file is no index. */
export function metaValues(database: DatabaseSync): ReadonlyMap<string, string> {
  const rows = reading(database, () => database.prepare('SELECT name, value FROM meta').all());
  return new Map(rows.map(({ name, value }) => [String(name), String(value)]));
}

/** @throws IndexError when the file was built by another version or for other attributes. */
export function readMeta(database: DatabaseSync, file: string, domain: SearchDomain): IndexMeta {
  const rebuild = `rebuild it with: serpcache index ${domain.name} <file.ndjson|csv> (the demo's: remove it, and it is made again)`;
  let values: ReturnType<typeof metaValues>;
  try {
    values = metaValues(database);
  } catch (cause) {
    throw new IndexError('incompatible', `${file} is not a search index; ${rebuild}`, { cause });
  }
  if (values.get('schema') !== SCHEMA) {
    const found = values.get('schema') ?? 'unknown';
    const message = `${file} has index schema ${found}, this version reads ${SCHEMA}; ${rebuild}`;
    throw new IndexError('incompatible', message);
  }
  const [found, declared] = [values.get('attributes'), declarationOf(domain)];
  if (found !== declared) {
    const message = `${file} was built for the attributes ${found}, domain "${domain.name}" declares ${declared}; ${rebuild}`;
    throw new IndexError('incompatible', message);
  }
  return {
    documents: Number(values.get('documents')),
    builtAtMs: Number(values.get('builtAtMs')),
    build: values.get('build') ?? '',
  };
}

/**
 * Names and types in order, `[]` for several values, `?` where words find documents. Whether an attribute may be sorted or
 * counted does not change the file.
 */
function declarationOf(domain: SearchDomain): string {
  const declared = domain.attributes.map(
    ({ name, type, multiple, search }) =>
      `${name}:${type}${multiple === true ? '[]' : ''}${search === true ? '?' : ''}`,
  );
  return declared.join(', ') || 'none';
}
