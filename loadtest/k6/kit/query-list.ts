import { SharedArray } from 'k6/data';
import { type OnceWords, onceWordsOf } from './once.ts';
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

/**
 * What searches asked once are made of, one copy for all virtual users, asked for word by word: of a list each would have
 * its own, and k6 with 600 of them looked through 0.4 MB more each whenever it collected garbage.
 */
export function sharedWords(queries: readonly Query[]): readonly OnceWords[] {
  const domains = new SharedArray<string>('domains', () => onceWordsOf(queries).map(({ domain }) => domain ?? ''));
  return Array.from(domains, (domain, i) => ({
    ...(domain === '' ? {} : { domain }),
    words: new SharedArray<string>(`words of ${domain}`, () => [...(onceWordsOf(queries)[i]?.words ?? [])]),
  }));
}
