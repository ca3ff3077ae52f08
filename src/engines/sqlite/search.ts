import type { StatementSync } from 'node:sqlite';
import type { ResultPage, SearchResult } from '../../search/page.ts';
import type { SearchRequest, Sort } from '../../search/request.ts';
import { type Expression, expressionOf, type Vocabulary } from './expression.ts';
import { countFacets } from './facets.ts';
import type { Column } from './schema.ts';
import { conditionOf, type Value } from './selection.ts';
import { snippetOf } from './snippet.ts';

export interface IndexSearchOptions {
  readonly statements: (sql: string) => StatementSync;
  readonly columns: ReadonlyMap<string, Column>;
  readonly snippetLength: number;
}

type Row = Readonly<Record<string, unknown>>;

/** A word in the title counts for this many in the description. */
const TITLE_WEIGHT = 5;

/**
 * One search over an open index. Every match is found and scored once, into the temporary table `matched`; total, page
 * and facets are then read from it. All SQL is made of numbered columns and bound parameters.
 */
export function createSearch({ statements, columns, snippetLength }: IndexSearchOptions) {
  const vocabulary: Vocabulary = {
    known: (words) => {
      const sql = 'SELECT word, documents FROM words WHERE word IN (SELECT value FROM json_each(?))';
      const rows = statements(sql).all(JSON.stringify(words));
      return new Map(rows.map((row) => [String(row['word']), Number(row['documents'])]));
    },
    beginningWith: (prefix, limit) =>
      statements('SELECT word FROM words WHERE word >= ? AND word < ? LIMIT ?')
        .all(prefix, `${prefix}\u{10ffff}`, limit)
        .map((row) => String(row['word'])),
  };

  return (request: SearchRequest): ResultPage => {
    const expression = expressionOf(request.text, vocabulary);
    const total = expression === undefined ? 0 : match(request, expression);
    const results = expression === undefined || total === 0 ? [] : resultsOf(request, expression);
    const facets =
      total === 0
        ? Object.fromEntries(request.facets.map((name) => [name, []]))
        : countFacets(request.facets.map(columnOf), statements);
    return { total, totalRelation: 'eq', results, facets };
  };

  /** Fills `matched`; how many there are. */
  function match(request: SearchRequest, { score, only }: Expression): number {
    statements('DELETE FROM matched').run();
    // Nobody sees a score that does not order the page, and scoring is most of the work.
    const isScored = request.sort.by === 'relevance';
    const conditions = ['fts MATCH ?'];
    const values: Value[] = [isScored ? score : (only ?? score)];
    if (isScored && only !== undefined) {
      // The + keeps SQLite from running the outer MATCH once for each row of the inner one.
      conditions.push('+fts.rowid IN (SELECT rowid FROM fts WHERE fts MATCH ?)');
      values.push(only);
    }
    for (const filter of request.filters) {
      const condition = conditionOf(filter, columnOf(filter.attribute));
      conditions.push(condition.sql);
      values.push(...condition.values);
    }
    const scored = isScored ? `-bm25(fts, ${TITLE_WEIGHT}, 1)` : '0';
    const from = request.filters.length === 0 ? 'fts' : 'fts CROSS JOIN facts ON facts.n = fts.rowid';
    const sql = `INSERT INTO matched (n, score) SELECT fts.rowid, ${scored} FROM ${from} WHERE ${conditions.join(' AND ')}`;
    return Number(statements(sql).run(...values).changes);
  }

  function resultsOf(request: SearchRequest, { terms }: Expression): readonly SearchResult[] {
    const { limit, page, highlight } = request;
    return statements(pageSql(request.sort))
      .all(limit, (page - 1) * limit)
      .map((row) => {
        const n = Number(row['n']);
        const document = rowOf('SELECT id, title, description, attributes FROM documents WHERE n = ?', n);
        return {
          id: String(document['id']),
          title: String(document['title']),
          snippet: snippetOf(String(document['description']), terms, { maxLength: snippetLength, highlight }),
          score: Math.round(Number(row['score']) * 10_000) / 10_000,
          attributes: JSON.parse(String(document['attributes'])) as SearchResult['attributes'],
        };
      });
  }

  /** Ties in the order of the catalogue; documents without the attribute last, whichever the direction. */
  function pageSql(sort: Sort): string {
    if (sort.by === 'relevance') return 'SELECT n, score FROM matched ORDER BY score DESC, n LIMIT ? OFFSET ?';
    const { name } = columnOf(sort.attribute);
    return `SELECT matched.n AS n, score FROM matched CROSS JOIN facts ON facts.n = matched.n
      ORDER BY ${name} IS NULL, ${name}${sort.descending ? ' DESC' : ''}, matched.n LIMIT ? OFFSET ?`;
  }

  function rowOf(sql: string, n: number): Row {
    const row = statements(sql).get(n);
    if (row === undefined) throw new Error(`the index has no row ${n}: the file is damaged`);
    return row;
  }

  function columnOf(name: string): Column {
    const column = columns.get(name);
    if (column === undefined) throw new Error(`attribute "${name}" is not declared`);
    return column;
  }
}
