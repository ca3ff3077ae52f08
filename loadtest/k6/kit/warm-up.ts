import http from 'k6/http';
import { itemOf } from './batch-item.ts';
import type { Query } from './query-file.ts';
import { paramsOf } from './send.ts';

const PER_BATCH = 50;
/** What is asked most matters most; the rest warms up under load. */
const MOST_SEARCHES = 10_000;
const BOUND_MS = 60_000;

/**
 * The first page of every search, most frequent first, in batches, one after the other: the engine computes them at its
 * own pace. Through every base URL in turn, so that each process has a part in its memory and the store has all.
 */
export function warmUp(baseUrls: readonly string[], queries: readonly Query[]): void {
  const untilMs = Date.now() + BOUND_MS;
  const count = Math.min(queries.length, MOST_SEARCHES);
  for (let at = 0; at < count && Date.now() < untilMs; at += PER_BATCH) {
    const searches = [];
    for (let i = at; i < Math.min(count, at + PER_BATCH); i += 1) {
      const query = queries[i];
      if (query !== undefined) searches.push(itemOf({ ...query, q: query.text, page: 1 }));
    }
    const url = baseUrls[(at / PER_BATCH) % baseUrls.length] ?? '';
    const params = paramsOf('none', { 'content-type': 'application/json' });
    http.post(`${url}/msearch`, JSON.stringify({ searches }), { ...params, tags: { name: 'warm-up' } });
  }
}
