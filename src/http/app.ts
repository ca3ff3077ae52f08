import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { createClientErrorHandler } from './client-error.ts';
import { createConnections } from './connections.ts';
import { createDrain, type Drain, type DrainResult } from './drain.ts';
import type { ConnectionEvent } from './events.ts';
import { type FallbackOptions, frameworkRefusal, registerFallback } from './fallback.ts';
import { holdBodies } from './held-bodies.ts';
import { createHeldBytes, type HeldBytes } from './held-bytes.ts';
import { parseJsonBody } from './json-body.ts';
import { createListener, DEFAULT_LIMITS, type ListenerLimits, type ListenerTls } from './listener.ts';
import type { Problem } from './problem.ts';
import { problemResponse, writeProblem } from './problem-response.ts';
import { EVERY_ANSWER } from './security-headers.ts';
import { checkLength } from './target.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Refuses a URL that is too long itself, in its own words; for every other route the listener does. */
    readonly refusesLongUrls?: boolean;
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
