import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Compile } from 'typebox/compile';
import type { MissReason } from '../../cache/events.ts';
import type { Clock } from '../../runtime.ts';
import type { Answer } from '../../search/answer.ts';
import { REQUEST_PARAMETERS } from '../../search/domain.ts';
import type { Outcome } from '../../search/events.ts';
import type { PreparedSearch } from '../../search/key.ts';
import type { SearchParameters } from '../../search/query.ts';
import { runConcurrently } from '../../search/read-path.ts';
import type { Search } from '../../search/search.ts';
import type { Door } from '../transport/admission.ts';
import { problemOfFramework } from '../transport/app.ts';
import type { RequestEvent } from '../transport/events.ts';
import { CLIENT_CLOSED, outcomeOf } from '../transport/exchange.ts';
import {
  PROBLEMS,
  type Problem,
  type ProblemResponse,
  problemDocument,
  problemOf,
  Refusal,
  retryAfterSeconds,
  sendProblem,
  unknownField,
} from '../transport/problem.ts';
import { type RequestLog, traceIdOf } from '../transport/request-log.ts';
import { domainLabel, headerReader, MAX_PAIRS } from '../transport/request-target.ts';
import type { IdentityBodies } from './identity-bodies.ts';
import { cacheStatus, type FreshnessOptions, freshnessFields } from './response-headers.ts';
import { BatchAnswer, BatchEnvelope, batchBodySchema, CountedBatch, MAX_BATCH, PROBLEM_ANSWERS } from './schema.ts';

export interface MsearchRouteOptions {
  readonly search: Search;
  readonly door: Door;
  readonly observe: (event: RequestEvent) => void;
  readonly requestLog: RequestLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly identityBodies: IdentityBodies;
  readonly clientMaxAgeMs: (domain: string) => number;
  readonly maxBodyBytes: number;
  /** Of all pages of one answer, inflated: a stored page may be a thousandth of that. */
  readonly maxAnswerBytes: number;
  readonly respond: (problem: Problem, requestId: string) => ProblemResponse;
}

/** Pages of one batch inflated at once: the threads that do it. */
const INFLATED_AT_ONCE = 4;
/** Characters that are made canonical in one turn of the event loop, and the last item's: hits of /search wait behind. */
const TURN_CHARACTERS = 4096;
/** What a refused item counts for: to find the name that was meant takes as long as to make so many canonical. */
const REFUSAL_CHARACTERS = 512;

/** What became of one item, as far as counting goes. */
interface ItemEnd {
  readonly domain: string;
  readonly outcome: Outcome;
  readonly reason?: MissReason | undefined;
  readonly status: number;
  readonly key?: string;
  readonly bucket?: number;
  readonly code?: string;
  readonly error?: unknown;
  readonly bytes: readonly Buffer[];
}

/** `POST /msearch`: 1–50 searches, one answer with a status per item, in order. An item's failure is its own. */
export function registerMsearch(app: FastifyInstance, options: MsearchRouteOptions): void {
  const { search, door, observe, requestLog, clock, random, identityBodies, clientMaxAgeMs, maxBodyBytes, respond } =
    options;
  const counted = Compile(CountedBatch);
  const shape = Compile(BatchEnvelope);

  const count = (request: FastifyRequest, startedMs: number, ends: readonly Omit<ItemEnd, 'bytes'>[]): void => {
    const durationMs = clock.monotonicMs() - startedMs;
    for (const { domain, outcome, reason, status, key, bucket, code, error } of ends) {
      const counted = { ...(reason === undefined ? {} : { reason }), ...(bucket === undefined ? {} : { bucket }) };
      const event: RequestEvent = {
        kind: 'request',
        route: 'msearch',
        domain,
        outcome,
        ...counted,
        status,
        durationMs,
      };
      observe(event);
      if (!requestLog.wants(event)) continue;
      const traceId = traceIdOf(request.headers['traceparent']);
      requestLog.write(event, { requestId: request.id, traceId, key, code, error });
    }
  };

  const refused = (error: unknown, domain: string): ItemEnd => {
    const problem = problemOf(error);
    const outcome = outcomeOf(problem);
    const fault = problem.code === 'internal' ? { error } : {};
    const { status } = PROBLEMS[problem.code];
    return { domain, outcome, status, code: problem.code, ...fault, bytes: refusedItem(problem, outcome, random) };
  };

  const finished = async (prepared: PreparedSearch, result: Answer | Error, room: Room): Promise<ItemEnd> => {
    const { domain } = prepared.request;
    const { key, bucket } = prepared;
    if (result instanceof Error) return { ...refused(result, domain), key, bucket };
    try {
      if (room.leftBytes <= 0) throw new Refusal(TOO_LARGE);
      const identity = await identityBodies.of(result.entry);
      room.leftBytes -= identity.length;
      if (room.leftBytes < 0) throw new Refusal(TOO_LARGE);
      const bytes = answeredItem(result, identity, {
        clientMaxAgeMs: clientMaxAgeMs(domain),
        nowMs: clock.monotonicMs(),
      });
      return { domain, outcome: result.outcome, reason: result.reason, status: 200, key, bucket, bytes };
    } catch (error) {
      return { ...refused(error, domain), key, bucket };
    }
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const startedMs = clock.monotonicMs();
    const { body } = request;
    const extra = Object.keys(isObject(body) ? body : {}).find((name) => name !== 'searches');
    if (extra !== undefined) {
      const detail = unknownField(extra, ['searches']);
      throw new Refusal({ code: 'invalid-body', detail, parameter: `/${extra.slice(0, 64)}` });
    }
    if (!counted.Check(body)) throw new Refusal(shapeProblem(counted.Errors(body)[0]));
    if (!shape.Check(body)) throw new Refusal(shapeProblem(shape.Errors(body)[0]));
    const header = headerReader(request.headers);
    const prepared: (PreparedSearch | ItemEnd)[] = [];
    let characters = 0;
    for (const item of body.searches) {
      try {
        const pairs = pairsOf(item, search);
        characters += lengthOf(pairs);
        prepared.push(search.prepare({ pairs, header }));
      } catch (error) {
        prepared.push(refused(error, itemLabel(item, search)));
        characters += REFUSAL_CHARACTERS;
      }
      if (characters < TURN_CHARACTERS) continue;
      characters = 0;
      await nextTurn();
    }
    const asked = prepared.filter((each) => 'request' in each);
    const results = await door.searchMany(asked, request.raw).catch((error) => asked.map(() => error));
    const answered = results.values();
    const room: Room = { leftBytes: options.maxAnswerBytes };
    const ending = prepared.map((each) => {
      if (!('request' in each)) return () => Promise.resolve(each);
      const { value } = answered.next();
      return () => finished(each, value ?? new Error('searchMany gave fewer answers than it was asked for'), room);
    });
    const ends = (await runConcurrently(ending, INFLATED_AT_ONCE)).map((end) =>
      end.status === 'fulfilled' ? end.value : refused(end.reason, 'none'),
    );
    if (reply.raw.destroyed) {
      count(
        request,
        startedMs,
        ends.map(({ domain }) => ({ domain, outcome: 'aborted', status: CLIENT_CLOSED })),
      );
      return reply;
    }
    reply.headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
    reply.send(batchBody(ends.map(({ bytes }) => bytes)));
    count(request, startedMs, ends);
    return reply;
  };

  app.post('/msearch', {
    bodyLimit: maxBodyBytes,
    schema: {
      summary: `Up to ${MAX_BATCH} searches in one request`,
      tags: ['search'],
      body: batchBodySchema(search),
      response: { 200: BatchAnswer, ...PROBLEM_ANSWERS },
    },
    validatorCompiler: () => () => true,
    handler: answer,
    // What never became a batch is one refused request of no domain.
    errorHandler: (error, request, reply) => {
      const gone = reply.raw.destroyed || (request.raw.destroyed && !request.raw.complete);
      const problem = problemOfFramework(error, { maxBodyBytes });
      const { status } = PROBLEMS[problem.code];
      const fault = problem.code === 'internal' ? { error } : {};
      if (!gone) sendProblem(reply, respond(problem, request.id));
      const end = gone
        ? ({ outcome: 'aborted', status: CLIENT_CLOSED } as const)
        : { outcome: outcomeOf(problem), status, code: problem.code, ...fault };
      count(request, clock.monotonicMs(), [{ domain: 'none', ...end }]);
    },
  });
}

/** What the pages of one answer may still take. */
interface Room {
  leftBytes: number;
}

const TOO_LARGE: Problem = {
  code: 'busy',
  detail: 'The pages of this batch are too large together. Ask for this search in a request of its own.',
};

function isObject(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

function shapeProblem(fault: { readonly instancePath: string; readonly message: string } | undefined): Problem {
  const at = fault?.instancePath ?? '';
  const detail = `The body must be {"searches":[…]} with 1 to ${MAX_BATCH} searches; ${at || 'it'} ${fault?.message ?? ''}`;
  return { code: 'invalid-body', detail: `${detail.trim()}.`, ...(at === '' ? {} : { parameter: at }) };
}

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
