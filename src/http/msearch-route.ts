import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Compile } from 'typebox/compile';
import type { MissReason } from '../cache/reason.ts';
import type { Clock } from '../clock.ts';
import type { Answer, PreparedSearch } from '../search/answer.ts';
import type { Outcome } from '../search/outcome.ts';
import type { Search } from '../search/search.ts';
import { inTurns } from '../search/turns.ts';
import { answeredItem, batchBody, itemLabel, lengthOf, pairsOf, refusedItem } from './batch.ts';
import { PROBLEM_ANSWERS } from './described-answers.ts';
import type { Door } from './door.ts';
import type { RequestEvent } from './events.ts';
import { CLIENT_CLOSED, outcomeOf } from './exchange.ts';
import { problemOfFramework } from './framework-error.ts';
import type { IdentityBodies } from './identity-bodies.ts';
import { PROBLEMS, type Problem, problemOf, Refusal, unknownField } from './problem.ts';
import { type ProblemResponse, sendProblem } from './problem-response.ts';
import type { RequestLog } from './request-log.ts';
import { BatchAnswer, BatchEnvelope, batchBodySchema, CountedBatch, MAX_BATCH } from './schema.ts';
import { headerReader } from './target.ts';
import { traceIdOf } from './trace-context.ts';

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
    const ends = (await inTurns(ending, INFLATED_AT_ONCE)).map((end) =>
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
