import type { FastifyInstance } from 'fastify';
import type { Assets } from './assets.ts';

/** `GET|HEAD <prefix>/:version/*`. @param prefix without a slash at its end. */
export function registerAssets(app: FastifyInstance, prefix: string, assets: Assets): void {
  app.route<{ Params: { version: string; '*': string } }>({
    method: ['GET', 'HEAD'],
    url: `${prefix}/:version/*`,
    schema: { hide: true },
    handler: async (request, reply) => {
      const asset = assets.byPath.get(request.params['*']);
      if (asset === undefined) return reply.callNotFound();
      // While a release rolls out, a page of one release may ask a process of the other: it gets what there is, unkept.
      const known = request.params.version === assets.version;
      reply.headers({
        etag: asset.etag,
        'cache-control': known ? 'public, max-age=31536000, immutable' : 'no-cache',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      });
      if (matches(request.headers['if-none-match'], asset.etag)) return reply.code(304).send();
      return reply.header('content-type', asset.type).send(asset.body);
    },
  });
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
}
