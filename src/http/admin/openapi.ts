import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { PROBLEM_ANSWERS } from '../search-api/schema.ts';
import { registerFile } from '../transport/static-file.ts';

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

/** What OpenAPI says of one route of the operators' API. */
export interface Described {
  readonly summary: string;
  readonly description?: string;
  readonly tag: 'state' | 'flush' | 'drills' | 'warm-up' | 'audit';
  readonly body?: TSchema;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly answer: TSchema;
  /** 200 unless said. */
  readonly status?: 201;
  /** Of the answer, `application/json` unless said. */
  readonly type?: string;
}

export function described(route: Described): Record<string, unknown> {
  const { summary, description, tag, body, params, query, answer, status = 200, type = 'application/json' } = route;
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: [{ token: [] }],
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(body === undefined ? {} : { body, headers: Operator }),
    response: {
      [status]: { description: 'Done.', content: { [type]: { schema: answer } } },
      ...PROBLEM_ANSWERS,
    },
  };
}

const Operator = Type.Object({
  'x-operator': Type.Optional(
    Type.String({ maxLength: 64, description: 'Who asks, for the audit; `operator` unless said.' }),
  ),
});

/** Answers keep room for members of later versions; bodies do not. */
export const closed = { additionalProperties: false } as const;
