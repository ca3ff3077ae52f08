import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { CONTROL_STANDINGS } from '../../cache/invalidation.ts';
import { STORE_REASONS } from '../../cache/store.ts';
import { oneOf } from '../../schema/fields.ts';
import type { DomainStatus } from '../../search/status.ts';
import { EVERY_ANSWER } from '../transport/problem.ts';
import type { PressureStatus } from './admission.ts';
import type { HttpResponse } from './exchange.ts';

/** An answer about the health of the process, as Fastify's routes and the lane send it. */
export interface HealthAnswer {
  readonly status: 200 | 503;
  readonly body: object;
}

export const ALIVE: HealthAnswer = { status: 200, body: { status: 'ok' } };

/** Sends the fields that Fastify sends, in its order. */
export function writeHealth(
  response: Pick<HttpResponse, 'writeHead' | 'end'>,
  { status, body }: HealthAnswer,
  requestId: string,
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  const type = { 'content-type': 'application/json; charset=utf-8', 'content-length': String(bytes.length) };
  response.writeHead(status, { 'x-request-id': requestId, ...EVERY_ANSWER, 'cache-control': 'no-store', ...type });
  response.end(bytes);
}

/** `GET /healthz`: the event loop runs. Nothing else belongs here, because a restart does not repair an engine. */
export function registerHealth(app: FastifyInstance): void {
  app.get('/healthz', {
    schema: { summary: 'Whether the process is alive', tags: ['health'], response: { 200: HealthBody } },
    handler: (_request, reply) => {
      reply.header('cache-control', 'no-store').send(ALIVE.body);
    },
  });
}

/** `GET /readyz`: whether searches can be answered now, and the state of each part. */
export function registerReadiness(app: FastifyInstance, readiness: () => HealthAnswer): void {
  app.get('/readyz', {
    schema: {
      summary: 'Whether searches can be answered',
      description:
        'Without its store a process is `degraded` and ready. 503 while draining, when every domain is down, and while the process is near its limits (`busy`).',
      tags: ['health'],
      response: { 200: ReadinessBody, 503: ReadinessBody },
    },
    handler: (_request, reply) => {
      const { status, body } = readiness();
      reply.code(status).header('cache-control', 'no-store').send(body);
    },
  });
}

const READINESS = ['ready', 'degraded', 'busy', 'down', 'draining'] as const;

interface ReadinessOptions {
  readonly domains: readonly DomainStatus[];
  readonly draining: boolean;
  readonly pressure?: PressureStatus;
  /** Standing findings of the doctor by severity; they never change the status. */
  readonly findings?: Findings;
}

/** Counts, because this listener is public: `/admin/doctor` tells which. */
export type Findings = Readonly<Record<'critical' | 'warning' | 'info', number>>;

/**
 * Ready while searches can be answered: a lost store costs speed but no answers, so it is `degraded` and 200. 503 removes
 * a process from its balancer. That helps only when the process can answer nothing, is about to end, or would soon refuse
 * searches that another process has room for. Nodes are counted but not named, because this listener is public;
 * `/admin/domains` names them.
 */
export function readinessOf(options: ReadinessOptions): HealthAnswer {
  const { domains, pressure, findings } = options;
  const status = stateOf(options);
  return {
    status: status === 'ready' || status === 'degraded' ? 200 : 503,
    body: {
      status,
      process: pressure && processPart(pressure),
      findings: findings && countsOnly(findings),
      domains: domains.map(part),
    },
  };
}

function stateOf({ domains, draining, pressure }: ReadinessOptions): (typeof READINESS)[number] {
  if (draining) return 'draining';
  if (domains.every(({ state }) => state === 'down')) return 'down';
  if (pressure?.ready === false) return 'busy';
  return domains.every(({ state }) => state === 'ok') ? 'ready' : 'degraded';
}

/** Nothing else is copied, whatever the object has: this listener is public. */
function countsOnly({ critical, warning, info }: Findings): Findings {
  return { critical, warning, info };
}

function processPart({ state, inFlight, maxInFlight, loopDelayMs, maxLoopDelayMs }: PressureStatus): object {
  return { state, inFlight, maxInFlight, loopDelayMs: Math.round(loopDelayMs), maxLoopDelayMs };
}

function part({ domain, state, memory, store, engine, controlStanding, loads }: DomainStatus): object {
  const { state: engineState, kind, breaker, reachable, inFlight, queued } = engine;
  return {
    domain,
    state,
    memory: { entries: memory.entries, bytes: memory.bytes, maxBytes: memory.maxBytes },
    store: store && storePart(store),
    engine: { state: engineState, kind, breaker, reachable, inFlight, queued },
    control: controlStanding,
    loads,
  };
}

function storePart({ state, nodes, reasons }: NonNullable<DomainStatus['store']>): object {
  const breakers: Record<string, number> = {};
  for (const { breaker } of nodes) breakers[breaker] = (breakers[breaker] ?? 0) + 1;
  const connected = nodes.filter((node) => node.connected).length;
  return { state, nodes: nodes.length, connected, breakers, reasons };
}

const HealthBody = Type.Object({ status: Type.Literal('ok') });

const ReadinessBody = Type.Object({
  status: oneOf(READINESS),
  process: Type.Optional(
    Type.Object(
      {
        state: oneOf(['ok', 'degraded', 'down']),
        inFlight: Type.Integer(),
        maxInFlight: Type.Integer(),
        loopDelayMs: Type.Integer(),
        maxLoopDelayMs: Type.Integer(),
      },
      { description: 'Searches in flight that memory could not answer, and the delay of the event loop.' },
    ),
  ),
  findings: Type.Optional(
    Type.Object(
      { critical: Type.Integer(), warning: Type.Integer(), info: Type.Integer() },
      { description: 'Standing findings of the doctor, acknowledged ones left out. They do not change the status.' },
    ),
  ),
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      state: oneOf(['ok', 'degraded', 'down']),
      memory: Type.Object({ entries: Type.Integer(), bytes: Type.Integer(), maxBytes: Type.Integer() }),
      store: Type.Optional(
        Type.Object({
          state: oneOf(['ok', 'degraded', 'down']),
          nodes: Type.Integer(),
          connected: Type.Integer(),
          breakers: Type.Record(Type.String(), Type.Integer(), {
            description: 'Number of nodes by the state of their breaker.',
          }),
          reasons: Type.Array(oneOf(STORE_REASONS), {
            description:
              'Why the store is not `ok`, each reason once. `read-only`: writes are refused, as by a replica.',
          }),
        }),
      ),
      engine: Type.Object({
        state: oneOf(['ok', 'degraded', 'down']),
        kind: Type.String(),
        breaker: oneOf(['closed', 'open', 'half-open']),
        reachable: Type.Boolean({
          description:
            'Result of the latest probe; probes run every few seconds, more often while the breaker is open.',
        }),
        inFlight: Type.Integer(),
        queued: Type.Integer(),
      }),
      control: oneOf(CONTROL_STANDINGS),
      loads: Type.Integer({ description: 'Distinct searches that are being computed now.' }),
    }),
  ),
});
