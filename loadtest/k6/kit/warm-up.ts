import http from 'k6/http';
import { itemOf } from './batch-item.ts';
import type { Query } from './query-file.ts';
import { paramsOf } from './send.ts';

const PER_BATCH = 50;
/** What is asked most matters most; the rest warms up under load. First pages of these, … */
const MOST_SEARCHES = 10_000;
/** … and the pages that are looked at beside them, of these. */
const MOST_DEEP = 1500;
const DEEP_PAGES = [2, 3];
const BOUND_MS = 60_000;

/**
 * Every search once, the most frequent first, in batches, one after the other: the engine computes them at its own pace.
 * Through every base URL in turn, so that each process has a part in its memory and the store has all.
 * @param isDeep second and third pages are asked for as well.
 */
export function warmUp(baseUrls: readonly string[], queries: readonly Query[], isDeep: boolean): void {
  const untilMs = Date.now() + BOUND_MS;
  const params = { ...paramsOf('none', { 'content-type': 'application/json' }), tags: { name: 'warm-up' } };
  let batch = 0;
  const warm = (count: number, page: number): void => {
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
  };
  warm(Math.min(queries.length, MOST_SEARCHES), 1);
  if (isDeep) for (const page of DEEP_PAGES) warm(Math.min(queries.length, MOST_DEEP), page);
}
