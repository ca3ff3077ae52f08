// @ts-check
/**
 * Everything one state of the page shows. The server makes it from an answer, the browser from a response.
 * @typedef {object} PageModel
 * @property {import('./site.mjs').Site} site
 * @property {import('./place.mjs').Place} place
 * @property {import('./language.mjs').Language} language
 * @property {Shown} shown
 *
 * @typedef {{ readonly kind: 'start' }
 *   | { readonly kind: 'answer', readonly answer: AnswerBody, readonly provenance: import('./provenance.mjs').Provenance }
 *   | Failure} Shown
 *
 * @typedef {object} Failure
 * @property {'failure'} kind
 * @property {string} code A code of the service, or `unreachable`, `slow`, `other`.
 * @property {string} [detail] What the service said, in English.
 * @property {string} [parameter] The one at fault.
 * @property {number} [retryAfterSeconds]
 *
 * @typedef {object} AnswerBody The 200 body of `/search`.
 * @property {string} query Canonical text.
 * @property {string} domain
 * @property {number} page
 * @property {number} limit
 * @property {number} total
 * @property {'eq' | 'gte'} totalRelation
 * @property {readonly import('../../../../search/page.ts').SearchResult[]} results
 * @property {Readonly<Record<string, readonly import('../../../../search/page.ts').FacetCount[]>>} facets
 * @property {boolean} [degraded]
 */

/**
 * The page's title in the browser's tab.
 * @param {PageModel} model
 */
export function titleOf(model) {
  return model.place.query === '' ? 'serpcache' : `${model.place.query} · serpcache`;
}
