import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../runtime.ts';
import type { Search } from '../../search/search.ts';
import type { PageOptions } from '../../ui/page/options.ts';
import { registerPage } from '../../ui/page/route.ts';
import { createDoor, createPressure, type DoorOptions, type PressureStatus } from '../transport/admission.ts';
import { createApp } from '../transport/app.ts';
import { bringsBearer, createClients, createMissBudget, type MissBudgetOptions } from '../transport/client.ts';
import type { ConnectionEvent, RequestEvent, TokenEvent } from '../transport/events.ts';
import { createExchanges } from '../transport/exchange.ts';
import type { DrainResult, ListenerLimits } from '../transport/listener.ts';
import { createNegotiator } from '../transport/negotiate.ts';
import { createRequestIds, createRequestLog } from '../transport/request-log.ts';
import { createTargets } from '../transport/request-target.ts';
import { registerDocs } from './docs-route.ts';
import { registerHealth, registerReadiness } from './health.ts';
import { createIdentityBodies } from './identity-bodies.ts';
import { registerMsearch } from './msearch.ts';
import { PAGE_ANSWERS, PROBLEM_ANSWERS, searchQuerySchema, UNANSWERED_ANSWERS } from './schema.ts';
import { createSearchHandler } from './search-handler.ts';

export interface PublicServerOptions {
  readonly search: Search;
  /** Gets exactly one event per search, batch items included. */
  readonly observe: (event: RequestEvent) => void;
  readonly observeConnection?: (event: ConnectionEvent) => void;
  /** Gets one event per request that brings a Bearer: no token is taken here, and none compared. */
  readonly observeToken?: (event: TokenEvent) => void;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  /** A domain's `freshness.clientMaxAgeMs`. */
  readonly clientMaxAgeMs: (domain: string) => number;
  /** The largest page any domain may hold, inflated. */
  readonly maxPageBytes: number;
  readonly maxUrlBytes: number;
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  /** Searches that memory cannot answer, at once; more are shed. */
  readonly maxInFlight: number;
  /** While the event loop is later than this, what memory cannot answer is shed. */
  readonly maxLoopDelayMs: number;
  /** What one client may cost the engines. Absent: whatever it likes. */
  readonly missBudget?: Omit<MissBudgetOptions, 'clock'>;
  /** How clients are told apart, see client.ts. */
  readonly trustedProxies?: readonly string[];
  readonly clientHeader?: string;
  readonly drainMs: number;
  /** How long new connections are still taken after closing began; see drain.ts. */
  readonly lameDuckMs?: number;
  /** 0–1: share of hits that get a log line. */
  readonly hitSample: number;
  /** Of the service, for the API's description. */
  readonly version: string;
  readonly timeouts?: Partial<Omit<ListenerLimits, 'maxUrlBytes' | 'maxConnections'>>;
  /** How the page for people presents itself. */
  readonly page?: Pick<PageOptions, 'examples' | 'explainUrl'>;
}

export interface PublicServer {
  /** For `inject` and further routes. */
  readonly app: FastifyInstance;
  /** Resolves to the URL it listens at. */
  readonly listen: (address: { readonly host: string; readonly port: number }) => Promise<string>;
  readonly draining: () => boolean;
  /** How near the process is to its own bounds. */
  readonly pressure: { readonly status: () => PressureStatus };
  /** Answers what is in flight, then closes; at the latest soon after `drainMs`. Idempotent. */
  readonly close: () => Promise<DrainResult>;
}

const IDENTITY_BODIES_BYTES = 16 * 2 ** 20;

/** The largest pages that one answer to `/msearch` may hold: half of what all connections may leave unread (`app.ts`). */
const PAGES_PER_ANSWER = 2;
const LAME_DUCK_MS = 300;

/** The listener clients talk to: searches, batches, health, the API's description. */
export function createPublicServer(options: PublicServerOptions): PublicServer {
  const { search, observe, log, clock, random, clientMaxAgeMs, maxUrlBytes, maxBodyBytes } = options;
  const { observeToken = () => {} } = options;
  const addressOf = createClients({ trustedProxies: options.trustedProxies ?? [] });
  const requestLog = createRequestLog({ log, hitSample: options.hitSample, clock, random });
  const requestId = createRequestIds(random);
  const identityBodies = createIdentityBodies({ maxBytes: IDENTITY_BODIES_BYTES, maxPageBytes: options.maxPageBytes });
  const draining = (): boolean => app.drain.draining();
  const hangingUp = (): boolean => app.drain.hangingUp();

  const { maxInFlight, maxLoopDelayMs } = options;
  const pressure = createPressure({ clock, maxInFlight, maxLoopDelayMs });
  const door = createDoor({ search, pressure, ...budgetOf(options) });

  const handleSearch = createSearchHandler({
    search,
    door,
    targets: createTargets({ search, maxUrlBytes }),
    exchanges: createExchanges({ observe, requestLog, requestId, clock, random, hangingUp }),
    negotiate: createNegotiator(),
    identityBodies,
    held: { watch: (connection, response) => app.held.watch(connection, response) },
    clientMaxAgeMs,
    maxUrlBytes,
    hangingUp,
  });

  const app = createApp({
    log,
    clock,
    random,
    requestId,
    maxBodyBytes,
    limits: { maxUrlBytes, maxConnections: options.maxConnections, ...options.timeouts },
    lameDuckMs: options.lameDuckMs ?? LAME_DUCK_MS,
    drainMs: options.drainMs,
    ...(options.observeConnection === undefined ? {} : { observeConnection: options.observeConnection }),
    onRequest: (request) => {
      if (!bringsBearer(request.headers.authorization)) return;
      observeToken({ kind: 'token', listener: 'public', result: 'ignored', address: addressOf(request) });
    },
    first: (request, response) => {
      if (!isSearch(request)) return false;
      handleSearch(request, response);
      return true;
    },
    onWrongMethod: (_request, path) => {
      if (path !== '/search' && path !== '/msearch') return;
      const route = path === '/search' ? 'search' : 'msearch';
      observe({ kind: 'request', route, domain: 'none', outcome: 'rejected', status: 405, durationMs: 0 });
    },
  });

  registerDocs(app.fastify, { version: options.version });
  app.fastify.register(async (routes) => {
    routes.route({
      method: ['GET', 'HEAD'],
      url: '/search',
      schema: {
        summary: 'One page of results',
        tags: ['search'],
        querystring: searchQuerySchema(search),
        response: { ...PAGE_ANSWERS, ...PROBLEM_ANSWERS, ...UNANSWERED_ANSWERS },
      },
      config: { refusesLongUrls: true },
      validatorCompiler: () => () => true,
      handler: (request, reply) => {
        reply.hijack();
        handleSearch(request.raw, reply.raw);
      },
    });
    registerMsearch(routes, {
      search,
      door,
      observe,
      requestLog,
      clock,
      random,
      identityBodies,
      clientMaxAgeMs,
      maxBodyBytes,
      maxAnswerBytes: PAGES_PER_ANSWER * options.maxPageBytes,
      respond: app.respond,
    });
    registerHealth(routes);
    registerReadiness(routes, { search, draining, pressure });
    registerPage(routes, { ...options.page, search, door, identityBodies, clock, random, maxUrlBytes, observe });
  });

  return {
    app: app.fastify,
    listen: app.listen,
    draining,
    pressure: { status: pressure.status },
    close: async () => {
      const result = await app.close();
      pressure.close();
      return result;
    },
  };
}

function budgetOf(options: PublicServerOptions): Pick<DoorOptions, 'budget'> {
  const { missBudget, trustedProxies = [], clientHeader, clock } = options;
  if (missBudget === undefined) return {};
  const clientOf = createClients({ trustedProxies, ...(clientHeader === undefined ? {} : { clientHeader }) });
  return { budget: { misses: createMissBudget({ ...missBudget, clock }), clientOf } };
}

/** `/search` in the one spelling nearly everybody sends; Fastify's router finds the others. */
function isSearch({ method, url = '' }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return url.startsWith('/search') && (url.length === 7 || url.charCodeAt(7) === 0x3f);
}
