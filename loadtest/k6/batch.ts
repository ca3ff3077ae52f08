import { check } from 'k6';
import http from 'k6/http';
import { countRequest, countSearch } from './kit/metrics.ts';
import { parseCacheStatus, type Reply } from './kit/outcome.ts';
import { CHECK_NAMES, itemReplies, itemsOf } from './kit/page.ts';
import { itemOf } from './kit/queries.ts';
import { type IterationContext, script } from './kit/script.ts';
import { checkPage, paramsOf } from './kit/send.ts';
import { CALM_LIMITS, type StepWish } from './kit/step.ts';

/** A batch is as slow as the slowest of its searches, so no latency limit fits all sizes. */
const { maxErrorRate, abortErrorRate, shedsAllowed } = CALM_LIMITS;
const SIZES = [1, 5, 10, 25, 50];

export const { options, setup, watch, handleSummary, search } = script({
  name: 'batch',
  purpose: 'The same searches a second in batches of 1 to 50: what a batch saves, and what it keeps waiting.',
  slowSeconds: 1,
  steps: ({ baseRps, stepSeconds }) => {
    const of = (size: number): StepWish => ({
      name: `by-${size}`,
      title: size === 1 ? 'one search a request' : `${size} searches a request`,
      rampSeconds: 5,
      holdSeconds: stepSeconds(20),
      ratePerSecond: baseRps / size,
      searchesPerRequest: size,
      limits: { maxErrorRate, abortErrorRate, shedsAllowed },
    });
    // The warm-up has no limits and no name of a size, so that the first size does not pay for the others.
    const { limits, ...warm } = of(10);
    return [{ ...warm, name: 'warm', title: 'warming up' }, ...SIZES.map(of)];
  },
  send: sendBatch,
});

/** The replies to a batch with an unreadable body: the result of each search is unknown. */
const UNREADABLE: Reply = { status: 0, headers: {} };

/** Sends the searches of an iteration in one request, and counts the result of each. */
function sendBatch({ baseUrl, step, iteration, number, ask, shedsAllowed, isSampled }: IterationContext): void {
  const asks = Array.from({ length: step.searchesPerRequest }, (_, i) => ask(number + i));
  const body = JSON.stringify({ searches: asks.map(itemOf) });
  const reply = http.post(`${baseUrl}/msearch`, body, paramsOf('text', { 'content-type': 'application/json' }));
  countRequest(reply);
  const text = typeof reply.body === 'string' ? reply.body : '';
  const replies = reply.status === 200 ? itemReplies(text, asks.length) : undefined;
  // A refused batch is a refusal of each of its searches.
  const whole: Reply = reply.status === 200 ? UNREADABLE : reply;
  for (let i = 0; i < asks.length; i += 1) countSearch(replies?.[i] ?? whole, shedsAllowed);
  check(null, { 'the batch has an answer for each search': () => reply.status !== 200 || replies !== undefined });
  const at = iteration % asks.length;
  const sampled = asks[at];
  if (!isSampled || sampled === undefined || replies?.[at]?.status !== 200) return;
  const item = itemsOf(text)[at];
  const field = item?.['cacheStatus'];
  check(field, { [CHECK_NAMES.cacheStatus]: () => typeof field === 'string' && parseCacheStatus(field) !== undefined });
  checkPage(item?.['body'], sampled);
}

export default search;
