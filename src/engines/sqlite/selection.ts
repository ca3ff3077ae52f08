import type { Filter } from '../../search/request.ts';
import type { Column } from './schema.ts';

export type Value = string | number;

export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** A filter as SQL over `facts`. Lists travel as one JSON parameter, so that their length makes no new statement. */
export function conditionOf(filter: Filter, { name, index }: Column): Condition {
  switch (filter.kind) {
    case 'strings': {
      const codes = 'SELECT code FROM labels WHERE attribute = ? AND key IN (SELECT value FROM json_each(?))';
      return { sql: `facts.${name} IN (${codes})`, values: [index, JSON.stringify(filter.values)] };
    }
    case 'numbers':
      return {
        sql: `facts.${name} IN (SELECT value FROM json_each(?))`,
        values: [JSON.stringify(filter.values)],
      };
    case 'range': {
      const bounds: [sql: string, value: number][] = [];
      if (filter.from !== undefined) bounds.push([`facts.${name} >= ?`, filter.from]);
      if (filter.to !== undefined) bounds.push([`facts.${name} <= ?`, filter.to]);
      if (bounds.length === 0) return { sql: `facts.${name} IS NOT NULL`, values: [] };
      return { sql: bounds.map(([sql]) => sql).join(' AND '), values: bounds.map(([, value]) => value) };
    }
  }
}
