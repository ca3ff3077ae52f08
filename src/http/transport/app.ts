import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../runtime.ts';
import { createLane, type LaneOptions } from '../lane/lane.ts';
import { createBufferBudget, trackBodies } from './buffer-budget.ts';
import { createClientErrorHandler } from './client-error.ts';
import { createDrain, type DrainResult } from './drain.ts';
import type { ConnectionEvent } from './events.ts';
import { parseJsonBody, type Reviver } from './json-body.ts';
import { createListener, DEFAULT_LIMITS, type ListenerLimits, type ListenerTls } from './listener.ts';
import { EVERY_ANSWER, PROBLEMS, type Problem, problemResponse, sendProblem, writeProblem } from './problem.ts';
import { checkLength, isPath } from './request-target.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route checks the length of the URL itself. For every other route the listener does. */
    readonly refusesLongUrls?: boolean;
    /** Makes the values of a JSON body from their text. */
    readonly revive?: Reviver;
    /** The name of the route's change in the audit. */
    readonly action?: string;
    /** A request with the right token leaves no audit line although its method is not GET. */
    readonly audited?: false;
    /** The route costs an engine call although its method is GET: it needs the token as a change does. */
    readonly callsEngine?: true;
  }
}

type RequestIds = (given: string | string[] | undefined) => string;

interface AppOptions {
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly requestId: RequestIds;
  readonly limits: Pick<ListenerLimits, 'maxUrlBytes' | 'maxConnections'> & Partial<ListenerLimits>;
  /** Absent: plain HTTP. */
  readonly tls?: ListenerTls;
  readonly maxBodyBytes: number;
  readonly lameDuckMs: number;
  readonly drainMs: number;
  /** Translates errors that a route throws. */
  readonly problemOf: (error: unknown) => Problem;
  /** Answers GET and HEAD of the route of one path on Node's own request and response: Fastify does not get them. */
  readonly direct?: {
    readonly path: string;
    readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  };
  /** Serves known requests before Node's parser. Absent: Node gets every connection. */
  readonly lane?: Pick<LaneOptions, 'readHead' | 'handle'>;
  /** Called when a path exists but not for this method. */
  readonly onWrongMethod?: (path: string) => void;
  /** Called before a request is answered with a problem by the listener, by Fastify or by the error handler. */
  readonly onRefused?: (request: IncomingMessage, problem: Problem) => void;
  /** Called first for every request whose header has arrived, also when it will be refused. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
  readonly observeConnection?: (event: ConnectionEvent) => void;
}

export type App = ReturnType<typeof createApp>;

/** The common part of both listeners: Fastify on a bounded listener, problem documents for every error, a graceful close. */
export function createApp(options: AppOptions) {
  const { log, clock, random, requestId, maxBodyBytes, direct } = options;
  const limits: ListenerLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const observe = options.observeConnection ?? (() => {});
  const buffers = createBufferBudget({
    maxBytes: limits.maxBufferedBytes,
    onCut: () => observe({ kind: 'connection', what: 'held' }),
  });
  const respond = (problem: Problem, id: string) => problemResponse(problem, id, random);
  const problemOf = (error: unknown, maxBytes = maxBodyBytes): Problem =>
    problemOfFastify(error, maxBytes) ?? clientFault(error, options.problemOf(error));
  const refuse = (request: FastifyRequest, reply: FastifyReply, problem: Problem): void => {
    options.onRefused?.(request.raw, problem);
    sendProblem(reply, respond(problem, request.id));
  };
  const refuseRaw = (problem: Problem) => (request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
    options.onRequest?.(request, response);
    options.onRefused?.(request, problem);
    writeProblem(response, respond(problem, requestId(request.headers['x-request-id'])));
  };

  let server: Server | undefined;
  const fastify = Fastify({
    serverFactory: (handler) => {
      const handle = (request: IncomingMessage, response: ServerResponse): void => {
        options.onRequest?.(request, response);
        if (drain.closesConnections) response.shouldKeepAlive = false;
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        if (direct !== undefined && isRead && isPath(request.url ?? '', direct.path)) direct.handle(request, response);
        else handler(request, response);
      };
      server = createListener({ limits, handle, refuse: refuseRaw, observe, tls: options.tls });
      return server;
    },
    logger: false,
    genReqId: (request) => requestId(request.headers['x-request-id']),
    clientErrorHandler: createClientErrorHandler({
      log,
      random,
      // With TLS the stream is decrypted already: it goes to the HTTP parser and needs no second handshake.
      connect: (stream) => server?.emit(options.tls === undefined ? 'connection' : 'secureConnection', stream),
      onSlow: () => observe({ kind: 'connection', what: 'slow' }),
    }),
    frameworkErrors: (error, request, reply) => refuse(request, reply, problemOf(error)),
    bodyLimit: maxBodyBytes,
    // While draining, a request that arrives on an open connection is answered like any other.
    return503OnClosing: false,
    exposeHeadRoutes: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200, querystringParser: () => ({}) },
  });
  if (server === undefined) throw new Error('Fastify made no server');
  const drain = createDrain({
    server,
    clock,
    lameDuckMs: options.lameDuckMs,
    drainMs: options.drainMs,
    closeIdle: () => lane?.closeIdle(),
  });
  const { monotonicMs } = clock;
  const lane = options.lane && createLane({ ...options.lane, server, drain, monotonicMs, buffers });

  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJsonBody);
  // Pages are stored as bytes and other answers are small: schemas describe answers, they do not serialise them.
  fastify.setSerializerCompiler(() => (data) => JSON.stringify(data));
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'x-request-id': request.id, ...EVERY_ANSWER });
    done();
  });
  fastify.addHook('onRequest', async ({ raw, routeOptions }) => {
    if (routeOptions.config?.refusesLongUrls !== true) checkLength(raw.url ?? '', limits.maxUrlBytes);
  });
  trackBodies(fastify, buffers);
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (drain.closesConnections) reply.raw.shouldKeepAlive = false;
    done();
  });
  fastify.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error, request.routeOptions.bodyLimit);
    if (PROBLEMS[problem.code].status === 500) log.error({ requestId: request.id, err: error }, 'a route failed');
    refuse(request, reply, problem);
  });
  registerNotFound(fastify, refuse, options);

  return {
    fastify,
    drain,
    buffers,
    lane,
    /** Errors of Fastify and of routes → the problem that the client is told. */
    problemOf,
    respond,
    listen: async (address: { readonly host: string; readonly port: number }): Promise<string> => {
      const url = await fastify.listen(address);
      // Fastify does not know that the given server uses TLS.
      return options.tls === undefined ? url : url.replace(/^http:/, 'https:');
    },
    /** Graceful, see drain.ts; idempotent. */
    close: async (): Promise<DrainResult> => {
      const result = await drain.close();
      await fastify.close();
      return result;
    },
  };
}

/** Answers what no route takes: 404, or `Allow` as 204 to OPTIONS (which HAProxy asks by default) and as 405 to others. */
function registerNotFound(
  app: FastifyInstance,
  refuse: (request: FastifyRequest, reply: FastifyReply, problem: Problem) => void,
  { onWrongMethod }: AppOptions,
): void {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    // `*` is the server as a whole.
    for (const path of [url, '*']) methods.set(path, new Set([...(methods.get(path) ?? ['OPTIONS']), method].flat()));
  });
  app.setNotFoundHandler((request, reply) => {
    const path = (request.url.split('?', 1)[0] ?? '').replace(/(?<=.)\/$/, '');
    const allowed = methods.get(path);
    if (allowed === undefined || (allowed.has(request.method) && request.method !== 'OPTIONS')) {
      refuse(request, reply, { code: 'not-found', detail: 'There is nothing at this path.' });
      return;
    }
    const allow = [...allowed].sort().join(', ');
    if (request.method === 'OPTIONS') {
      reply.code(204).header('allow', allow).send();
      return;
    }
    onWrongMethod?.(path);
    const detail = `This path answers ${allow}.`;
    refuse(request, reply, { code: 'method-not-allowed', detail, headers: { allow } });
  });
}

/** Fastify's own refusals as problems; undefined for any other error. */
function problemOfFastify(error: unknown, maxBodyBytes: number): Problem | undefined {
  switch ((error as { readonly code?: unknown }).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { code: 'body-too-large', detail: `A body may have at most ${maxBodyBytes} bytes.`, headers: CLOSE };
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
    default:
      return undefined;
  }
}

/** An error that Fastify marks as the client's fault, and that has no problem of its own, is an invalid request. */
function clientFault(error: unknown, problem: Problem): Problem {
  const { statusCode } = error as { readonly statusCode?: unknown };
  const isClientFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  if (problem.code !== 'internal' || !isClientFault) return problem;
  return { code: 'invalid-request', detail: 'The request could not be read.', headers: CLOSE };
}

/** Unread bytes of the body would otherwise be read as the next request. */
const CLOSE = { connection: 'close' };
