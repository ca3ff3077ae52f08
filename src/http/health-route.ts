import type { FastifyInstance } from 'fastify';
import type { Search } from '../search/search.ts';
import type { Pressure } from './pressure.ts';
import { readiness } from './readiness.ts';
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
