import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { dateText } from '../../search/canonical.ts';
import type { Filter, SearchDomain, SearchRequest, Sort } from '../../search/domain.ts';
import { FACET_VALUES, type FacetCount, probeOf, type ResultPage, type SearchResult } from '../../search/engine.ts';
import { formsOf } from '../analysis/forms.ts';
import { type Expression, readingsOf, type Vocabulary } from './expression.ts';
import { type FactColumn, factColumnsOf, openFile, reading, readMeta } from './schema.ts';
import { snippetOf } from './snippet.ts';

export interface OpenIndexOptions {
  readonly file: string;
  readonly domain: SearchDomain;
  /** Maximum length of the text shown with each result, in characters. */
  readonly snippetLength: number;
}

const MAX_STATEMENTS = 64;
/** Page cache per thread. The file is not memory-mapped: that gained nothing, and truncating a mapped file kills the process. */
const CACHE_KIB = 8192;

export type OpenIndex = ReturnType<typeof openIndex>;

/**
 * An index open for reading, for one thread. Every call blocks that thread.
 * @throws IndexError that names the file and tells what to do.
 */
export function openIndex({ file, domain, snippetLength }: OpenIndexOptions) {
  const database = openFile(file);
  try {
    const meta = readMeta(database, file, domain);
    // `query_only` would also refuse the temporary table.
    database.exec(`
      PRAGMA cache_size = -${CACHE_KIB};
      PRAGMA temp_store = MEMORY;
      CREATE TEMP TABLE matched (n INTEGER PRIMARY KEY, score REAL NOT NULL);
    `);
    const statements = createStatementCache(database);
    const searchNow = createIndexSearch(statements, factColumnsOf(domain), snippetLength);
    const search = (request: SearchRequest): ResultPage => reading(database, () => searchNow(request));
    /** @returns the build that the file is now. @throws when a search in this index would fail. */
    const probe = (): string => {
      // The search for an empty page reads no document, so one is read here.
      search(probeOf(domain));
      reading(database, () => statements('SELECT n FROM documents LIMIT 1').all());
      return readMeta(database, file, domain).build;
    };
    /** Whether the index has a document with that id. */
    const holds = (id: string): boolean =>
      reading(database, () => statements('SELECT n FROM documents WHERE id = ?').get(id) !== undefined);
    return { meta, search, holds, probe, close: (): void => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

type Row = Readonly<Record<string, unknown>>;

/** More spellings of one word are different words that have a piece in common. */
const MAX_SPELLINGS = 32;
/** Weight of a word in the title, relative to a word in the description. */
const TITLE_WEIGHT = 5;

/**
 * One search over an open index. Every match is found and scored once, into the temporary table `matched`; total, page
 * and facets are then read from it. All SQL consists of numbered columns and bound parameters.
 */
function createIndexSearch(statements: Statements, columns: ReadonlyMap<string, FactColumn>, snippetLength: number) {
  return (request: SearchRequest): ResultPage => {
    const vocabulary = vocabularyOf(statements);
    statements('DELETE FROM matched').run();
    let total = 0;
    let terms: Expression['terms'] = [];
    for (const reading of readingsOf(request.text, vocabulary)) {
      total = match(request, reading);
      terms = reading.terms;
      if (total > 0) break;
    }
    if (total === 0) total = matchId(request);
    const facets = countFacets(request.facets.map(columnOf), statements);
    return { total, totalRelation: 'eq', results: resultsOf(request, terms), facets };
  };

  function match(request: SearchRequest, { score, only }: Expression): number {
    // A score that does not order the page is not computed: it is not shown, and scoring is most of the work.
    const isScored = request.sort.by === 'relevance';
    const also = isScored && only !== undefined ? [only] : [];
    // Without the + SQLite would run the outer MATCH once for each row of the inner one.
    const inner = also.map(() => '+fts.rowid IN (SELECT rowid FROM fts WHERE fts MATCH ?)');
    const scored = isScored ? `-bm25(fts, ${TITLE_WEIGHT})` : '0';
    const from = request.filters.length === 0 ? 'fts' : 'fts CROSS JOIN facts ON facts.n = fts.rowid';
    const values = [isScored ? score : (only ?? score), ...also];
    return fill(`fts.rowid, ${scored} FROM ${from}`, { sql: ['fts MATCH ?', ...inner].join(' AND '), values }, request);
  }

  /** A text that finds nothing else may be the id of a document. */
  function matchId(request: SearchRequest): number {
    const { text } = request;
    const byId = 'SELECT n FROM documents WHERE id = ? UNION ALL SELECT n FROM folded_ids WHERE folded = ?';
    const found = statements(byId).all(text, text);
    const values = [JSON.stringify(found.map(({ n }) => n))];
    return found.length === 0
      ? 0
      : fill('n, 0 FROM facts', { sql: 'n IN (SELECT value FROM json_each(?))', values }, request);
  }

  /** Fills `matched`, which is empty, with what the condition and all filters leave. @returns the number of matches */
  function fill(selected: string, condition: Condition, { filters }: SearchRequest): number {
    const all = [condition, ...filters.map((filter) => conditionOf(filter, columnOf(filter.attribute)))];
    const sql = `INSERT INTO matched (n, score) SELECT ${selected} WHERE ${all.map((each) => each.sql).join(' AND ')}`;
    return Number(statements(sql).run(...all.flatMap(({ values }) => values)).changes);
  }

  function resultsOf(request: SearchRequest, terms: Expression['terms']): readonly SearchResult[] {
    const { limit, page, highlight } = request;
    return statements(pageSql(request.sort))
      .all(limit, (page - 1) * limit)
      .map((row) => {
        const n = Number(row['n']);
        const document = statements('SELECT id, title, description, attributes FROM documents WHERE n = ?').get(n);
        if (document === undefined) throw new Error(`the index has no row ${n}: the file is damaged`);
        return {
          id: String(document['id']),
          title: String(document['title']),
          snippet: snippetOf(String(document['description']), terms, { maxLength: snippetLength, highlight }),
          score: Math.round(Number(row['score']) * 10_000) / 10_000,
          attributes: JSON.parse(String(document['attributes'])) as SearchResult['attributes'],
        };
      });
  }

  /** Ties are in the order of the catalogue; documents without the attribute are last in both directions. */
  function pageSql(sort: Sort): string {
    if (sort.by === 'relevance') return 'SELECT n, score FROM matched ORDER BY score DESC, n LIMIT ? OFFSET ?';
    const { name } = columnOf(sort.attribute);
    return `SELECT matched.n AS n, score FROM matched CROSS JOIN facts ON facts.n = matched.n
      ORDER BY ${name} IS NULL, ${name}${sort.descending ? ' DESC' : ''}, matched.n LIMIT ? OFFSET ?`;
  }

  function columnOf(name: string): FactColumn {
    const column = columns.get(name);
    if (column === undefined) throw new Error(`attribute "${name}" is not declared`);
    return column;
  }
}

/** The vocabulary as one search reads it. */
function vocabularyOf(statements: Statements): Vocabulary {
  const known = createWordReader(
    statements,
    'SELECT word, documents FROM json_each(?) CROSS JOIN words ON word = value',
    (row) => Number(row['documents']),
  );
  const spelt = createWordReader(
    statements,
    'SELECT words AS word, phrase, piece FROM json_each(?) CROSS JOIN spellings ON words = value ORDER BY piece LIMIT 1000',
    (row) => ({ phrase: String(row['phrase']), isPiece: row['piece'] === 1 }),
  );
  const forms = new Map<string, readonly string[]>();
  return {
    formsOf: (word) => {
      const made = forms.get(word) ?? formsOf(word);
      forms.set(word, made);
      return made;
    },
    known: (words) => {
      const read = known(words);
      return new Map(words.flatMap((word) => (read.get(word) ?? []).map((documents) => [word, documents])));
    },
    beginningWith: (prefix, limit) =>
      statements('SELECT word FROM words WHERE word >= ? AND word < ? LIMIT ?')
        .all(prefix, `${prefix}\u{10ffff}`, limit)
        .map((row) => String(row['word'])),
    spelt: (words, pieces) => {
      const read = spelt(words);
      const found = words.flatMap((word) => read.get(word) ?? []).filter(({ isPiece }) => pieces || !isPiece);
      return [...new Set(found.map(({ phrase }) => phrase))].slice(0, MAX_SPELLINGS);
    },
    matching: (expression, limit) => {
      const sql = 'SELECT count(*) AS documents FROM (SELECT 1 FROM fts WHERE fts MATCH ? LIMIT ?)';
      return Number(statements(sql).get(expression, limit)?.['documents']);
    },
  };
}

/** Reads what the index has about words, each word once in a search: a statement costs as much as fifty words. */
function createWordReader<T>(
  statements: Statements,
  sql: string,
  readRow: (row: Row) => T,
): (words: readonly string[]) => ReadonlyMap<string, readonly T[]> {
  const values = new Map<string, T[]>();
  return (words) => {
    const unread = [...new Set(words)].filter((word) => !values.has(word));
    for (const word of unread) values.set(word, []);
    const rows = unread.length === 0 ? [] : statements(sql).all(JSON.stringify(unread));
    for (const row of rows) values.get(String(row['word']))?.push(readRow(row));
    return values;
  };
}

/**
 * Counts the values of several attributes over `matched`, in one pass. SQLite returns each column as one JSON array:
 * for 10 000 rows and two facets that took 2 ms, a GROUP BY per facet 6 ms, and a row object per match 5 ms.
 */
function countFacets(
  columns: readonly FactColumn[],
  statements: Statements,
): Readonly<Record<string, readonly FacetCount[]>> {
  const facets: Record<string, readonly FacetCount[]> = {};
  if (columns.length === 0) return facets;
  const arrays = columns.map(({ attribute, name }) =>
    attribute.multiple === true
      ? `'[' || group_concat(${name}) || ']' AS ${name}`
      : `json_group_array(${name}) AS ${name}`,
  );
  const row = statements(`SELECT ${arrays.join(', ')} FROM matched CROSS JOIN facts ON facts.n = matched.n`).get();
  for (const column of columns) {
    const values = JSON.parse(String(row?.[column.name] ?? '[]')) as readonly (number | null)[];
    facets[column.attribute.name] = mostFrequent(values).map(([value, count]) => ({
      value: shown(column, value, statements),
      count,
    }));
  }
  return facets;
}

/** In order of falling count, then of value. */
function mostFrequent(values: readonly (number | null)[]): readonly (readonly [value: number, count: number])[] {
  const counts = new Map<number, number>();
  for (const value of values) {
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort(([a, many], [b, more]) => more - many || a - b).slice(0, FACET_VALUES);
}

function shown({ attribute, index }: FactColumn, value: number, statements: Statements): string | number {
  if (attribute.type === 'date') return dateText(value);
  if (attribute.type !== 'string') return value;
  const sql = 'SELECT label FROM labels WHERE attribute = ? AND code = ?';
  return String(statements(sql).get(index, value)?.['label'] ?? '');
}

type Value = string | number;

interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

function conditionOf(filter: Filter, column: FactColumn): Condition {
  const { attribute, name } = column;
  if (attribute.multiple !== true) return conditionOn(`facts.${name}`, filter, column);
  const { sql, values } = conditionOn('held.value', filter, column);
  return { sql: `EXISTS (SELECT 1 FROM json_each('[' || facts.${name} || ']') AS held WHERE ${sql})`, values };
}

/** The filter's values are one JSON parameter, so that their number does not change the statement. */
function conditionOn(value: string, filter: Filter, { index }: FactColumn): Condition {
  switch (filter.kind) {
    case 'strings': {
      const codes = 'SELECT code FROM labels WHERE attribute = ? AND key IN (SELECT value FROM json_each(?))';
      return { sql: `${value} IN (${codes})`, values: [index, JSON.stringify(filter.values)] };
    }
    case 'numbers':
      return { sql: `${value} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(filter.values)] };
    case 'range': {
      const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = filter;
      return { sql: `${value} BETWEEN ? AND ?`, values: [from, to] };
    }
  }
}

type Statements = ReturnType<typeof createStatementCache>;

/** Prepared statements by their SQL. Beyond the maximum the least recently used one is dropped. */
function createStatementCache(database: DatabaseSync) {
  const prepared = new Map<string, StatementSync>();
  return (sql: string): StatementSync => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.delete(sql);
    prepared.set(sql, statement);
    if (prepared.size > MAX_STATEMENTS) {
      const [oldest] = prepared.keys();
      if (oldest !== undefined) prepared.delete(oldest);
    }
    return statement;
  };
}
