import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../http/transport/problem.ts';
import { parametersOf } from '../../http/transport/request-target.ts';
import { contentPolicy, documentFields, OWN_FILES, sendCompressed } from '../../http/transport/static-file.ts';
import { pageLanguage, preferredLanguage } from './assets/view/language.mjs';
import { type Place, placeFrom } from './assets/view/place.mjs';
import type { Site } from './assets/view/site.mjs';
import { readAssets, registerAssets } from './assets.ts';
import { documentHtml } from './document.ts';
import { type FirstPage, firstPage, refusedPage } from './first-page.ts';
import type { PageOptions } from './options.ts';
import { siteFor } from './site.ts';

/** Forms come back here. */
const FIELDS = documentFields(contentPolicy({ ...OWN_FILES, 'form-action': "'self'" }));

const ASSETS = join(import.meta.dirname, 'assets');
const STYLES = ['theme', 'frame', 'answer', 'filters', 'list', 'notices'];

/** The search page for people, `GET|HEAD /`, and its files under `/assets/page/`. */
export function registerPage(app: FastifyInstance, options: PageOptions): void {
  const { observe, maxUrlBytes } = options;
  const assets = readAssets({
    prefix: '/assets/page',
    entry: join(ASSETS, 'main.mjs'),
    styles: STYLES.map((name) => join(ASSETS, 'style', `${name}.css`)),
    icon: join(ASSETS, 'icon.svg'),
  });

  const visit = async (
    request: FastifyRequest,
    site: Site,
  ): Promise<{ readonly place: Place; readonly page: FirstPage }> => {
    try {
      const { pairs } = parametersOf(request.raw.url ?? '/', request.headers, maxUrlBytes);
      const place = placeFrom(pairs, site);
      return { place, page: await firstPage({ site, place, request }, options) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Not even an address: there is nothing to show but the refusal.
      const page = refusedPage(error, options.random);
      const { status } = page;
      observe?.({ kind: 'request', route: 'search', domain: 'none', outcome: 'rejected', status, durationMs: 0 });
      return { place: placeFrom([], site), page };
    }
  };

  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    schema: { hide: true },
    config: { refusesLongUrls: true },
    handler: async (request, reply) => {
      const site = siteFor(options, preferredLanguage(request.headers['accept-language']));
      const { place, page } = await visit(request, site);
      const language = pageLanguage(place.query, site.preferred);
      if (page.retryAfter !== undefined) reply.header('retry-after', page.retryAfter);
      if (page.durationMs !== undefined) reply.header('server-timing', `search;dur=${page.durationMs.toFixed(3)}`);
      reply.code(page.status).headers({
        ...FIELDS,
        // It says where *this* answer came from, so it is true once.
        'cache-control': page.status < 400 ? 'private, no-cache' : 'no-store',
        vary: 'Accept-Language, Accept-Encoding',
      });
      return sendCompressed(request, reply, documentHtml({ site, place, language, shown: page.shown }, assets));
    },
  });

  registerAssets(app, assets);
}
