import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { PROBLEMS, type Problem, problemDocument } from './problem.ts';
import { EVERY_ANSWER } from './security-headers.ts';

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
