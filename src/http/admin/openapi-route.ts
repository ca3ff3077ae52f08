import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { registerFile } from '../static-file.ts';

/** `GET /admin/openapi.json`. To be registered before the routes it shall describe. */
export function registerAdminDocs(app: FastifyInstance, options: { readonly version: string }): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'serpcache, for operators',
        version: options.version,
        description:
          'State, flushes, drills and warm-ups. Every change needs the admin token, and is written down with who asked for it.',
      },
      tags: ['state', 'flush', 'drills', 'warm-up', 'audit', 'health'].map((name) => ({ name })),
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    },
  });
  registerFile(app, '/admin/openapi.json', {
    type: 'application/json; charset=utf-8',
    content: () => JSON.stringify(app.swagger()),
    fields: {},
  });
}
