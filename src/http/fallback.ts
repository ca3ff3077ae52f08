import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { problemOfFramework } from './framework-error.ts';
import { PROBLEMS, type Problem } from './problem.ts';
import { type ProblemResponse, sendProblem } from './problem-response.ts';

export interface FallbackOptions {
  readonly log: Logger;
  readonly maxBodyBytes: number;
  readonly respond: (problem: Problem, requestId: string) => ProblemResponse;
  /** Told of every path that exists but not for this method. */
  readonly onWrongMethod?: (request: FastifyRequest, path: string) => void;
  /** Told of every request that is answered with a problem here, before the answer. */
  readonly onRefused?: (request: IncomingMessage, problem: Problem) => void;
}

/** What answers when no route does: 404, 405 with `Allow`, and everything a route or Fastify itself throws. */
export function registerFallback(app: FastifyInstance, options: FallbackOptions): void {
  const { log, onWrongMethod } = options;
  const refuse = (request: FastifyRequest, reply: FastifyReply, problem: Problem): void =>
    refuseWith(options, request, reply, problem);
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const each of [method].flat()) known.add(each);
    methods.set(url, known);
  });

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = methods.get(path);
    if (allowed === undefined || allowed.has(request.method)) {
      refuse(request, reply, { code: 'not-found', detail: 'There is nothing at this path.' });
      return;
    }
    onWrongMethod?.(request, path);
    const allow = [...allowed].sort().join(', ');
    const detail = `This path answers ${allow}.`;
    refuse(request, reply, { code: 'method-not-allowed', detail, headers: { allow } });
  });

  app.setErrorHandler((error, request, reply) => {
    refuse(request, reply, refusalOf(error, request, options));
  });

  const refusalOf = (error: unknown, request: FastifyRequest, { maxBodyBytes }: FallbackOptions): Problem => {
    const problem = problemOfFramework(error, { maxBodyBytes });
    if (PROBLEMS[problem.code].status === 500) log.error({ requestId: request.id, err: error }, 'a route failed');
    return problem;
  };
}

/** For Fastify's `frameworkErrors`: what it refuses before a route is found. */
export function frameworkRefusal(options: FallbackOptions) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    refuseWith(options, request, reply, problemOfFramework(error, options));
  };
}

function refuseWith(options: FallbackOptions, request: FastifyRequest, reply: FastifyReply, problem: Problem): void {
  options.onRefused?.(request.raw, problem);
  sendProblem(reply, options.respond(problem, request.id));
}
