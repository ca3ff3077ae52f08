import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Search } from '../search/search.ts';
import { registerAdminAccess } from './admin-access.ts';
import { createApp } from './app.ts';
import type { DrainResult } from './drain.ts';
import { registerHealth } from './health-route.ts';
import { createRequestIds } from './request-id.ts';
import { parametersOf } from './target.ts';

export interface AdminServerOptions {
  readonly search: Search;
  readonly metricsText: () => Promise<{ readonly contentType: string; readonly body: string }>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly token?: string;
  readonly drainMs: number;
  readonly maxUrlBytes: number;
  /** Adds further routes; every one whose method is not GET or HEAD needs the token. */
  readonly register?: (app: FastifyInstance) => void;
}

export interface AdminServer {
  readonly app: FastifyInstance;
  /** Resolves to the URL it listens at. Off loopback the configuration demands a token. */
  readonly listen: (address: { readonly host: string; readonly port: number }) => Promise<string>;
  readonly close: () => Promise<DrainResult>;
}

const MAX_BODY_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 64;

/** The operators' listener: metrics, the state of each domain, explain. */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { search, metricsText, log, clock, random, maxUrlBytes } = options;
  const app = createApp({
    log,
    clock,
    random,
    requestId: createRequestIds(random),
    maxBodyBytes: MAX_BODY_BYTES,
    limits: { maxUrlBytes, maxConnections: MAX_CONNECTIONS },
    lameDuckMs: 0,
    drainMs: options.drainMs,
  });
  registerAdminAccess(app.fastify, options.token);
  app.fastify.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });

  app.fastify.register(async (routes) => {
    registerHealth(routes);
    routes.get('/metrics', async (_request, reply) => {
      const { contentType, body } = await metricsText();
      return reply.header('content-type', contentType).send(body);
    });
    routes.get('/admin/domains', (_request, reply) => {
      reply.send({ domains: search.status() });
    });
    routes.get('/admin/explain', async (request, reply) => {
      const explanation = await search.explain(parametersOf(request.raw.url ?? '', request.headers, maxUrlBytes));
      return reply.send(explanation);
    });
    options.register?.(routes);
  });

  return { app: app.fastify, listen: app.listen, close: app.close };
}
