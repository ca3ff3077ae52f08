// @ts-check
import { textOf } from '../../../report/text-of.mjs';
import { searchPairs } from './address.mjs';
import { provenanceOf } from './provenance.mjs';

/**
 * Everything that one state of the page shows. The server makes it from an answer, the browser from a response.
 * @typedef {object} PageModel
 * @property {import('./address.mjs').Site} site
 * @property {import('./address.mjs').Address} address
 * @property {import('./locale.mjs').Language} language
 * @property {Shown} shown
 *
 * @typedef {{ readonly kind: 'start' }
 *   | { readonly kind: 'answer', readonly answer: AnswerBody, readonly provenance: import('./provenance.mjs').Provenance }
 *   | Failure} Shown
 *
 * @typedef {object} Failure
 * @property {'failure'} kind
 * @property {string} code A code of the service, or `unreachable`, `slow`, `other`.
 * @property {string} [detail] The service's own text, in English.
 * @property {string} [parameter] The parameter at fault.
 * @property {number} [retryAfterSeconds]
 *
 * @typedef {object} AnswerBody The 200 body of `/search`.
 * @property {string} query Canonical text.
 * @property {string} domain
 * @property {number} page
 * @property {number} limit
 * @property {number} total
 * @property {'eq' | 'gte'} totalRelation
 * @property {readonly import('../../../search/engine.ts').SearchResult[]} results
 * @property {Readonly<Record<string, readonly import('../../../search/engine.ts').FacetCount[]>>} facets
 * @property {boolean} [degraded]
 */

/** The service's maximum of `page × limit`. */
export const MAX_RESULTS = 1000;
/** Maximum number of results on a page, which is more than the maximum number of values of a facet. */
const MAX_SHOWN = 100;
/** Longer than any deadline of the service: only a lost network causes such a wait. */
const TIMEOUT_MS = 20_000;

/**
 * The page's title in the browser's tab.
 * @param {PageModel} model
 */
export function titleOf(model) {
  return model.address.query === '' ? 'serpcache' : `${model.address.query} · serpcache`;
}

/**
 * The body of an answer as the page shows it. It may come from a store that others can write, so its types are not
 * trusted: each member becomes a text or a number, and a missing one becomes empty.
 * @param {unknown} body Parsed JSON.
 * @returns {AnswerBody}
 */
export function answerFrom(body) {
  const { query, domain, page, limit, total, totalRelation, results, facets, degraded } = membersOf(body);
  return {
    query: textOf(query ?? ''),
    domain: textOf(domain ?? ''),
    page: countOf(page, 1, MAX_RESULTS),
    limit: countOf(limit, 1, MAX_SHOWN),
    total: countOf(total, 0, Number.MAX_SAFE_INTEGER),
    totalRelation: totalRelation === 'gte' ? 'gte' : 'eq',
    results: listOf(results).map(resultFrom),
    facets: Object.fromEntries(Object.entries(membersOf(facets)).map(([name, counts]) => [name, countsFrom(counts)])),
    ...(degraded === true ? { degraded } : {}),
  };
}

/**
 * Makes the search behind an address.
 * @param {import('./address.mjs').Address} address
 * @param {import('./address.mjs').Site} site
 * @param {AbortSignal} signal Aborted when the reader starts another search.
 * @returns {Promise<Shown>} Rejects only when `signal` has aborted.
 */
export async function fetchAnswer(address, site, signal) {
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    // The browser's cache would return the old Cache-Status; the page shows where this answer came from.
    const response = await fetch(`/search?${new URLSearchParams(searchPairs(address, site))}`, {
      cache: 'no-store',
      headers: { accept: 'application/json, application/problem+json' },
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) return await failureOf(response);
    const answer = answerFrom(await response.json());
    const header = (/** @type {string} */ name) => response.headers.get(name) ?? '';
    const tookMs = performance.now() - startedAt;
    const provenance = provenanceOf(header('cache-status'), header('server-timing'), tookMs);
    return { kind: 'answer', answer, provenance };
  } catch (error) {
    if (signal.aborted) throw error;
    return { kind: 'failure', code: timeout.aborted ? 'slow' : 'unreachable' };
  }
}

/** @param {unknown} result */
function resultFrom(result) {
  const { id, title, snippet, score, attributes } = membersOf(result);
  return {
    id: textOf(id ?? ''),
    title: textOf(title ?? ''),
    snippet: textOf(snippet ?? ''),
    score: numberOf(score),
    attributes: Object.fromEntries(
      Object.entries(membersOf(attributes)).map(([name, value]) => [
        name,
        Array.isArray(value) ? listOf(value).map(scalar) : scalar(value),
      ]),
    ),
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
 * @param {number} min
 * @param {number} max
 */
function countOf(value, min, max) {
  return Math.min(max, Math.max(min, Math.trunc(numberOf(value))));
}

/** @param {unknown} value */
function numberOf(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** @param {unknown} value */
function scalar(value) {
  return typeof value === 'number' ? value : textOf(value ?? '');
}

/**
 * @param {Response} response
 * @returns {Promise<Failure>}
 */
async function failureOf(response) {
  const isProblem = (response.headers.get('content-type') ?? '').startsWith('application/problem+json');
  const { code, detail, parameter } = membersOf(isProblem ? await response.json() : undefined);
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return {
    kind: 'failure',
    code: typeof code === 'string' ? code : 'other',
    ...(typeof detail === 'string' ? { detail } : {}),
    ...(typeof parameter === 'string' ? { parameter } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}),
  };
}
