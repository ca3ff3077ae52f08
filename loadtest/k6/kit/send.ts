import { check } from 'k6';
import http, { type RefinedParams, type ResponseType } from 'k6/http';
import { countRequest, countSearch } from './metrics.ts';
import { isHonestShed, parseCacheStatus, type Reply } from './outcome.ts';
import { answers, CHECK_NAMES, pageOf, parsed } from './page.ts';
import { type Ask, targetOf } from './queries.ts';

interface Sending {
  readonly shedsAllowed: boolean;
  /** Whether this body is checked: checking all of them would cost more than all other work of the generator. */
  readonly isSampled: boolean;
  /** Headers beside those of every search. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Longer than any deadline of the service: a request that takes this long was lost. */
const TIMEOUT = '15s';
const HEADERS = { 'accept-encoding': 'gzip' };

/** Made once: with some hundred virtual users, objects of an interpreter do not stay in the processor's cache. */
const QUIET = paramsOf('none');
const READ = paramsOf('text');
const CHECKS = {
  [CHECK_NAMES.answered]: (reply: Reply) => reply.status === 200 || isHonestShed(reply),
  [CHECK_NAMES.cacheStatus]: (reply: Reply) => reply.status !== 200 || parses(reply.headers['Cache-Status']),
};

export function sendSearch(baseUrl: string, ask: Ask, { shedsAllowed, isSampled, headers }: Sending): void {
  const params = headers === undefined ? (isSampled ? READ : QUIET) : paramsOf(isSampled ? 'text' : 'none', headers);
  const answer = http.get(baseUrl + targetOf(ask), params);
  // Read once: each access to a member of a k6 response goes through reflection.
  const reply: Reply = { status: answer.status, headers: answer.headers };
  countRequest(answer);
  countSearch(reply, shedsAllowed);
  check(reply, CHECKS);
  if (isSampled && reply.status === 200) checkPage(parsed(answer.body), ask);
}

/** Fields that parsed before, without their ttl: there are about a dozen, and parsing one takes 18 to 40 µs. */
const parsedBefore = new Set<string>();
const MAX_REMEMBERED = 200;
const TTL = /ttl=-?\d+/;

function parses(field: string | undefined): boolean {
  if (field === undefined) return false;
  const form = field.replace(TTL, 'ttl=0');
  if (parsedBefore.has(form)) return true;
  const isRight = parseCacheStatus(field) !== undefined;
  if (isRight && parsedBefore.size < MAX_REMEMBERED) parsedBefore.add(form);
  return isRight;
}

export function checkPage(body: unknown, ask: Ask): void {
  const page = pageOf(body);
  check(null, {
    [CHECK_NAMES.shape]: () => page !== undefined,
    [CHECK_NAMES.ofTheSearch]: () => page !== undefined && answers(page, ask),
  });
}

export function paramsOf<T extends ResponseType>(
  responseType: T,
  headers: Readonly<Record<string, string>> = {},
): RefinedParams<T> {
  // Redirects are not followed: load goes only to the named hosts.
  return {
    responseType,
    headers: { ...HEADERS, ...headers },
    timeout: TIMEOUT,
    redirects: 0,
    tags: { name: 'search' },
  };
}
