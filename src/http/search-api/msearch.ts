import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Compile } from 'typebox/compile';
import { isMapping } from '../../schema/read.ts';
import { REQUEST_PARAMETERS, type SearchDomain } from '../../search/domain.ts';
import type { SearchedDomain } from '../../search/domain-search.ts';
import { type PreparedSearch, prepareSearch } from '../../search/key.ts';
import type { Outcome } from '../../search/outcome.ts';
import type { SearchParameters } from '../../search/query.ts';
import type { Answer, SearchClient } from '../../search/read-path.ts';
import { MAX_BATCH, runConcurrently } from '../../search/read-path.ts';
import { formatTraceparent, type Span } from '../../search/trace.ts';
import { problemOf, unknownField } from '../problems.ts';
import type { App } from '../transport/app.ts';
import type { Reviver } from '../transport/json-body.ts';
import {
  PROBLEMS,
  type Problem,
  problemDocument,
  Refusal,
  retryAfterSeconds,
  sendProblem,
} from '../transport/problem.ts';
import { headerReader, MAX_PAIRS } from '../transport/request-target.ts';
import {
  ABORTED,
  beginServerSpan,
  type CountedSearch,
  domainLabel,
  type Ending,
  endServerSpan,
  refusedEnding,
} from './exchange.ts';
import { BatchAnswer, BatchEnvelope, batchBodySchema, CountedBatch, PROBLEM_ANSWERS } from './openapi.ts';
import { ageSeconds, cacheStatus } from './response-headers.ts';
import type { SearchHandlerOptions } from './search-handler.ts';

interface MsearchRouteOptions
  extends Pick<SearchHandlerOptions, 'domains' | 'clientOf' | 'count' | 'clock' | 'random' | 'pageBodies' | 'tracer'> {
  readonly maxBodyBytes: number;
  /** Limit on all pages of one answer, inflated: a stored page may be a thousandth of its inflated size. */
  readonly maxAnswerBytes: number;
  readonly app: Pick<App, 'problemOf' | 'respond'>;
}

/** Maximum number of pages of one batch that are inflated at once: the thread pool has this number of threads. */
const INFLATED_AT_ONCE = 4;
/** Number of characters after which the batch yields to the event loop: hits of /search wait for each turn to end. */
const TURN_CHARACTERS = 4096;
/** A refused item counts as this number of characters: finding the nearest known name for its message takes as long. */
const REFUSAL_CHARACTERS = 512;

/** The result of one item. */
interface ItemEnd {
  readonly search: CountedSearch;
  readonly ending: Ending;
  readonly bytes: readonly Buffer[];
}

/** `POST /msearch`: 1–50 searches, one answer with a status per item, in order. A failed item fails alone. */
export function registerMsearch(app: FastifyInstance, options: MsearchRouteOptions): void {
  const { domains, clientOf, clock, random, pageBodies, maxBodyBytes, tracer } = options;
  const { problemOf: problemOfRoute, respond } = options.app;
  const counted = Compile(CountedBatch);
  const shape = Compile(BatchEnvelope);

  const count = (
    request: FastifyRequest,
    { startedMs, span }: { readonly startedMs: number; readonly span?: Span | undefined },
    ends: readonly Omit<ItemEnd, 'bytes'>[],
  ): void => {
    const durationMs = clock.monotonicMs() - startedMs;
    const from = { requestId: request.id, request: request.raw };
    for (const { search: item, ending } of ends) options.count({ ...item, span }, ending, durationMs, from);
  };

  const refused = (error: unknown, item: CountedSearch): ItemEnd => {
    const problem = problemOf(error);
    const ending = refusedEnding(problem, error);
    return { search: item, ending, bytes: refusedItem(problem, ending.outcome, random) };
  };

  const finished = async (prepared: PreparedSearch, result: Answer | Error, room: Room): Promise<ItemEnd> => {
    const { key, bucket, request } = prepared;
    const item: CountedSearch = { route: 'msearch', domain: request.domain, key, bucket };
    if (result instanceof Error) return refused(result, item);
    try {
      if (room.leftBytes <= 0) throw new Refusal(TOO_LARGE);
      const identity = await pageBodies.of(result.entry);
      room.leftBytes -= identity.length;
      if (room.leftBytes < 0) throw new Refusal(TOO_LARGE);
      const bytes = answeredItem(result, identity, clock.monotonicMs());
      return { search: item, ending: { outcome: result.outcome, reason: result.reason, status: 200 }, bytes };
    } catch (error) {
      return refused(error, item);
    }
  };

  /** The spans of the requests that are being answered. */
  const spans = new WeakMap<FastifyRequest, Span>();

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const span = beginServerSpan(tracer, '/msearch', request.raw);
    if (span !== undefined) {
      spans.set(request, span);
      reply.header('traceresponse', formatTraceparent(span));
    }
    const begun = { startedMs: clock.monotonicMs(), span };
    const { body } = request;
    const extra = Object.keys(isMapping(body) ? body : {}).find((name) => name !== 'searches');
    if (extra !== undefined) {
      const detail = unknownField(extra, ['searches']);
      throw new Refusal({ code: 'invalid-body', detail, parameter: `/${extra.slice(0, 64)}` });
    }
    if (!counted.Check(body)) throw new Refusal(shapeProblem(counted.Errors(body)[0]));
    if (!shape.Check(body)) throw new Refusal(shapeProblem(shape.Errors(body)[0]));
    const header = headerReader(request.headers);
    const prepared: (PreparedSearch<SearchedDomain> | ItemEnd)[] = [];
    let characters = 0;
    for (const item of body.searches) {
      try {
        const pairs = pairsOf(item, domains);
        characters += lengthOf(pairs);
        prepared.push(prepareSearch({ pairs, header }, domains));
      } catch (error) {
        prepared.push(refused(error, { route: 'msearch', domain: itemLabel(item, domains) }));
        characters += REFUSAL_CHARACTERS;
      }
      if (characters < TURN_CHARACTERS) continue;
      characters = 0;
      await nextTurn();
    }
    const asked = prepared.filter((each) => 'request' in each);
    const results = await searchAll(asked, clientOf(request.raw, span));
    const room: Room = { leftBytes: options.maxAnswerBytes };
    const ending = prepared.map((each) => {
      if (!('request' in each)) return () => each;
      return () => finished(each, results.get(each) as Answer | Error, room);
    });
    const ends = await runConcurrently(ending, INFLATED_AT_ONCE);
    if (reply.raw.destroyed) {
      count(
        request,
        begun,
        ends.map(({ search: { route, domain } }) => ({ search: { route, domain }, ending: ABORTED })),
      );
      span?.end({ 'http.response.status_code': ABORTED.status, 'serpcache.outcome': ABORTED.outcome });
      return reply;
    }
    reply.headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
    reply.send(batchBody(ends.map(({ bytes }) => bytes)));
    count(request, begun, ends);
    span?.end({ 'http.response.status_code': 200, 'serpcache.searches': ends.length });
    return reply;
  };

  app.post('/msearch', {
    bodyLimit: maxBodyBytes,
    config: { revive: withDigits },
    schema: {
      summary: `Up to ${MAX_BATCH} searches in one request`,
      tags: ['search'],
      body: batchBodySchema(domains),
      response: { 200: BatchAnswer, ...PROBLEM_ANSWERS },
    },
    validatorCompiler: () => () => true,
    handler: answer,
    // A request that is not a batch counts as one refused search without a domain.
    errorHandler: (error, request, reply) => {
      const gone = reply.raw.destroyed || (request.raw.destroyed && !request.raw.complete);
      const problem = problemOfRoute(error);
      if (!gone) sendProblem(reply, respond(problem, request.id));
      const ending = gone ? ABORTED : refusedEnding(problem, error);
      const span = spans.get(request);
      count(request, { startedMs: clock.monotonicMs(), span }, [
        { search: { route: 'msearch', domain: 'none' }, ending },
      ]);
      if (span !== undefined) endServerSpan(span, { route: 'msearch', domain: 'none' }, ending);
    },
  });
}

/** Each search in its own domain. @returns the result of every one */
async function searchAll(
  many: readonly PreparedSearch<SearchedDomain>[],
  client: SearchClient,
): Promise<ReadonlyMap<PreparedSearch, Answer | Error>> {
  const results = new Map<PreparedSearch, Answer | Error>();
  const perDomain = [...Map.groupBy(many, ({ domain }) => domain)];
  await Promise.all(
    perDomain.map(async ([domain, own]) => {
      const settled = await domain.searchMany(own, client);
      for (const [i, prepared] of own.entries()) results.set(prepared, settled[i] as Answer | Error);
    }),
  );
  return results;
}

/** The bytes that are left for the pages of one answer. */
interface Room {
  leftBytes: number;
}

const TOO_LARGE: Problem = {
  code: 'busy',
  detail: 'The pages of this batch are too large together. Ask for this search in a request of its own.',
};

function shapeProblem(fault: { readonly instancePath: string; readonly message: string } | undefined): Problem {
  const at = fault?.instancePath ?? '';
  const detail = `The body must be {"searches":[…]} with 1 to ${MAX_BATCH} searches; ${at || 'it'} ${fault?.message ?? ''}`;
  return { code: 'invalid-body', detail: `${detail.trim()}.`, parameter: at || undefined };
}

/**
 * Maximum number of characters of one item, all values together: as many as the longest URL that may be configured. An
 * item is canonicalised in one turn of the event loop.
 */
const MAX_ITEM_CHARACTERS = 16 * 1024;

/**
 * A number is searched by its digits: `JSON.parse` makes 9007199254740992 of 9007199254740993, 1.1 of 1.10 and Infinity of
 * 1e400. `page` and `limit` are numbers, however they are written.
 */
const withDigits: Reviver = (name, value, context) =>
  typeof value === 'number' && name !== 'page' && name !== 'limit' ? (context?.source ?? value) : value;

type BatchItem = Readonly<Record<string, unknown>>;
type Domains = readonly SearchDomain[];

/**
 * One item of a batch → the name/value pairs that its URL would have. A scalar means the same as its text in a URL. Context
 * that only other domains declare is ignored, so that a client can send it with every item; any other unknown member is
 * refused, because a misspelt one would silently give another page.
 * @throws Refusal `invalid-body` for an unknown member, for one of another type, and for too many or too long values.
 */
export function pairsOf(item: BatchItem, domains: Domains): SearchParameters['pairs'] {
  const label = itemLabel(item, domains);
  const context = domains.find(({ name }) => name === label)?.context ?? [];
  const declared = context.filter(({ source }) => source === 'query').map(({ name }) => name);
  const known = [...REQUEST_PARAMETERS, ...declared];
  const unknown = Object.keys(item).find((name) => !known.includes(name) && contextSource(name, domains) !== 'query');
  if (unknown !== undefined) throw unknownMember(unknown, known, contextSource(unknown, domains));
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

/** Number of characters of all values together. */
function lengthOf(pairs: SearchParameters['pairs']): number {
  return pairs.reduce((sum, [, value]) => sum + value.length, 0);
}

/** The domain an item is counted under, see `domainLabel`. */
function itemLabel(item: BatchItem, domains: Domains): string {
  return domainLabel(domains, memberPairs(item, 'domain'));
}

const SCALARS = ['string', 'number', 'boolean'];

/** Undefined: neither a scalar nor a list of scalars. */
function memberPairs(item: BatchItem, name: string): SearchParameters['pairs'] | undefined {
  if (!Object.hasOwn(item, name)) return [];
  const values = [item[name]].flat();
  return values.every((value) => SCALARS.includes(typeof value))
    ? values.map((value) => [name, String(value)])
    : undefined;
}

/** How a context parameter is sent, by the first domain that declares it; undefined when none does. */
function contextSource(name: string, domains: Domains): 'query' | 'header' | undefined {
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
 * An answered item: its facts, then the bytes of the stored page, which is never parsed.
 * `{"status":200,"outcome":"hit-l2","cacheStatus":"…","etag":"…","age":0,"body":{…}}`
 */
function answeredItem(answer: Answer, identity: Buffer, nowMs: number): readonly Buffer[] {
  const facts = JSON.stringify({
    status: 200,
    outcome: answer.outcome,
    cacheStatus: cacheStatus(answer),
    reason: answer.reason,
    etag: `"${answer.entry.etag}"`,
    age: ageSeconds(answer.entry, nowMs),
  });
  return [Buffer.from(`${facts.slice(0, -1)},"body":`), identity, Buffer.from('}')];
}

/** `{"status":503,"outcome":"shed","retryAfter":2,"problem":{…}}` */
function refusedItem(problem: Problem, outcome: Outcome, random: () => number): readonly Buffer[] {
  const { status } = PROBLEMS[problem.code];
  const { retryAfterMs } = problem;
  const retryAfter = retryAfterMs === undefined ? undefined : retryAfterSeconds(retryAfterMs, random);
  return [Buffer.from(JSON.stringify({ status, outcome, retryAfter, problem: problemDocument(problem) }))];
}

/** `{"results":[…]}` */
function batchBody(items: readonly (readonly Buffer[])[]): Buffer {
  const parts = items.flatMap((item, i) => (i === 0 ? item : [Buffer.from(','), ...item]));
  return Buffer.concat([Buffer.from('{"results":['), ...parts, Buffer.from(']}')]);
}
