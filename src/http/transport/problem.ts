import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { nearest } from '../../config/faults.ts';
import { OperationRefused, type RefusalCode } from '../../control/operation-error.ts';
import { type InvalidCode, InvalidSearch, SearchError, type SearchErrorCode } from '../../search/search-error.ts';
import { EVERY_ANSWER } from './app.ts';
import { answerRawTarget } from './request-target.ts';

/** Refusals that http itself decides, before or beside a search. */
export type HttpCode =
  | 'invalid-url'
  | 'invalid-request'
  | 'invalid-body'
  | 'unauthorized'
  | 'wrong-token'
  | 'too-many-tokens'
  | 'token-not-set'
  | 'cross-site'
  | 'not-found'
  | 'busy'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'request-timeout'
  | 'body-too-large'
  | 'url-too-long'
  | 'unsupported-media-type'
  | 'expectation-failed'
  | 'headers-too-large'
  | 'internal';

export type ProblemCode = InvalidCode | SearchErrorCode | RefusalCode | HttpCode;

/** The one table from a code to its status and title. */
export const PROBLEMS: Readonly<Record<ProblemCode, { readonly status: number; readonly title: string }>> = {
  'invalid-query': { status: 400, title: 'Invalid query' },
  'unknown-domain': { status: 404, title: 'Unknown domain' },
  'invalid-page': { status: 400, title: 'Invalid page' },
  'invalid-sort': { status: 400, title: 'Invalid sort' },
  'invalid-filter': { status: 400, title: 'Invalid filter' },
  'invalid-facet': { status: 400, title: 'Invalid facet' },
  'invalid-highlight': { status: 400, title: 'Invalid highlight' },
  'invalid-context': { status: 400, title: 'Invalid context parameter' },
  'over-budget': { status: 429, title: 'Too many searches beyond the cache' },
  overloaded: { status: 503, title: 'Overloaded' },
  'engine-open': { status: 503, title: 'Search engine is recovering' },
  'engine-deadline': { status: 504, title: 'Search engine was too slow' },
  'engine-unavailable': { status: 503, title: 'Search engine is unavailable' },
  'engine-rejected': { status: 502, title: 'Search engine refused the query' },
  // 409: the request was fine, the state of things does not allow it.
  'unknown-plan': { status: 404, title: 'Unknown plan' },
  'unknown-drill': { status: 404, title: 'Unknown drill' },
  'unknown-report': { status: 404, title: 'Unknown report' },
  'unknown-warm-up': { status: 404, title: 'Unknown warm-up' },
  'invalid-fraction': { status: 400, title: 'Invalid fraction' },
  'invalid-plan': { status: 400, title: 'Invalid plan' },
  'reason-required': { status: 400, title: 'Reason required' },
  'control-full': { status: 409, title: 'List is full' },
  'drill-running': { status: 409, title: 'A drill is running' },
  'drill-over': { status: 409, title: 'The drill is over' },
  'warm-up-running': { status: 409, title: 'A warm-up is running' },
  'erasure-running': { status: 409, title: 'An erasure is running' },
  halted: { status: 409, title: 'Drills are halted' },
  'not-dedicated': { status: 409, title: 'Store is not dedicated' },
  'hypothesis-failed': { status: 409, title: 'Hypothesis fails already' },
  'no-store': { status: 409, title: 'Domain has no store' },
  'control-unavailable': { status: 503, title: 'Control document is out of reach' },
  'invalid-url': { status: 400, title: 'Invalid URL' },
  'invalid-request': { status: 400, title: 'Invalid request' },
  'invalid-body': { status: 400, title: 'Invalid body' },
  unauthorized: { status: 401, title: 'Token required' },
  'wrong-token': { status: 401, title: 'Wrong token' },
  'too-many-tokens': { status: 429, title: 'Too many wrong tokens' },
  'token-not-set': { status: 403, title: 'Changes are off' },
  'cross-site': { status: 403, title: 'Request from another site' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'not-acceptable': { status: 406, title: 'No acceptable content coding' },
  'request-timeout': { status: 408, title: 'Request came too slowly' },
  'body-too-large': { status: 413, title: 'Body too large' },
  'url-too-long': { status: 414, title: 'URL too long' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'expectation-failed': { status: 417, title: 'Expectation failed' },
  'headers-too-large': { status: 431, title: 'Header fields too large' },
  busy: { status: 503, title: 'Too busy' },
  internal: { status: 500, title: 'Internal error' },
};

/** What an RFC 9457 answer says; status and title follow from the code. */
export interface Problem {
  readonly code: ProblemCode;
  /** What was wrong and what is allowed, for the person who reads it. */
  readonly detail: string;
  /** The offending parameter: a query parameter's name, or a JSON pointer into a body. */
  readonly parameter?: string;
  /** When asking again may help, before jitter. */
  readonly retryAfterMs?: number;
  /** Fields the status requires: `allow`, `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A problem that has to be thrown to get out. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** Anything thrown → what the client is told. An unknown error tells the client nothing about our insides. */
export function problemOf(error: unknown): Problem {
  if (error instanceof InvalidSearch) {
    return { code: error.code, detail: error.message, parameter: error.parameter };
  }
  if (error instanceof SearchError) {
    const detail = error.code === 'over-budget' ? OVER_BUDGET : error.message;
    return { code: error.code, detail, retryAfterMs: error.retryAfterMs };
  }
  if (error instanceof OperationRefused) {
    const { code, message, parameter } = error;
    return {
      code,
      detail: message,
      // What operators ask for comes in bodies; the rooms below know it by the option's name.
      ...(parameter === undefined ? {} : { parameter: parameter.startsWith('/') ? parameter : `/${parameter}` }),
      ...(code === 'control-unavailable' ? { retryAfterMs: CONTROL_RETRY_MS } : {}),
    };
  }
  if (error instanceof Refusal) return error.problem;
  return { code: 'internal', detail: 'The service failed to answer; the fault is ours and is logged.' };
}

const CONTROL_RETRY_MS = 1000;

const OVER_BUDGET =
  'This client has had its share of the engine for now. Pages in the cache are free and still served: ask those, or wait.';

/** The detail for a field that a closed body does not have. @param pointer as the client wrote it, or its JSON pointer. */
export function unknownField(pointer: string, known: readonly string[]): string {
  const shown = pointer.length > 64 ? `${pointer.slice(0, 64)}…` : pointer;
  const near = nearest(pointer.slice(pointer.lastIndexOf('/') + 1), known);
  const list = `nown here are ${known.join(', ')}.`;
  return `There is no field ${shown}; ${near === undefined ? 'k' : `did you mean ${near}? K`}${list}`;
}

/** The members of the `application/problem+json` document, in reading order. */
export function problemDocument(problem: Problem): Record<string, unknown> {
  const { status, title } = PROBLEMS[problem.code];
  return {
    type: `urn:problem-type:serpcache:${problem.code}`,
    title,
    status,
    detail: problem.detail,
    code: problem.code,
    ...(problem.parameter === undefined ? {} : { parameter: problem.parameter }),
  };
}

export interface ProblemResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** The whole answer to a refused request; the same on every listener and every way of sending. */
export function problemResponse(
  problem: Problem,
  requestId: string | undefined,
  random: () => number,
): ProblemResponse {
  const body = Buffer.from(`${JSON.stringify(problemDocument(problem))}\n`);
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'content-length': String(body.length),
    'cache-control': 'no-store',
    ...EVERY_ANSWER,
    ...problem.headers,
  };
  if (requestId !== undefined) headers['x-request-id'] = requestId;
  if (problem.retryAfterMs !== undefined)
    headers['retry-after'] = String(retryAfterSeconds(problem.retryAfterMs, random));
  return { status: PROBLEMS[problem.code].status, headers, body };
}

/** From once to twice the time asked for, in whole seconds: a crowd that was refused together must not return together. */
export function retryAfterSeconds(retryAfterMs: number, random: () => number): number {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return seconds + Math.floor(random() * (seconds + 1));
}

export function writeProblem(response: ServerResponse, { status, headers, body }: ProblemResponse): void {
  response.writeHead(status, headers);
  response.end(body);
}

export function sendProblem(reply: FastifyReply, { status, headers, body }: ProblemResponse): void {
  reply.code(status).headers(headers).send(body);
}

/**
 * Answers what node's parser refused before there was a request: a broken request line, headers that overflow, a half
 * request that never went on. It is the sender's fault, so it is never an error in the log.
 */
export function createClientErrorHandler(options: {
  readonly log: Logger;
  readonly random: () => number;
  /** Gives the server a connection that is not from its listener. */
  readonly connect: (stream: Duplex) => void;
  /** Told of each request that did not arrive in time. */
  readonly onSlow: () => void;
}): (error: Error, socket: Duplex) => void {
  /** Already being answered: what their parsers still complain about is of no interest. */
  const answered = new WeakSet<Duplex>();

  return (error, socket) => {
    if (answered.has(socket)) return;
    const { code = 'unknown', rawPacket } = error as NodeJS.ErrnoException & { readonly rawPacket?: Buffer };
    options.log.debug({ fault: code }, 'unreadable request');
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') options.onSlow();
    // A reply under way on this connection must not get another one in its middle.
    const busy = (socket as { readonly _httpMessage?: { readonly headersSent: boolean } | null })._httpMessage;
    if (code === 'ECONNRESET' || !socket.writable || busy?.headersSent) {
      socket.destroy();
      return;
    }
    if (code === 'HPE_INVALID_URL' && !busy && answerRawTarget(options.connect, socket, rawPacket)) {
      answered.add(socket);
      return;
    }
    const { status, headers, body } = problemResponse(problemOfParser(code), undefined, options.random);
    const fields = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\n${fields.join('')}\r\n${body}`;
    socket.end(text, () => socket.destroy());
  };
}

const REASONS: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

function problemOfParser(code: string): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'headers-too-large', detail: 'The request line and header fields together are too large.' };
    case 'HPE_INVALID_URL':
      return {
        code: 'invalid-url',
        detail: 'A URL has printable ASCII only; anything else must be percent-encoded UTF-8.',
      };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'body-too-large', detail: 'The extensions of a chunk are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request-timeout', detail: 'The request did not arrive in time.' };
    default:
      return { code: 'invalid-request', detail: 'The bytes received are not an HTTP/1.1 request.' };
  }
}
