import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../runtime.ts';
import { createHeldBytes, type HeldBytes, holdBodies } from './buffer-budget.ts';
import { createConnections } from './connections.ts';
import type { ConnectionEvent } from './events.ts';
import { parseJsonBody } from './json-body.ts';
import {
  createDrain,
  createListener,
  DEFAULT_LIMITS,
  type Drain,
  type DrainResult,
  type ListenerLimits,
  type ListenerTls,
} from './listener.ts';
import {
  createClientErrorHandler,
  PROBLEMS,
  type Problem,
  type ProblemResponse,
  problemOf,
  problemResponse,
  sendProblem,
  writeProblem,
} from './problem.ts';
import { checkLength } from './request-target.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Refuses a URL that is too long itself, in its own words; for every other route the listener does. */
    readonly refusesLongUrls?: boolean;
    /** The name of the route's change in the audit. */
    readonly action?: string;
    /** The route changes nothing although its method is not GET: a successful request leaves no audit line. */
    readonly looks?: true;
    /** The route costs an engine call although its method is GET: it needs the token as a change does. */
    readonly spends?: true;
  }
}

export interface AppOptions {
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly requestId: (given: string | string[] | undefined) => string;
  readonly limits: Pick<ListenerLimits, 'maxUrlBytes' | 'maxConnections'> & Partial<ListenerLimits>;
  /** Absent: plain HTTP. */
  readonly tls?: ListenerTls;
  readonly maxBodyBytes: number;
  readonly lameDuckMs: number;
  readonly drainMs: number;
  /** Takes a request before Fastify sees it; false leaves it to Fastify. */
  readonly first?: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly onWrongMethod?: FallbackOptions['onWrongMethod'];
  readonly onRefused?: FallbackOptions['onRefused'];
  /** Told of every request whose header has arrived, refused ones too, before anything else. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
  readonly observeConnection?: (event: ConnectionEvent) => void;
}

export interface App {
  readonly fastify: FastifyInstance;
  readonly drain: Drain;
  readonly held: HeldBytes;
  readonly respond: FallbackOptions['respond'];
  readonly listen: (address: { readonly host: string; readonly port: number }) => Promise<string>;
  /** Graceful, see drain.ts; idempotent. */
  readonly close: () => Promise<DrainResult>;
}

/** What both listeners share: Fastify on a bounded listener, problem documents for every error, a graceful close. */
export function createApp(options: AppOptions): App {
  const { log, clock, random, requestId, maxBodyBytes, first } = options;
  const limits: ListenerLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const observe = options.observeConnection ?? (() => {});
  const held = createHeldBytes({
    maxBytes: limits.maxHeldBytes,
    onCut: () => observe({ kind: 'connection', what: 'held' }),
  });
  const respond = (problem: Problem, id: string) => problemResponse(problem, id, random);
  const fallback: FallbackOptions = {
    log,
    maxBodyBytes,
    respond,
    ...(options.onWrongMethod === undefined ? {} : { onWrongMethod: options.onWrongMethod }),
    ...(options.onRefused === undefined ? {} : { onRefused: options.onRefused }),
  };
  const refuse = (problem: Problem) => (request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
    options.onRequest?.(request, response);
    options.onRefused?.(request, problem);
    writeProblem(response, respond(problem, requestId(request.headers['x-request-id'])));
  };

  let server: Server | undefined;
  const fastify = Fastify({
    serverFactory: (handler) => {
      const handle = (request: IncomingMessage, response: ServerResponse): void => {
        if (!connections.admits(request, response)) return;
        options.onRequest?.(request, response);
        if (drain.hangingUp()) response.shouldKeepAlive = false;
        if (first === undefined || !first(request, response)) handler(request, response);
      };
      server = createListener(limits, handle, refuse, options.tls);
      return server;
    },
    logger: false,
    genReqId: (request) => requestId(request.headers['x-request-id']),
    clientErrorHandler: createClientErrorHandler({
      log,
      random,
      // Inside TLS what is read is plain already: for the HTTP parser, not for another handshake.
      connect: (stream) => server?.emit(options.tls === undefined ? 'connection' : 'secureConnection', stream),
      onSlow: () => observe({ kind: 'connection', what: 'slow' }),
    }),
    frameworkErrors: frameworkRefusal(fallback),
    bodyLimit: maxBodyBytes,
    // While draining, what still arrives on a living connection is answered like any other request.
    return503OnClosing: false,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 200, querystringParser: () => ({}) },
  });
  if (server === undefined) throw new Error('Fastify made no server');
  const { maxConnections, maxPerAddress } = limits;
  const connections = createConnections({
    ...{ server, maxConnections, observe },
    ...(maxPerAddress === undefined ? {} : { maxPerAddress }),
  });
  const drain = createDrain({ server, clock, lameDuckMs: options.lameDuckMs, drainMs: options.drainMs });

  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJsonBody);
  // Pages are stored as bytes and the rest is small: schemas describe answers, they do not shape them.
  fastify.setSerializerCompiler(() => (data) => JSON.stringify(data));
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'x-request-id': request.id, ...EVERY_ANSWER });
    done();
  });
  fastify.addHook('onRequest', async ({ raw, routeOptions }) => {
    if (routeOptions.config?.refusesLongUrls !== true) checkLength(raw.url ?? '', limits.maxUrlBytes);
  });
  holdBodies(fastify, held);
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (drain.hangingUp()) reply.raw.shouldKeepAlive = false;
    done();
  });
  registerFallback(fastify, fallback);

  return {
    fastify,
    drain,
    held,
    respond,
    listen: async (address) => {
      const url = await fastify.listen(address);
      // Fastify knows nothing of the server that it was given.
      return options.tls === undefined ? url : url.replace(/^http:/, 'https:');
    },
    close: async () => {
      const result = await drain.close();
      await fastify.close();
      return result;
    },
  };
}

/**
 * Fastify's own refusals in our words. Anything it calls a client's fault that has no line of its own here is an
 * invalid request; everything else keeps its meaning or is a fault of ours.
 */
export function problemOfFramework(error: unknown, limits: { readonly maxBodyBytes: number }): Problem {
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return {
        code: 'body-too-large',
        detail: `A body may have at most ${limits.maxBodyBytes} bytes.`,
        headers: CLOSE,
      };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return {
        code: 'unsupported-media-type',
        detail: 'The body must be sent as application/json.',
        parameter: 'Content-Type',
        headers: { accept: 'application/json', ...CLOSE },
      };
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return { code: 'invalid-body', detail: 'The body must be a JSON document in UTF-8.', headers: CLOSE };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return { code: 'invalid-body', detail: 'The body is not as long as Content-Length says.', headers: CLOSE };
    case 'FST_ERR_BAD_URL':
      return { code: 'invalid-url', detail: 'The path is not percent-encoded UTF-8.' };
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return { code: 'url-too-long', detail: 'A part of the path is too long.' };
  }
  const problem = problemOf(error);
  if (problem.code === 'internal' && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return { code: 'invalid-request', detail: 'The request could not be read.', headers: CLOSE };
  }
  return problem;
}

/** What of the body was not read would otherwise be taken for the next request. */
const CLOSE = { connection: 'close' };

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

/** On every answer of both listeners: no browser guesses a type. */
export const EVERY_ANSWER = { 'x-content-type-options': 'nosniff' } as const;

/** A `Content-Security-Policy`: nothing is allowed but what is named. */
export function contentPolicy(allowed: Readonly<Record<string, string>>): string {
  const closed = ['form-action', 'base-uri', 'frame-ancestors'].filter((directive) => !(directive in allowed));
  const whole = [['default-src', "'none'"], ...Object.entries(allowed), ...closed.map((each) => [each, "'none'"])];
  return whole.map((directive) => directive.join(' ').trim()).join('; ');
}

/** Scripts, styles, images and requests of this address, nothing inline. */
export const OWN_FILES = {
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self'",
  'img-src': "'self'",
};

/** A document that brings its styles with it and asks for nothing. */
export const INLINE_STYLES = { 'style-src': "'unsafe-inline'", 'img-src': 'data:' };

/** Fields of an HTML document, beside those of every answer. */
export function documentFields(policy: string) {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    // Browsers refuse a sandboxed document that has an opener policy.
    ...(policy.includes('sandbox') ? {} : { 'cross-origin-opener-policy': 'same-origin' }),
  };
}
