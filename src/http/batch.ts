import type { Answer } from '../search/answer.ts';
import { REQUEST_PARAMETERS } from '../search/domain.ts';
import type { Outcome } from '../search/outcome.ts';
import type { SearchParameters } from '../search/parameters.ts';
import type { Search } from '../search/search.ts';
import { cacheStatus } from './cache-status.ts';
import { type FreshnessOptions, freshnessFields } from './freshness.ts';
import { PROBLEMS, type Problem, problemDocument, Refusal, unknownField } from './problem.ts';
import { retryAfterSeconds } from './problem-response.ts';
import { MAX_PAIRS } from './query-string.ts';
import { domainLabel } from './target.ts';

/**
 * Characters of one item, all values together: what the longest URL that may be configured carries. An item is made
 * canonical in one turn of the event loop.
 */
const MAX_ITEM_CHARACTERS = 16 * 1024;

type BatchItem = Readonly<Record<string, unknown>>;

/**
 * One item of a batch → the name/value pairs its URL would have had. Scalars mean what their text means in a URL.
 * Context that only other domains declare is ignored, so that one client can send it for all; any other unknown member
 * is refused, because a misspelt one would silently give another page.
 * @throws Refusal `invalid-body` for an unknown member, for one of another type, and for too many or too long values.
 */
export function pairsOf(item: BatchItem, search: Search): SearchParameters['pairs'] {
  const label = itemLabel(item, search);
  const context = search.domains.find(({ name }) => name === label)?.context ?? [];
  const declared = context.filter(({ source }) => source === 'query').map(({ name }) => name);
  const known = [...REQUEST_PARAMETERS, ...declared];
  const unknown = Object.keys(item).find((name) => !known.includes(name) && contextSource(name, search) !== 'query');
  if (unknown !== undefined) throw unknownMember(unknown, known, contextSource(unknown, search));
  const members = known.map((name) => {
    const pairs = memberPairs(item, name);
    if (pairs === undefined) throw wrongType(name);
    return { name, pairs };
  });
  const pairs = members.flatMap((member) => member.pairs);
  if (pairs.length > MAX_PAIRS) {
    const longest = members.reduce((most, each) => (each.pairs.length > most.pairs.length ? each : most));
    const detail = `A search may carry at most ${MAX_PAIRS} values, each one of a list counted; this has ${pairs.length}.`;
    throw new Refusal({ code: 'invalid-body', detail, parameter: longest.name });
  }
  const characters = lengthOf(pairs);
  if (characters > MAX_ITEM_CHARACTERS) {
    const longest = members.reduce((most, each) => (lengthOf(each.pairs) > lengthOf(most.pairs) ? each : most));
    const detail = `A search may carry values of at most ${MAX_ITEM_CHARACTERS} characters together; this has ${characters}.`;
    throw new Refusal({ code: 'invalid-body', detail, parameter: longest.name });
  }
  return pairs;
}

/** Characters of all values together. */
export function lengthOf(pairs: SearchParameters['pairs']): number {
  return pairs.reduce((sum, [, value]) => sum + value.length, 0);
}

/** The domain an item is counted under, see `domainLabel`. */
export function itemLabel(item: BatchItem, search: Search): string {
  return domainLabel(search, memberPairs(item, 'domain'));
}

/** Undefined: neither a scalar nor a list of scalars. */
function memberPairs(item: BatchItem, name: string): SearchParameters['pairs'] | undefined {
  if (!Object.hasOwn(item, name)) return [];
  const values = [item[name]].flat();
  return values.every(isScalar) ? values.map((value) => [name, String(value)]) : undefined;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** How the configuration lets a context parameter be sent, in whichever domain declares it. */
function contextSource(name: string, { domains }: Search): 'query' | 'header' | undefined {
  return domains.flatMap(({ context }) => context).find((declared) => declared.name === name)?.source;
}

function unknownMember(name: string, known: readonly string[], source: 'query' | 'header' | undefined): Refusal {
  const detail = source === 'header' ? `${name} is sent as a request header.` : unknownField(name, known);
  return new Refusal({ code: 'invalid-body', detail, parameter: name.slice(0, 64) });
}

function wrongType(name: string): Refusal {
  const list = name === 'filter' || name === 'facet' ? ', or a list of those' : '';
  const detail = `${name} must be a string, a number or a boolean${list}.`;
  return new Refusal({ code: 'invalid-body', detail, parameter: name });
}

/**
 * An answered item: its facts, then the stored page spliced in as the bytes it is, never parsed.
 * `{"status":200,"outcome":"hit-l2","cacheStatus":"…","etag":"…","age":0,"body":{…}}`
 */
export function answeredItem(answer: Answer, identity: Buffer, freshness: FreshnessOptions): readonly Buffer[] {
  const facts = JSON.stringify({
    status: 200,
    outcome: answer.outcome,
    cacheStatus: cacheStatus(answer),
    ...(answer.reason === undefined ? {} : { reason: answer.reason }),
    etag: `"${answer.entry.etag}"`,
    age: freshnessFields(answer, freshness).age,
  });
  return [Buffer.from(`${facts.slice(0, -1)},"body":`), identity, Buffer.from('}')];
}

/** `{"status":503,"outcome":"shed","retryAfter":2,"problem":{…}}` */
export function refusedItem(problem: Problem, outcome: Outcome, random: () => number): readonly Buffer[] {
  const { status } = PROBLEMS[problem.code];
  const { retryAfterMs } = problem;
  const retry = retryAfterMs === undefined ? {} : { retryAfter: retryAfterSeconds(retryAfterMs, random) };
  return [Buffer.from(JSON.stringify({ status, outcome, ...retry, problem: problemDocument(problem) }))];
}

/** `{"results":[…]}` */
export function batchBody(items: readonly (readonly Buffer[])[]): Buffer {
  const parts = items.flatMap((item, i) => (i === 0 ? item : [Buffer.from(','), ...item]));
  return Buffer.concat([Buffer.from('{"results":['), ...parts, Buffer.from(']}')]);
}
