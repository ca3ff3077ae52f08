import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';

/** Swagger UI draws with `data:` images; nothing of it is inline, nothing comes from elsewhere. */
const DOCS_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `GET /openapi.json` and, for people, `GET /docs`. To be registered before the routes it shall describe. */
export function registerDocs(app: FastifyInstance, options: { readonly version: string }): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'serpcache',
        version: options.version,
        description: 'Search results with two cache tiers in front of a full-text engine.',
      },
      tags: [{ name: 'search' }, { name: 'health' }],
    },
  });
  app.register(swaggerUi, { routePrefix: '/docs', staticCSP: DOCS_CSP, theme: { title: 'serpcache API' } });
  app.get('/openapi.json', { schema: { hide: true } }, (_request, reply) => {
    reply.send(app.swagger());
  });
}
