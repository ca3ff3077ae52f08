// @ts-check
import { textOf } from './tree.mjs';

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
 * @property {readonly import('../../../../search/engine.ts').SearchResult[]} results
 * @property {Readonly<Record<string, readonly import('../../../../search/engine.ts').FacetCount[]>>} facets
 * @property {boolean} [degraded]
 */

/**
 * The page's title in the browser's tab.
 * @param {PageModel} model
 */
export function titleOf(model) {
  return model.place.query === '' ? 'serpcache' : `${model.place.query} · serpcache`;
}

/** As many results as a page has at most, and more values than a facet is asked for. */
const MAX_SHOWN = 100;
/** The service's bound on `page × limit`. */
const MAX_PAGE = 1000;

/**
 * The body of an answer as the page shows it. It may come from a store that somebody else can write, so nothing is taken
 * for what its type promises: texts become texts, numbers numbers, and what is missing is empty.
 * @param {unknown} body Parsed JSON.
 * @returns {AnswerBody}
 */
export function answerFrom(body) {
  const { query, domain, page, limit, total, totalRelation, results, facets, degraded } = membersOf(body);
  return {
    query: textOf(query ?? ''),
    domain: textOf(domain ?? ''),
    page: countOf(page, 1, MAX_PAGE),
    limit: countOf(limit, 1, MAX_SHOWN),
    total: countOf(total, 0, Number.MAX_SAFE_INTEGER),
    totalRelation: totalRelation === 'gte' ? 'gte' : 'eq',
    results: listOf(results).map(resultFrom),
    facets: Object.fromEntries(Object.entries(membersOf(facets)).map(([name, counts]) => [name, countsFrom(counts)])),
    ...(degraded === true ? { degraded } : {}),
  };
}

/** @param {unknown} result */
function resultFrom(result) {
  const { id, title, snippet, score, attributes } = membersOf(result);
  return {
    id: textOf(id ?? ''),
    title: textOf(title ?? ''),
    snippet: textOf(snippet ?? ''),
    score: numberOf(score),
    attributes: Object.fromEntries(Object.entries(membersOf(attributes)).map(([name, value]) => [name, scalar(value)])),
  };
}

/** @param {unknown} counts */
function countsFrom(counts) {
  return listOf(counts).map((each) => {
    const { value, count } = membersOf(each);
    return { value: scalar(value), count: numberOf(count) };
  });
}

/**
 * @param {unknown} value
 * @returns {Readonly<Record<string, unknown>>}
 */
function membersOf(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/**
 * @param {unknown} value
 * @returns {readonly unknown[]}
 */
function listOf(value) {
  return Array.isArray(value) ? value.slice(0, MAX_SHOWN) : [];
}

/**
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 */
function countOf(value, least, most) {
  return Math.min(most, Math.max(least, Math.trunc(numberOf(value))));
}

/** @param {unknown} value */
function numberOf(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** @param {unknown} value */
function scalar(value) {
  return typeof value === 'number' ? value : textOf(value ?? '');
}
