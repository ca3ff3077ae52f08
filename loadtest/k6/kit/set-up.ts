import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import http from 'k6/http';
import { itemOf, type OnceWords, onceWordsOf } from './queries.ts';
import { parseQueries, type Query } from './query-file.ts';
import { paramsOf } from './send.ts';

/** The searches of the query file, with one copy as JSON for all virtual users. */
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
 * The words of once-only searches, with one copy for all virtual users and one shared array per domain: with a plain list
 * each user would have its own, and with 600 users k6 scanned 0.4 MB more per user in each garbage collection.
 */
export function sharedWords(queries: readonly Query[]): readonly OnceWords[] {
  const domains = new SharedArray<string>('domains', () => onceWordsOf(queries).map(({ domain }) => domain ?? ''));
  return Array.from(domains, (domain, i) => ({
    domain: domain || undefined,
    words: new SharedArray<string>(`words of ${domain}`, () => [...(onceWordsOf(queries)[i]?.words ?? [])]),
  }));
}

/** Ends the run if the address is not a ready serpcache: a mistyped address must not get load. */
export function checkReady(url: string): void {
  const reply = http.get(`${url}/readyz`, { responseType: 'text', timeout: '5s', redirects: 0 });
  const isOurs = typeof reply.body === 'string' && /^\{"status":"[a-z-]+","process":/.test(reply.body);
  if (reply.status === 0) exec.test.abort(`no answer at ${url}: ${reply.error}`);
  if (!isOurs) exec.test.abort(`${url} is not serpcache: GET /readyz answered ${reply.status}`);
  if (reply.status !== 200) exec.test.abort(`${url} is not ready: GET /readyz answered ${reply.status}`);
}

const PER_BATCH = 50;
/** The maximum of searches by page number. Frequent searches matter most; the others warm up under load. */
const MAX_BY_PAGE = [
  [1, 10_000],
  [2, 1500],
  [3, 1500],
] as const;
const MAX_WARM_UP_MS = 60_000;

/**
 * Asks for every search once, the most frequent first, in batches one after the other, so that the engine sets the pace.
 * The base URLs take turns: each process gets a part into its memory, and the store gets all.
 * @param isDeep also second and third pages.
 */
export function warmUp(baseUrls: readonly string[], queries: readonly Query[], isDeep: boolean): void {
  const untilMs = Date.now() + MAX_WARM_UP_MS;
  const params = { ...paramsOf('none', { 'content-type': 'application/json' }), tags: { name: 'warm-up' } };
  let batch = 0;
  for (const [page, max] of isDeep ? MAX_BY_PAGE : MAX_BY_PAGE.slice(0, 1)) {
    const count = Math.min(queries.length, max);
    for (let at = 0; at < count && Date.now() < untilMs; at += PER_BATCH) {
      const searches = [];
      for (let i = at; i < Math.min(count, at + PER_BATCH); i += 1) {
        const query = queries[i];
        if (query !== undefined) searches.push(itemOf({ ...query, q: query.text, page }));
      }
      const url = baseUrls[batch % baseUrls.length] ?? '';
      batch += 1;
      http.post(`${url}/msearch`, JSON.stringify({ searches }), params);
    }
  }
}
