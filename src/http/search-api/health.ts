import type { FastifyInstance } from 'fastify';
import type { Search } from '../../search/search.ts';
import type { DomainStatus } from '../../search/status.ts';
import type { Pressure, PressureStatus } from '../transport/admission.ts';
import { HealthBody, ReadinessBody } from './schema.ts';

/** `GET /healthz`: the process turns its event loop. Nothing else belongs here: a restart heals no engine. */
export function registerHealth(app: FastifyInstance): void {
  app.get('/healthz', {
    schema: { summary: 'Whether the process is alive', tags: ['health'], response: { 200: HealthBody } },
    handler: (_request, reply) => {
      reply.header('cache-control', 'no-store').send({ status: 'ok' });
    },
  });
}

/** `GET /readyz`: whether searches can be answered now, and the state of each part. */
export function registerReadiness(
  app: FastifyInstance,
  options: { readonly search: Search; readonly draining: () => boolean; readonly pressure?: Pressure },
): void {
  app.get('/readyz', {
    schema: {
      summary: 'Whether searches can be answered',
      description:
        'A lost store is degraded and ready. 503 while draining, when every domain is down, and while the process itself is near its bounds (`busy`).',
      tags: ['health'],
      response: { 200: ReadinessBody, 503: ReadinessBody },
    },
    handler: (_request, reply) => {
      const { search, draining, pressure } = options;
      const { httpStatus, body } = readiness({
        domains: search.status(),
        draining: draining(),
        ...(pressure === undefined ? {} : { pressure: pressure.status() }),
      });
      reply.code(httpStatus).header('cache-control', 'no-store').send(body);
    },
  });
}

export type ReadinessState = 'ready' | 'degraded' | 'busy' | 'down' | 'draining';

export interface Readiness {
  readonly httpStatus: 200 | 503;
  readonly body: { readonly status: ReadinessState; readonly process?: object; readonly domains: readonly object[] };
}

export interface ReadinessOptions {
  readonly domains: readonly DomainStatus[];
  readonly draining: boolean;
  readonly pressure?: PressureStatus;
}

/**
 * Ready while searches can be answered: a lost store costs speed, not answers, so it is `degraded` and still 200.
 * 503 takes a process out of its balancer, which helps only when it can answer nothing, is about to end, or would soon
 * refuse what another process has room for.
 * Nodes are counted, not named: this listener is public; `/admin/domains` names them.
 */
export function readiness(options: ReadinessOptions): Readiness {
  const { domains, pressure } = options;
  const status = stateOf(options);
  return {
    httpStatus: status === 'ready' || status === 'degraded' ? 200 : 503,
    body: { status, ...(pressure === undefined ? {} : { process: processPart(pressure) }), domains: domains.map(part) },
  };
}

function stateOf({ domains, draining, pressure }: ReadinessOptions): ReadinessState {
  if (draining) return 'draining';
  if (domains.every(({ state }) => state === 'down')) return 'down';
  if (pressure?.ready === false) return 'busy';
  return domains.every(({ state }) => state === 'ok') ? 'ready' : 'degraded';
}

function processPart({ state, inFlight, maxInFlight, loopDelayMs, maxLoopDelayMs }: PressureStatus): object {
  return { state, inFlight, maxInFlight, loopDelayMs: Math.round(loopDelayMs), maxLoopDelayMs };
}

function part({ domain, state, memory, store, engine, controlStanding, flights }: DomainStatus): object {
  const { state: engineState, kind, breaker, reachable, inFlight, queued } = engine;
  return {
    domain,
    state,
    memory: { entries: memory.entries, bytes: memory.bytes, maxBytes: memory.maxBytes },
    ...(store === undefined ? {} : { store: storePart(store) }),
    engine: { state: engineState, kind, breaker, reachable, inFlight, queued },
    control: controlStanding,
    flights,
  };
}

function storePart({ state, nodes }: NonNullable<DomainStatus['store']>): object {
  const breakers: Record<string, number> = {};
  for (const { breaker } of nodes) breakers[breaker] = (breakers[breaker] ?? 0) + 1;
  return { state, nodes: nodes.length, connected: nodes.filter(({ connected }) => connected).length, breakers };
}
