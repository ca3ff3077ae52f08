import type { ResultPage } from './page.ts';
import type { SearchRequest } from './request.ts';

/** The JSON body of design §4: a fixed member order, so that the same page is the same bytes in every process. */
export function encodeBody(request: SearchRequest, page: ResultPage): Buffer {
  return Buffer.from(
    JSON.stringify({
      query: request.text,
      domain: request.domain,
      page: request.page,
      limit: request.limit,
      total: page.total,
      totalRelation: page.totalRelation,
      ...(page.partial === undefined ? {} : { degraded: true }),
      results: page.results.map(({ id, title, snippet, score, attributes }) => ({
        id,
        title,
        snippet,
        score,
        attributes,
      })),
      facets: Object.fromEntries(request.facets.map((name) => [name, page.facets[name] ?? []])),
    }),
  );
}
