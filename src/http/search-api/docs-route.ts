import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { contentPolicy, OWN_FILES } from '../transport/app.ts';
import { registerFile } from '../transport/static-file.ts';

/** Swagger UI draws with `data:` images. */
const DOCS_POLICY = contentPolicy({ ...OWN_FILES, 'img-src': "'self' data:", 'font-src': "'self'" });

const DESCRIPTION = '/openapi.json';

const LARGE_FILES = [
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui-standalone-preset.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
] as const;

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
  app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_POLICY,
    theme: { title: 'serpcache API' },
    // In place of its own copy, which is sent as it is.
    uiConfig: { urls: [{ name: 'serpcache', url: DESCRIPTION }] },
  });
  registerFile(app, DESCRIPTION, {
    type: 'application/json; charset=utf-8',
    content: () => JSON.stringify(app.swagger()),
    fields: { 'cache-control': 'no-cache' },
  });
  // The plugin serves its files as they are: two megabytes.
  for (const [name, type] of LARGE_FILES) {
    registerFile(app, `/docs/static/${name}`, {
      type,
      content: () => readFileSync(fileURLToPath(import.meta.resolve(`@fastify/swagger-ui/static/${name}`))),
      fields: { 'cache-control': 'no-cache', 'content-security-policy': DOCS_POLICY },
    });
  }
}
