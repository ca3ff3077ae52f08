import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../runtime.ts';
import type { SearchedDomain } from '../../search/domain-search.ts';
import type { Tracer } from '../../search/trace.ts';
import type { RequestEvent } from '../events.ts';
import { createHeadReader, type ReadHead } from '../lane/head.ts';
import type { LaneHandler } from '../lane/lane.ts';
import { problemOf } from '../problems.ts';
import { createApp } from '../transport/app.ts';
import { bringsBearer, type ClientRequest, createClients } from '../transport/client.ts';
import { createPageBodies, type PageBodies } from '../transport/content-coding.ts';
import type { DrainResult } from '../transport/drain.ts';
import type { ConnectionEvent, TokenEvent } from '../transport/events.ts';
import type { ListenerLimits } from '../transport/listener.ts';
import { createTokenBuckets } from '../transport/token-bucket.ts';
import { createAdmission, createPressure, type MissBudget, type SearchAdmission } from './admission.ts';
import { type CountRequest, createRequestCounter, createRequestIds, createRequestLog } from './exchange.ts';
import { ALIVE, type Findings, readinessOf, registerHealth, registerReadiness, writeHealth } from './health.ts';
import { registerMsearch } from './msearch.ts';
import { registerDocs, SEARCH_ANSWERS, searchQuerySchema } from './openapi.ts';
import { createSearchHandler } from './search-handler.ts';

export interface PublicServerOptions {
  /** In configured order; the first is the default. */
  readonly domains: readonly SearchedDomain[];
  /** Gets exactly one event per search; each item of a batch is a search. */
  readonly observe: (event: RequestEvent) => void;
  readonly observeConnection?: (event: ConnectionEvent) => void;
  /** Gets one event per request that brings a Bearer token: this listener takes no tokens and compares none. */
  readonly observeToken?: (event: TokenEvent) => void;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  /** The largest page that any domain may have, inflated. */
  readonly maxPageBytes: number;
  readonly maxUrlBytes: number;
  /** The limit on prepared searches that are remembered by URL. */
  readonly targetMemoBytes?: number;
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  /** `off`: Node's HTTP server gets every connection. `auto` when absent. */
  readonly lane?: 'auto' | 'off';
  /** Maximum number of concurrent searches that memory cannot answer; more are shed. */
  readonly maxInFlight: number;
  /** While the event loop is later than this, searches that memory cannot answer are shed. */
  readonly maxLoopDelayMs: number;
  /** Limits the misses of one client. Absent: no limit. */
  readonly missBudget?: { readonly perMinute: number; readonly burst: number; readonly maxClients: number };
  /** How clients are identified, see client.ts. */
  readonly trustedProxies?: readonly string[];
  readonly clientHeader?: string;
  readonly drainMs: number;
  /** New connections are accepted for this time after closing began, see drain.ts. */
  readonly lameDuckMs?: number;
  /** 0–1: share of hits that get a log line. */
  readonly hitSample: number;
  /** Absent while tracing is off. */
  readonly tracer?: Tracer | undefined;
  /** Version of the service, for the API description. */
  readonly version: string;
  /** Standing findings of the doctor, for /readyz; undefined before its first look. */
  readonly findings?: () => Findings | undefined;
  readonly timeouts?: Partial<Omit<ListenerLimits, 'maxUrlBytes' | 'maxConnections'>>;
  /** Registers the routes of a user interface, which searches through the same admission as `/search`. */
  readonly pages?: (app: FastifyInstance, context: PageContext) => void;
}

/** The parts of the server that a user interface uses. */
export interface PageContext
  extends Pick<PublicServerOptions, 'domains' | 'tracer' | 'clock' | 'random' | 'maxUrlBytes'> {
  readonly admission: SearchAdmission;
  /** Shared with `/search`, so that a page is inflated once. */
  readonly pageBodies: PageBodies;
  readonly count: CountRequest;
}

export type PublicServer = ReturnType<typeof createPublicServer>;

const PAGE_BODIES_BYTES = 16 * 2 ** 20;

/** An answer to `/msearch` may hold two of the largest pages: half of `maxBufferedBytes`, the limit of all connections. */
const PAGES_PER_ANSWER = 2;
const LAME_DUCK_MS = 300;

/** The listener for clients: searches, batches, health, the API description, and the pages that are passed in. */
export function createPublicServer(options: PublicServerOptions) {
  const { domains, observe, log, clock, random, maxUrlBytes, maxBodyBytes } = options;
  const { observeToken = () => {}, tracer } = options;
  const addressOf = createClients({ trustedProxies: options.trustedProxies ?? [] });
  const requestLog = createRequestLog({ log, hitSample: options.hitSample, clock, random });
  const count = createRequestCounter({ observe, requestLog, tracer });
  const requestId = createRequestIds(random);
  const pageBodies = createPageBodies({ maxBytes: PAGE_BODIES_BYTES, maxPageBytes: options.maxPageBytes });
  const draining = (): boolean => app.drain.draining();

  const { maxInFlight, maxLoopDelayMs } = options;
  const pressure = createPressure({ clock, maxInFlight, maxLoopDelayMs });
  const admission = createAdmission({ pressure, budget: missBudgetOf(options) });

  const handleSearch = createSearchHandler({
    domains,
    clientOf: admission.clientOf,
    count,
    requestLog,
    requestId,
    clock,
    random,
    pageBodies,
    maxUrlBytes,
    tracer,
    targetMemoBytes: options.targetMemoBytes,
    buffers: { watch: (connection, response) => app.buffers.watch(connection, response) },
    closesConnections: () => app.drain.closesConnections,
  });

  const readiness = () =>
    readinessOf({
      domains: domains.map((domain) => domain.status()),
      draining: draining(),
      pressure: pressure.status(),
      findings: options.findings?.(),
    });
  let searchesInLane = 0;
  const noteToken = (request: ClientRequest): void => {
    const { authorization } = request.headers;
    if (authorization === undefined || !bringsBearer(authorization)) return;
    observeToken({ kind: 'token', listener: 'public', result: 'ignored', address: addressOf(request) });
  };
  const handleInLane: LaneHandler = ({ isHead, target, headers }, reply, socket) => {
    noteToken({ headers, socket });
    if (target === '/healthz') writeHealth(reply, ALIVE, requestId(headers['x-request-id']));
    else if (target === '/readyz') writeHealth(reply, readiness(), requestId(headers['x-request-id']));
    else {
      searchesInLane += 1;
      handleSearch({ method: isHead ? 'HEAD' : 'GET', url: target, headers, socket }, reply);
    }
  };

  const app = createApp({
    log,
    clock,
    random,
    requestId,
    maxBodyBytes,
    problemOf,
    limits: { maxUrlBytes, maxConnections: options.maxConnections, ...options.timeouts },
    lameDuckMs: options.lameDuckMs ?? LAME_DUCK_MS,
    drainMs: options.drainMs,
    observeConnection: options.observeConnection,
    onRequest: noteToken,
    direct: { path: '/search', handle: handleSearch },
    lane: options.lane === 'off' ? undefined : { readHead: readHeads(options), handle: handleInLane },
    onWrongMethod: (path) => {
      if (path !== '/search' && path !== '/msearch') return;
      const route = path === '/search' ? 'search' : 'msearch';
      count({ route, domain: 'none' }, { outcome: 'rejected', status: 405 }, 0);
    },
  });

  const { lane } = app;

  registerDocs(app.fastify, options.version);
  app.fastify.register(async (routes) => {
    // For the API description: `direct` answers it before Fastify.
    routes.get('/search', {
      config: { swagger: { exposeHeadRoute: true } },
      schema: {
        summary: 'One page of results',
        tags: ['search'],
        querystring: searchQuerySchema(domains),
        response: SEARCH_ANSWERS,
      },
      validatorCompiler: () => () => true,
      handler: (request, reply) => {
        reply.hijack();
        handleSearch(request.raw, reply.raw);
      },
    });
    registerMsearch(routes, {
      domains,
      clientOf: admission.clientOf,
      count,
      clock,
      random,
      pageBodies,
      maxBodyBytes,
      app,
      tracer,
      maxAnswerBytes: PAGES_PER_ANSWER * options.maxPageBytes,
    });
    registerHealth(routes);
    registerReadiness(routes, readiness);
    options.pages?.(routes, { domains, admission, pageBodies, count, tracer, clock, random, maxUrlBytes });
  });

  return {
    /** For `inject` and further routes. */
    app: app.fastify,
    /** Resolves to the URL of the listener. */
    listen: app.listen,
    draining,
    /** The load of this process in relation to its limits. */
    pressure: { status: pressure.status },
    /** Absent: the lane is off. */
    lane: lane && { status: () => ({ ...lane.status(), searches: searchesInLane }) },
    /** Answers the requests in flight, then closes, at the latest soon after `drainMs`. Idempotent. */
    close: async (): Promise<DrainResult> => {
      const result = await app.close();
      pressure.close();
      return result;
    },
  };
}

function missBudgetOf(options: PublicServerOptions): MissBudget | undefined {
  const { missBudget, trustedProxies = [], clientHeader, clock } = options;
  if (missBudget === undefined) return undefined;
  const { perMinute, burst, maxClients } = missBudget;
  return {
    misses: createTokenBuckets({ perMinute, burst, maxKeys: maxClients, clock }),
    clientOf: createClients({ trustedProxies, clientHeader }),
  };
}

/** Reads the heads of the requests that the lane serves. */
function readHeads({ domains, clientHeader, maxUrlBytes }: PublicServerOptions): ReadHead {
  const declared = domains.flatMap(({ context }) => context);
  return createHeadReader({
    paths: ['/search', '/healthz', '/readyz'],
    maxTargetBytes: maxUrlBytes,
    fields: {
      context: declared.flatMap(({ source, name }) => (source === 'header' ? [name.toLowerCase()] : [])),
      client: clientHeader,
    },
  });
}
