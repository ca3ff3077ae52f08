import type { DatabaseSync } from 'node:sqlite';
import type { Attribute, Document, SearchDomain } from '../../search/domain.ts';
import { IndexError } from './engine.ts';
import { WORD_SIGNS } from './expression.ts';
import type { Labels } from './labels.ts';

/** Raised whenever a file built before would answer differently or not at all: tables, tokeniser, folding. */
export const SCHEMA_VERSION = 1;

/** Where an attribute lives in `facts`. Columns are numbered: no declared name ever becomes SQL. */
export interface Column {
  readonly attribute: Attribute;
  /** Which attribute, in the order of the declaration: what `labels` calls it. */
  readonly index: number;
  readonly name: string;
}

export function columnsOf(domain: SearchDomain): ReadonlyMap<string, Column> {
  return new Map(
    domain.attributes.map((attribute, index) => [attribute.name, { attribute, index, name: `v${index}` }]),
  );
}

/**
 * - `documents`: what a page shows; `attributes` is JSON as given.
 * - `facts`: the narrow table that filters, sorts and facets read for thousands of rows, so it holds numbers only: text
 *   as its code in `labels`, dates in days since the epoch.
 * - `labels`: the texts of each attribute; codes are in the order of their canonical text, `key`.
 * - `fts`: the words of each document, contentless. Its tokeniser splits at spaces only, as it takes every character
 *   beyond ASCII for a letter: what a word is was decided in words.ts.
 * - `words`: the vocabulary, with the number of documents of each word.
 */
export function createTables(database: DatabaseSync, domain: SearchDomain): void {
  const facts = [...columnsOf(domain).values()].map(({ attribute, name }) => `, ${name} ${SQL_TYPES[attribute.type]}`);
  database.exec(`
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE documents (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, description TEXT NOT NULL,
      attributes TEXT NOT NULL
    );
    CREATE TABLE facts (n INTEGER PRIMARY KEY${facts.join('')});
    CREATE TABLE labels (
      attribute INTEGER NOT NULL, code INTEGER NOT NULL, key TEXT NOT NULL, label TEXT NOT NULL,
      PRIMARY KEY (attribute, code)
    ) WITHOUT ROWID;
    CREATE TABLE words (word TEXT PRIMARY KEY, documents INTEGER NOT NULL) WITHOUT ROWID;
    CREATE VIRTUAL TABLE fts USING fts5 (
      title, description, content = '', tokenize = "ascii tokenchars '${WORD_SIGNS}'"
    );
    INSERT INTO fts (fts, rank) VALUES ('hashsize', ${FTS_HASH_BYTES});
  `);
}

const SQL_TYPES = { string: 'INTEGER', integer: 'INTEGER', number: 'REAL', date: 'INTEGER' } as const;
const FTS_HASH_BYTES = 32 * 1024 * 1024;

export interface IndexMeta {
  readonly documents: number;
  /** Wall time in milliseconds, as given to the build. */
  readonly builtAtMs: number;
  /** Differs between any two builds. */
  readonly build: string;
}

export function writeMeta(database: DatabaseSync, domain: SearchDomain, meta: IndexMeta): void {
  const insert = database.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
  insert.run('schema', String(SCHEMA_VERSION));
  insert.run('attributes', declarationOf(domain));
  insert.run('documents', String(meta.documents));
  insert.run('builtAtMs', String(meta.builtAtMs));
  insert.run('build', meta.build);
}

/** @throws IndexError when the file was built by another version or for other attributes. */
export function readMeta(database: DatabaseSync, file: string, domain: SearchDomain): IndexMeta {
  const rebuild = `rebuild it with: serpcache index ${domain.name} <file.ndjson|csv> (the demo's: remove it, and it is made anew)`;
  let rows: readonly Record<string, unknown>[];
  try {
    rows = database.prepare('SELECT name, value FROM meta').all();
  } catch (cause) {
    throw new IndexError('incompatible', file, `${file} is not a search index; ${rebuild}`, { cause });
  }
  const values = new Map(rows.map((row) => [String(row['name']), String(row['value'])]));
  if (values.get('schema') !== String(SCHEMA_VERSION)) {
    const found = values.get('schema') ?? 'unknown';
    const message = `${file} has index schema ${found}, this version reads ${SCHEMA_VERSION}; ${rebuild}`;
    throw new IndexError('incompatible', file, message);
  }
  if (values.get('attributes') !== declarationOf(domain)) {
    const message =
      `${file} was built for the attributes ${values.get('attributes')}, domain "${domain.name}" declares ` +
      `${declarationOf(domain)}; ${rebuild}`;
    throw new IndexError('incompatible', file, message);
  }
  return {
    documents: Number(values.get('documents')),
    builtAtMs: Number(values.get('builtAtMs')),
    build: values.get('build') ?? '',
  };
}

/** Names and types in order. Whether an attribute may be sorted or counted changes nothing in the file. */
function declarationOf(domain: SearchDomain): string {
  return domain.attributes.map(({ name, type }) => `${name}:${type}`).join(', ') || 'none';
}

/**
 * A document's attributes as `facts` holds them, in the order of its columns; null where one is missing.
 * @throws naming the attribute that is not declared or not of its type.
 */
export function factsOf(document: Document, columns: readonly Column[], labels: Labels): readonly (number | null)[] {
  const { attributes } = document;
  const declared = columns.filter(({ attribute }) => attributes[attribute.name] !== undefined);
  if (declared.length !== Object.keys(attributes).length) {
    const names = new Set(declared.map(({ attribute }) => attribute.name));
    const stray = Object.keys(attributes).filter((name) => !names.has(name));
    throw new Error(`attribute "${stray.join('", "')}" is not declared for this domain`);
  }
  return columns.map((column) => {
    const given = attributes[column.attribute.name];
    return given === undefined ? null : factOf(column, given, labels);
  });
}

const MS_PER_DAY = 86_400_000;

export function isoDate(days: number): string {
  return new Date(days * MS_PER_DAY).toISOString().slice(0, 10);
}

function factOf(column: Column, given: string | number, labels: Labels): number | null {
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
      if (!Number.isInteger(days) || isoDate(days) !== given) throw refuse('a date as YYYY-MM-DD');
      return days;
    }
  }
}
