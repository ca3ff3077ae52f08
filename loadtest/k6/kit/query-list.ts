import { SharedArray } from 'k6/data';
import { parseQueries, type Query } from './query-file.ts';

/** k6 keeps one copy for all virtual users, as JSON. */
export function readQueries(): readonly Query[] {
  const path = __ENV['QUERIES'];
  if (!path) throw new Error('QUERIES is missing; allowed: a file with one search a line, the most frequent first');
  const absolute = path.startsWith('/') ? path : `${__ENV['PWD'] ?? '.'}/${path}`;
  return new SharedArray('queries', () => [...parseQueries(open(absolute))]);
}

/** In the order of the file. */
export function domainsOf(queries: readonly Query[]): readonly string[] {
  return [...new Set(queries.map(({ domain }) => domain ?? ''))].filter((domain) => domain !== '');
}
