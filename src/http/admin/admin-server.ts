import type { FastifyInstance } from 'fastify';
import type { Audit } from '../../operations/audit/audit.ts';
import type { Operations } from '../../operations/operations.ts';
import { problemOf } from '../problems.ts';
import { createRequestIds, createRequestLog } from '../search-api/exchange.ts';
import { registerHealth } from '../search-api/health.ts';
import { registerDescription } from '../search-api/openapi.ts';
import type { PublicServerOptions } from '../search-api/public-server.ts';
import { createApp } from '../transport/app.ts';
import type { ListenerTls } from '../transport/listener.ts';
import { createTokenGate, registerAdminAccess } from './access.ts';
import { createAuditTrail, registerAudit } from './audit.ts';
import { registerChanges } from './changes-routes.ts';
import { registerDoctor } from './doctor-routes.ts';
import { registerDrills } from './drill-routes.ts';
import { registerFlush } from './flush-routes.ts';
import type { AdminContext } from './input.ts';
import { registerSearches } from './search-routes.ts';
import { registerShadows } from './shadow-routes.ts';
import { createLive, registerLive, registerState } from './state-routes.ts';
import { registerWarm } from './warm-routes.ts';

/** `observe` gets one event per search that an operator asks for, `observeToken` one per Bearer token that gave no access. */
export interface AdminServerOptions
  extends Pick<
    PublicServerOptions,
    | 'domains'
    | 'observe'
    | 'observeConnection'
    | 'observeToken'
    | 'log'
    | 'clock'
    | 'random'
    | 'trustedProxies'
    | 'drainMs'
    | 'maxUrlBytes'
    | 'maxPageBytes'
    | 'version'
  > {
  readonly operations: Operations;
  /** Gets exactly one entry per request of an operator for a change, done or refused. Its owner closes it. */
  readonly audit: Audit;
  /** Gets the Accept header of the scraper. */
  readonly metricsText: (accept?: string) => Promise<{ readonly contentType: string; readonly body: string }>;
  readonly token?: string;
  /** Absent: plain HTTP. */
  readonly tls?: ListenerTls;
  /** Accepted names in Host beside addresses and localhost, see access.ts. */
  readonly hosts?: readonly string[];
  /** Registers the routes of a user interface. */
  readonly pages?: (app: FastifyInstance) => void;
}

const MAX_BODY_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 64;
/** More than a console, a scraper and a command need together, and half of `MAX_CONNECTIONS`. */
const MAX_PER_ADDRESS = 32;

const DESCRIPTION =
  'State, flushes, drills, warm-ups, shadow traffic, cut-over, the feed of changes and the doctor. Every change needs the admin token, and is written to the audit with the name of the operator; the feed of changes is not.';
const TAGS = ['state', 'flush', 'drills', 'warm-up', 'shadow', 'changes', 'doctor', 'audit', 'health'];

/** The listener for operators: metrics, the state of each domain, explain, all changes, and the pages that are passed in. */
export function createAdminServer(options: AdminServerOptions) {
  const { operations, audit, log, clock, random, maxUrlBytes } = options;
  const trail = createAuditTrail({ audit, clock });
  const live = createLive({ operations, clock, log });
  const requestId = createRequestIds(random);
  const app = createApp({
    log,
    clock,
    random,
    requestId,
    problemOf,
    maxBodyBytes: MAX_BODY_BYTES,
    tls: options.tls,
    limits: { maxUrlBytes, maxConnections: MAX_CONNECTIONS, maxPerAddress: MAX_PER_ADDRESS },
    lameDuckMs: 0,
    drainMs: options.drainMs,
    onRequest: trail.open,
    onRefused: trail.refused,
    observeConnection: options.observeConnection,
  });
  trail.follow(app.fastify);
  registerAdminAccess(app.fastify, { gate: gateOf(options), hosts: options.hosts ?? [], onAdmitted: trail.admitted });
  app.fastify.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });

  const about = {
    info: { title: 'serpcache, for operators', version: options.version, description: DESCRIPTION },
    tags: TAGS.map((name) => ({ name })),
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  } as const;
  registerDescription(app.fastify, '/admin/openapi.json', about, {});
  app.fastify.register(async (routes) => {
    // The routes check bodies themselves, because their answers say what is allowed.
    routes.setValidatorCompiler(() => () => true);
    const context: AdminContext = { operations, audit: trail };
    registerState(routes, context);
    registerLive(routes, live);
    registerFlush(routes, context);
    registerDrills(routes, context);
    registerWarm(routes, context);
    registerShadows(routes, context);
    registerChanges(routes, context);
    registerDoctor(routes, context);
    registerAudit(routes, audit);
    registerHealth(routes);
    options.pages?.(routes);
    const requestLog = createRequestLog({ log, hitSample: 0, clock, random });
    registerSearches(routes, { ...options, requestLog, requestId, app });
    registerMetrics(routes, options.metricsText);
  });

  return {
    app: app.fastify,
    /** Resolves to the URL of the listener. Off loopback the configuration requires a token. */
    listen: app.listen,
    close: async () => {
      live.close();
      const result = await app.close();
      trail.close();
      return result;
    },
  };
}

/** Undefined without a token. */
function gateOf({ token = '', clock, trustedProxies = [], observeToken = () => {} }: AdminServerOptions) {
  return token === '' ? undefined : createTokenGate({ token, clock, trustedProxies, observe: observeToken });
}

function registerMetrics(routes: FastifyInstance, metricsText: AdminServerOptions['metricsText']): void {
  routes.get('/metrics', {
    schema: { summary: 'Metrics for Prometheus', tags: ['health'], response: { 200: { type: 'string' } } },
    handler: async ({ headers }, reply) => {
      const { contentType, body } = await metricsText(headers.accept);
      return reply.header('content-type', contentType).send(body);
    },
  });
}
