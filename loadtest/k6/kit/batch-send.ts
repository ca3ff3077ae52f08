import { check } from 'k6';
import http from 'k6/http';
import { itemOf } from './batch-item.ts';
import { itemReplies, itemsOf } from './batch-reply.ts';
import { parseCacheStatus } from './cache-status.ts';
import { CHECK_NAMES } from './checks.ts';
import { outcomeOf, type Reply } from './reply.ts';
import type { IterationScene } from './script.ts';
import { book, checkPage, paramsOf, time } from './send.ts';

/** A batch that was answered with something else: nothing is known of any of its searches. */
const UNREADABLE: Reply = { status: 0, headers: {} };

/** Asks for as many pages as the step wants in one request, and books how each of them ended. */
export function sendBatch({ baseUrl, step, iteration, number, ask, isSampled }: IterationScene): void {
  const asks = Array.from({ length: step.searchesPerRequest }, (_, i) => ask(number + i));
  const body = JSON.stringify({ searches: asks.map(itemOf) });
  const reply = http.post(`${baseUrl}/msearch`, body, paramsOf('text', { 'content-type': 'application/json' }));
  time(reply);
  const text = typeof reply.body === 'string' ? reply.body : '';
  const replies = reply.status === 200 ? itemReplies(text, asks.length) : undefined;
  // A batch that was refused as a whole is as many refused searches.
  const whole: Reply = reply.status === 200 ? UNREADABLE : reply;
  const shedsAllowed = step.limits?.shedsAllowed === true;
  for (let i = 0; i < asks.length; i += 1) {
    const one = replies?.[i] ?? whole;
    book(outcomeOf(one), one, shedsAllowed);
  }
  check(null, { 'the batch has an answer for each search': () => reply.status !== 200 || replies !== undefined });
  const at = iteration % asks.length;
  const looked = asks[at];
  if (!isSampled || looked === undefined || replies?.[at]?.status !== 200) return;
  const item = itemsOf(text)[at];
  const field = item?.['cacheStatus'];
  check(field, { [CHECK_NAMES.cacheStatus]: () => typeof field === 'string' && parseCacheStatus(field) !== undefined });
  checkPage(item?.['body'], looked);
}
