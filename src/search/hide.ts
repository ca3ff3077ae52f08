import type { ResultPage } from './page.ts';

/**
 * An engine knows a document longer than operators want it seen (sold, banned): until the index has lost it too, each new
 * page leaves it out. So a page is shorter by one, and its total counts what may be seen of it.
 */
export function withoutHidden(page: ResultPage, hides: ((id: string) => boolean) | undefined): ResultPage {
  if (hides === undefined) return page;
  const results = page.results.filter(({ id }) => !hides(id));
  const hidden = page.results.length - results.length;
  return hidden === 0 ? page : { ...page, results, total: Math.max(results.length, page.total - hidden) };
}
