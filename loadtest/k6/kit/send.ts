import { check } from 'k6';
import http, { type RefinedParams, type Response, type ResponseType } from 'k6/http';
import { parseCacheStatus } from './cache-status.ts';
import { CHECK_NAMES } from './checks.ts';
import { parsed } from './json.ts';
import {
  connectionsOpened,
  countOutcome,
  dishonest,
  errors,
  errorsTotal,
  hits,
  searchDuration,
  searches,
} from './metrics.ts';
import type { SeenOutcome } from './outcome.ts';
import { answers, pageOf } from './page.ts';
import { type Ask, targetOf } from './queries.ts';
import { isHonestShed, outcomeOf, type Reply } from './reply.ts';

export interface Sending {
  readonly shedsAllowed: boolean;
  /** Whether this body is looked at: reading all of them would cost more than all else the generator does. */
  readonly isSampled: boolean;
  /** Headers beside those every search has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Longer than any deadline of the service: whoever waits this long was forgotten. */
const BOUND = '15s';
const HEADERS = { 'accept-encoding': 'gzip' };

/** Made once: with some hundred virtual users nothing an interpreter does stays in the processor's cache. */
const QUIET = paramsOf('none');
const READ = paramsOf('text');
const CHECKS = {
  [CHECK_NAMES.answered]: (reply: Reply) => reply.status === 200 || isHonestShed(reply),
  [CHECK_NAMES.cacheStatus]: (reply: Reply) => reply.status !== 200 || parses(reply.headers['Cache-Status']),
};

/** Asks for one page and books how that ended. */
export function sendSearch(baseUrl: string, ask: Ask, sending: Sending): SeenOutcome {
  const { isSampled, headers } = sending;
  const params = headers === undefined ? (isSampled ? READ : QUIET) : paramsOf(isSampled ? 'text' : 'none', headers);
  const answer = http.get(baseUrl + targetOf(ask), params);
  // What k6 gives is asked for once each: every look goes through its reflection.
  const reply: Reply = { status: answer.status, headers: answer.headers };
  const outcome = outcomeOf(reply);
  time(answer);
  book(outcome, reply, sending.shedsAllowed);
  check(reply, CHECKS);
  if (isSampled && reply.status === 200) checkPage(parsed(answer.body), ask);
  return outcome;
}

/** Fields that were right before, whatever was left to live: there are a dozen, and reading one costs 18 to 40 µs. */
const parsedBefore = new Set<string>();
const MOST_REMEMBERED = 200;
const REST_OF_LIFE = /ttl=-?\d+/;

function parses(field: string | undefined): boolean {
  if (field === undefined) return false;
  const form = field.replace(REST_OF_LIFE, 'ttl=0');
  if (parsedBefore.has(form)) return true;
  const isRight = parseCacheStatus(field) !== undefined;
  if (isRight && parsedBefore.size < MOST_REMEMBERED) parsedBefore.add(form);
  return isRight;
}

/** @param body of one page, parsed. */
export function checkPage(body: unknown, ask: Ask): void {
  const page = pageOf(body);
  check(null, {
    [CHECK_NAMES.shape]: () => page !== undefined,
    [CHECK_NAMES.ofTheSearch]: () => page !== undefined && answers(page, ask),
  });
}

/** Once a request. */
export function time({ timings }: Response): void {
  const { duration, connecting, tls_handshaking: securing } = timings;
  searchDuration.add(duration + connecting + securing);
  if (connecting > 0) connectionsOpened.add(1);
}

/** Counts one search. What is an error depends on whether this run means to overload. */
export function book(outcome: SeenOutcome, reply: Reply, shedsAllowed: boolean): void {
  const isPage = reply.status === 200;
  const honest = !isPage && isHonestShed(reply);
  const isError = !isPage && !(shedsAllowed && honest);
  searches.add(1);
  countOutcome(outcome);
  errors.add(isError);
  if (isError) errorsTotal.add(1);
  hits.add(outcome === 'hit-l1' || outcome === 'hit-l2');
  if (reply.status >= 500 && !honest) dishonest.add(1);
}

export function paramsOf<T extends ResponseType>(
  responseType: T,
  headers: Readonly<Record<string, string>> = {},
): RefinedParams<T> {
  // Elsewhere this load has no business.
  return { responseType, headers: { ...HEADERS, ...headers }, timeout: BOUND, redirects: 0, tags: { name: 'search' } };
}
