import type { StatementSync } from 'node:sqlite';
import { FACET_VALUES, type FacetCount } from '../../search/page.ts';
import { isoDate } from './facts.ts';
import type { Column } from './schema.ts';

/**
 * Counts the values of several attributes over `matched`, in one pass. SQLite hands each column over as one JSON array:
 * for 10 000 rows and two facets that took 2 ms, a GROUP BY per facet 6 ms, and a row object per match 5 ms.
 */
export function countFacets(
  columns: readonly Column[],
  statements: (sql: string) => StatementSync,
): Readonly<Record<string, readonly FacetCount[]>> {
  const facets: Record<string, readonly FacetCount[]> = {};
  if (columns.length === 0) return facets;
  const arrays = columns.map(({ name }) => `json_group_array(${name}) AS ${name}`);
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

/** By falling count, then by value. */
function mostFrequent(values: readonly (number | null)[]): readonly (readonly [value: number, count: number])[] {
  const counts = new Map<number, number>();
  for (const value of values) {
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort(([a, many], [b, more]) => more - many || a - b).slice(0, FACET_VALUES);
}

function shown(
  { attribute, index }: Column,
  value: number,
  statements: (sql: string) => StatementSync,
): string | number {
  switch (attribute.type) {
    case 'string': {
      const sql = 'SELECT label FROM labels WHERE attribute = ? AND code = ?';
      return String(statements(sql).get(index, value)?.['label'] ?? '');
    }
    case 'integer':
    case 'number':
      return value;
    case 'date':
      return isoDate(value);
  }
}
