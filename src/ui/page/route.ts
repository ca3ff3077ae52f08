import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { weightsIn } from '../../http/transport/content-coding.ts';
import { Refusal } from '../../http/transport/problem.ts';
import { parametersOf } from '../../http/transport/request-target.ts';
import { contentPolicy, documentFields, OWN_FILES, sendCompressed } from '../../http/transport/static-file.ts';
import { pageStyle } from '../../report/document.ts';
import { readAssets, registerAssets } from '../shared/assets.ts';
import { chosenDomain, namesRead, type PageAddress, pageAddress, type Site } from './assets/address.ts';
import { type Language, pageLanguage } from './assets/locale.ts';
import { documentHtml, type FirstPage, firstPage, type PageOptions, refusedPage } from './first-page.ts';

/** Forms are sent to the page itself. */
const FIELDS = documentFields(contentPolicy({ ...OWN_FILES, 'form-action': "'self'" }));

/** The search page for people, `GET|HEAD /`, and its files under `/assets/page/`. */
export function registerPage(app: FastifyInstance, options: PageOptions): void {
  const { count, maxUrlBytes } = options;
  const assets = readAssets({
    prefix: '/assets/page',
    folder: join(import.meta.dirname, 'assets'),
    styles: ['frame', 'answer', 'filters', 'results'],
    rules: pageStyle(),
  });

  const visit = async (
    request: FastifyRequest,
    site: Site,
  ): Promise<{ readonly address: PageAddress; readonly page: FirstPage }> => {
    try {
      const { pairs, undecodable } = parametersOf(request.raw.url ?? '/', request.headers, maxUrlBytes);
      const address = pageAddress(pairs, site);
      const read = namesRead(chosenDomain(site, address.domain));
      for (const [name, refusal] of undecodable) if (read.includes(name)) throw refusal;
      return { address, page: await firstPage({ site, address, request }, options) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The address cannot be parsed: the page shows only the refusal.
      const page = refusedPage(error, options.random);
      count({ route: 'search', domain: 'none' }, { outcome: 'rejected', status: page.status }, 0);
      return { address: pageAddress([], site), page };
    }
  };

  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    schema: { hide: true },
    config: { refusesLongUrls: true },
    handler: async (request, reply) => {
      const site = siteFor(options, preferredLanguage(request.headers['accept-language']));
      const { address, page } = await visit(request, site);
      const language = pageLanguage(address.query, site.preferred);
      if (page.retryAfter !== undefined) reply.header('retry-after', page.retryAfter);
      if (page.durationMs !== undefined) reply.header('server-timing', `search;dur=${page.durationMs.toFixed(3)}`);
      if (page.traceresponse !== undefined) reply.header('traceresponse', page.traceresponse);
      reply.code(page.status).headers({
        ...FIELDS,
        // The page shows where this answer came from, which is true for one response only.
        'cache-control': page.status < 400 ? 'private, no-cache' : 'no-store',
        vary: 'Accept-Language, Accept-Encoding',
      });
      return sendCompressed(request, reply, documentHtml({ site, address, language, shown: page.shown }, assets));
    },
  });

  registerAssets(app, assets);
}

/** @param header Accept-Language @returns English when the header names neither language. */
function preferredLanguage(header = ''): Language {
  let best: { readonly language: Language; readonly weight: number } = { language: 'en', weight: 0 };
  for (const [range, weight] of weightsIn(header)) {
    const [language] = range.split('-', 1);
    if ((language === 'ru' || language === 'en') && weight > best.weight) best = { language, weight };
  }
  return best.language;
}

/** The part of the configuration that readers may see: names and attributes, not answer profiles or operators' settings. */
export function siteFor(
  { domains, examples, explainUrl }: Pick<PageOptions, 'domains' | 'examples' | 'explainUrl'>,
  preferred: Language,
): Site {
  return {
    preferred,
    examples: examples ?? [],
    domains: domains.map(({ name, attributes, context }) => ({
      name,
      attributes,
      // A page can choose only the context that a query carries; headers are set by a proxy.
      context: context.filter(({ source }) => source === 'query').map(({ name, values }) => ({ name, values })),
    })),
    explain: explainUrl,
  };
}
