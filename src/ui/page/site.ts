import type { Language } from './assets/view/language.mjs';
import type { Site } from './assets/view/site.mjs';
import type { PageOptions } from './options.ts';

/** What the view may know: names and attributes, never answer profiles or anything of an operator's. */
export function siteFor(
  { search, examples, explainUrl }: Pick<PageOptions, 'search' | 'examples' | 'explainUrl'>,
  preferred: Language,
): Site {
  return {
    preferred,
    examples: examples ?? [],
    domains: search.domains.map(({ name, attributes, context }) => ({
      name,
      attributes,
      // A header is the proxy's to set; only what a query may carry can be chosen on a page.
      context: context.filter(({ source }) => source === 'query').map(({ name, values }) => ({ name, values })),
    })),
    ...(explainUrl === undefined ? {} : { explain: explainUrl }),
  };
}
