import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { type StaticFile, sendStatic, staticFile } from '../../http/transport/static-file.ts';
import { h, type TreeElement } from './assets/view/tree.mjs';
import { bundle } from './bundle.ts';

/** The files of one page: its modules as one script, its style sheets as one, and its icon. Three requests. */
export interface Assets {
  readonly byName: ReadonlyMap<string, StaticFile>;
  readonly prefix: string;
  /** Changes when any file does. It is a part of every address, so that a new release never mixes with an old one. */
  readonly version: string;
}

export interface AssetSources {
  /** Address below which they are served, without a slash at its end. */
  readonly prefix: string;
  /** The module to begin with. */
  readonly entry: string;
  /** In the order they apply. */
  readonly styles: readonly string[];
  readonly icon: string;
  /** Source of modules that are no files of ours: file → source. */
  readonly foreign?: Readonly<Record<string, string>>;
}

/** Reads the files once: the process serves what it started with, whatever happens on disk. */
export function readAssets({ prefix, entry, styles, icon, foreign = {} }: AssetSources): Assets {
  const text = (file: string): string => readFileSync(file, 'utf8');
  const byName = new Map([
    [
      'main.mjs',
      staticFile(
        bundle(entry, (file) => foreign[file] ?? text(file)),
        'text/javascript; charset=utf-8',
      ),
    ],
    ['main.css', staticFile(styles.map(text).join('\n'), 'text/css; charset=utf-8')],
    ['icon.svg', staticFile(text(icon), 'image/svg+xml')],
  ]);
  const whole = createHash('sha256');
  for (const { etag } of byName.values()) whole.update(etag);
  const version = whole.digest('base64url').slice(0, 12);
  return { byName, prefix, version };
}

/** The elements of `<head>` that load them. */
export function assetLinks({ prefix, version }: Assets): readonly TreeElement[] {
  const base = `${prefix}/${version}`;
  return [
    h('link', { rel: 'icon', href: `${base}/icon.svg`, type: 'image/svg+xml' }),
    h('link', { rel: 'stylesheet', href: `${base}/main.css` }),
    h('script', { type: 'module', src: `${base}/main.mjs` }),
  ];
}

/** `GET|HEAD <prefix>/:version/<name>`. */
export function registerAssets(app: FastifyInstance, assets: Assets): void {
  app.route<{ Params: { version: string; '*': string } }>({
    method: ['GET', 'HEAD'],
    url: `${assets.prefix}/:version/*`,
    schema: { hide: true },
    handler: async (request, reply) => {
      const file = assets.byName.get(request.params['*']);
      if (file === undefined) return reply.callNotFound();
      // While a release rolls out, a page of one release may ask a process of the other: it gets what there is, unkept.
      const known = request.params.version === assets.version;
      reply.headers({
        'cache-control': known ? 'public, max-age=31536000, immutable' : 'no-cache',
        'cross-origin-resource-policy': 'same-origin',
      });
      return sendStatic(request, reply, file);
    },
  });
}
