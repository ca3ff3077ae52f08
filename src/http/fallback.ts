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
}

/** What answers when no route does: 404, 405 with `Allow`, and everything a route or Fastify itself throws. */
export function registerFallback(app: FastifyInstance, options: FallbackOptions): void {
  const { log, respond, onWrongMethod } = options;
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
      sendProblem(reply, respond({ code: 'not-found', detail: 'There is nothing at this path.' }, request.id));
      return;
    }
    onWrongMethod?.(request, path);
    const allow = [...allowed].sort().join(', ');
    const detail = `This path answers ${allow}.`;
    sendProblem(reply, respond({ code: 'method-not-allowed', detail, headers: { allow } }, request.id));
  });

  app.setErrorHandler((error, request, reply) => {
    sendProblem(reply, respond(refusalOf(error, request, options), request.id));
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
    sendProblem(reply, options.respond(problemOfFramework(error, options), request.id));
  };
}
