import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { OPERATION_PROBLEMS } from '../../control/operation-error.ts';
import { SEARCH_PROBLEMS } from '../../resilience/search-error.ts';

/**
 * The one table of problem codes: status and title. The rows of a search without a page come from resilience/search-error.ts,
 * those of refused operations from control/operation-error.ts.
 */
export const PROBLEMS = {
  // Searches.
  'invalid-query': { status: 400, title: 'Invalid query' },
  'unknown-domain': { status: 404, title: 'Unknown domain' },
  'invalid-page': { status: 400, title: 'Invalid page' },
  'invalid-sort': { status: 400, title: 'Invalid sort' },
  'invalid-filter': { status: 400, title: 'Invalid filter' },
  'invalid-facet': { status: 400, title: 'Invalid facet' },
  'invalid-highlight': { status: 400, title: 'Invalid highlight' },
  'invalid-context': { status: 400, title: 'Invalid context parameter' },
  ...SEARCH_PROBLEMS,
  ...OPERATION_PROBLEMS,
  // Requests.
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
  'request-timeout': { status: 408, title: 'Request came too slowly' },
  'precondition-failed': { status: 412, title: 'Precondition failed' },
  'body-too-large': { status: 413, title: 'Body too large' },
  'url-too-long': { status: 414, title: 'URL too long' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'expectation-failed': { status: 417, title: 'Expectation failed' },
  'headers-too-large': { status: 431, title: 'Header fields too large' },
  internal: { status: 500, title: 'Internal error', outcome: 'failed' },
} as const satisfies Readonly<Record<string, ProblemFacts>>;

interface ProblemFacts {
  readonly status: number;
  readonly title: string;
  /** How a search that ends so is counted. Default: `rejected`. */
  readonly outcome?: 'rejected' | 'shed' | 'failed';
}

type ProblemCode = keyof typeof PROBLEMS;

/** The content of an RFC 9457 document. Status and title follow from the code. */
export interface Problem {
  readonly code: ProblemCode;
  /** For a person: what was wrong and what is allowed. */
  readonly detail: string;
  /** The wrong parameter: the name of a query parameter, or a JSON pointer into a body. */
  readonly parameter?: string;
  /** The lines of a body that are wrong. */
  readonly refused?: readonly { readonly line: number; readonly detail: string }[];
  /** When a retry may succeed, before jitter. */
  readonly retryAfterMs?: number;
  /** Fields that the status requires: `allow`, `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A problem that can be thrown. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export type ProblemResponse = ReturnType<typeof problemResponse>;

/** Header fields of every answer of both listeners: no browser guesses a type. */
export const EVERY_ANSWER = { 'x-content-type-options': 'nosniff' } as const;

/** The members of the `application/problem+json` document, in reading order. */
export function problemDocument(problem: Problem): Record<string, unknown> {
  const { status, title } = PROBLEMS[problem.code];
  return {
    type: `urn:problem-type:serpcache:${problem.code}`,
    title,
    status,
    detail: problem.detail,
    code: problem.code,
    parameter: problem.parameter,
    refused: problem.refused,
  };
}

/** The complete answer to a refused request, the same on both listeners. */
export function problemResponse(problem: Problem, requestId: string | undefined, random: () => number) {
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

/** Retry-After in whole seconds: a random value from one to two times `retryAfterMs`, so that refused clients return apart. */
export function retryAfterSeconds(retryAfterMs: number, random: () => number): number {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return seconds + Math.floor(random() * (seconds + 1));
}

interface ProblemWriter {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  end(body: Buffer): unknown;
}

export function writeProblem(response: ProblemWriter, { status, headers, body }: ProblemResponse): void {
  response.writeHead(status, headers);
  response.end(body);
}

export function sendProblem(reply: FastifyReply, { status, headers, body }: ProblemResponse): void {
  reply.code(status).headers(headers).send(body);
}
