import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Audit } from '../../operations/audit/audit.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Clock } from '../../runtime.ts';
import type { Search } from '../../search/search.ts';
import { registerOps } from '../../ui/console/route.ts';
import { registerHealth } from '../search-api/health.ts';
import { searchQuerySchema } from '../search-api/schema.ts';
import { createApp } from '../transport/app.ts';
import { createTokenGate } from '../transport/client.ts';
import type { ConnectionEvent, RequestEvent, TokenEvent } from '../transport/events.ts';
import type { DrainResult, ListenerTls } from '../transport/listener.ts';
import { createRequestIds, createRequestLog } from '../transport/request-log.ts';
import { parametersOf } from '../transport/request-target.ts';
import { registerAdminAccess } from './access.ts';
import { registerAnew } from './anew-route.ts';
import { createAuditDesk, registerAudit } from './audit.ts';
import { registerDrills, registerHalt, registerJournals } from './drill-routes.ts';
import { registerFlush, registerPurge } from './flush-routes.ts';
import { createLive, type Live, registerLive } from './live.ts';
import { described, registerAdminDocs } from './openapi.ts';
import type { AdminContext } from './operations.ts';
import { ExplanationBody, registerLook } from './state-route.ts';
import { registerWarm } from './warm-routes.ts';

export interface AdminServerOptions {
  readonly search: Search;
  readonly operations: Operations;
  /** Gets exactly one entry per request that asks for a change, done or refused. It is closed by whoever made it. */
  readonly audit: Audit;
  /** Gets one event per search that an operator asks for. */
  readonly observe: (event: RequestEvent) => void;
  readonly observeConnection?: (event: ConnectionEvent) => void;
  /** Gets one event per Bearer that let nobody in. */
  readonly observeToken?: (event: TokenEvent) => void;
  readonly metricsText: () => Promise<{ readonly contentType: string; readonly body: string }>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly token?: string;
  /** Absent: plain HTTP. */
  readonly tls?: ListenerTls;
  /** Names in Host that are ours, beside addresses and localhost; see admin-access.ts. */
  readonly hosts?: readonly string[];
  /** How addresses that guess at the token are told apart, see client.ts. */
  readonly trustedProxies?: readonly string[];
  readonly drainMs: number;
  readonly maxUrlBytes: number;
  /** The largest page any domain may hold, inflated. */
  readonly maxPageBytes: number;
  /** Of the service, for the API's description. */
  readonly version: string;
}

export interface AdminServer {
  readonly app: FastifyInstance;
  /** Resolves to the URL it listens at. Off loopback the configuration demands a token. */
  readonly listen: (address: { readonly host: string; readonly port: number }) => Promise<string>;
  readonly close: () => Promise<DrainResult>;
}

const MAX_BODY_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 64;
/** More than a console, a collector and a command need together, and half of what there is. */
const MAX_PER_ADDRESS = 32;

/** The operators' listener: metrics, the state of each domain, explain, everything they may change, and the console. */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { search, operations, audit, metricsText, log, clock, random, maxUrlBytes } = options;
  const desk = createAuditDesk({ audit, clock });
  const live = createLive({ operations, clock, log });
  const requestId = createRequestIds(random);
  const app = createApp({
    log,
    clock,
    random,
    requestId,
    maxBodyBytes: MAX_BODY_BYTES,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    limits: { maxUrlBytes, maxConnections: MAX_CONNECTIONS, maxPerAddress: MAX_PER_ADDRESS },
    lameDuckMs: 0,
    drainMs: options.drainMs,
    onRequest: desk.open,
    onRefused: desk.refused,
    ...(options.observeConnection === undefined ? {} : { observeConnection: options.observeConnection }),
  });
  desk.follow(app.fastify);
  const hasToken = options.token !== undefined && options.token !== '';
  registerAdminAccess(app.fastify, {
    gate: hasToken
      ? createTokenGate({
          token: options.token,
          clock,
          trustedProxies: options.trustedProxies ?? [],
          observe: options.observeToken ?? (() => {}),
        })
      : undefined,
    hosts: options.hosts ?? [],
    onAdmitted: desk.admitted,
  });
  app.fastify.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });

  registerAdminDocs(app.fastify, { version: options.version });
  app.fastify.register(async (routes) => {
    registerOperations(routes, { operations, audit, desk, live });
    registerHealth(routes);
    registerOps(routes);
    const requestLog = createRequestLog({ log, hitSample: 0, clock, random });
    const { observe, maxPageBytes } = options;
    registerAnew(routes, { search, observe, requestLog, requestId, clock, random, maxUrlBytes, maxPageBytes, app });
    routes.get('/metrics', {
      schema: { summary: 'For Prometheus', tags: ['health'], response: { 200: { type: 'string' } } },
      handler: async (_request, reply) => {
        const { contentType, body } = await metricsText();
        return reply.header('content-type', contentType).send(body);
      },
    });
    routes.get('/admin/explain', {
      schema: described({
        summary: 'Why a search is answered as it is, tier by tier',
        tag: 'state',
        query: searchQuerySchema(search),
        answer: ExplanationBody,
      }),
      handler: async (request, reply) => {
        const explanation = await search.explain(parametersOf(request.raw.url ?? '', request.headers, maxUrlBytes));
        return reply.send(explanation);
      },
    });
  });

  return {
    app: app.fastify,
    listen: app.listen,
    close: async () => {
      live.close();
      const result = await app.close();
      desk.close();
      return result;
    },
  };
}

/** Everything operators may ask for. Bodies are checked by the routes themselves, which say what is allowed. */
export function registerOperations(
  app: FastifyInstance,
  context: AdminContext & { readonly live: Live; readonly audit: Audit },
): void {
  app.setValidatorCompiler(() => () => true);
  registerLook(app, context);
  registerLive(app, context.live);
  registerFlush(app, context);
  registerPurge(app, context);
  registerDrills(app, context);
  registerJournals(app, context);
  registerHalt(app, context);
  registerWarm(app, context);
  registerAudit(app, context.audit);
}
