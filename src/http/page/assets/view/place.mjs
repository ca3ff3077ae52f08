// @ts-check
import { readFilter, withValues } from './filters.mjs';
import { domainOf } from './site.mjs';

/**
 * Where the reader is: what the page's address says, unjudged. The server judges it; the page only passes it on.
 * @typedef {object} Place
 * @property {string} query
 * @property {string} domain
 * @property {string} page '' for the first.
 * @property {string} sort '' for relevance.
 * @property {string} limit '' for the default.
 * @property {readonly string[]} filters As on the wire: `attribute:value,value` or `attribute:10..50`.
 * @property {readonly (readonly [name: string, value: string])[]} context Declared parameters that were given.
 *
 * @typedef {import('./site.mjs').Site} Site
 */

/**
 * @param {Iterable<readonly [name: string, value: string]>} pairs The address's parameters, decoded.
 * @param {Site} site
 * @returns {Place}
 */
export function placeFrom(pairs, site) {
  const given = new URLSearchParams(/** @type {[string, string][]} */ ([...pairs]));
  const one = (/** @type {string} */ name) => given.get(name)?.trim() ?? '';
  const name = one('domain') || domainOf(site, '').name;
  const domain = domainOf(site, name);
  return {
    query: one('q'),
    domain: name,
    page: one('page') === '1' ? '' : one('page'),
    sort: one('sort') === 'relevance' ? '' : one('sort'),
    limit: one('limit'),
    filters: withRanges(given, domain),
    context: domain.context.flatMap(({ name }) => {
      const value = one(name);
      return value === '' ? [] : [/** @type {const} */ ([name, value])];
    }),
  };
}

/**
 * A plain form cannot write `price:10..50`, so it sends `price.from` and `price.to`, and here they become a filter. Two
 * empty bounds take away a range, not values chosen elsewhere.
 * @param {URLSearchParams} given
 * @param {import('./site.mjs').SiteDomain} domain
 */
function withRanges(given, domain) {
  let filters = given.getAll('filter').filter((filter) => filter.trim() !== '');
  for (const { name } of domain.attributes) {
    if (!given.has(`${name}.from`) && !given.has(`${name}.to`)) continue;
    const from = given.get(`${name}.from`)?.trim() ?? '';
    const to = given.get(`${name}.to`)?.trim() ?? '';
    if (from === '' && to === '') {
      filters = filters.filter(
        (filter) => readFilter(filter, domain.attributes)?.kind !== 'range' || !filter.startsWith(`${name}:`),
      );
    } else {
      filters = [...withValues(filters, name, []), `${name}:${from}..${to}`];
    }
  }
  return filters;
}

/**
 * @param {Place} place
 * @returns {[string, string][]} What differs from the defaults, in one order, so that one place has one address.
 */
export function placePairs(place) {
  return /** @type {[string, string][]} */ (
    [
      ['q', place.query],
      ['domain', place.domain],
      ['page', place.page],
      ['limit', place.limit],
      ['sort', place.sort],
      ...place.filters.map((filter) => ['filter', filter]),
      ...place.context,
    ].filter(([, value]) => value !== '')
  );
}

/**
 * The address of this page for a place.
 * @param {Place} place
 */
export function placeHref(place) {
  return `/?${new URLSearchParams(placePairs(place))}`;
}

/**
 * The parameters of the search behind a place: the server's first page and the browser's fetch ask the same question
 * and so share one entry.
 * @param {Place} place
 * @param {Site} site
 * @returns {[string, string][]}
 */
export function searchPairs(place, site) {
  const facets = domainOf(site, place.domain).attributes.filter(({ facet }) => facet);
  return [
    ...placePairs(place),
    ...facets.map(({ name }) => /** @type {[string, string]} */ (['facet', name])),
    ['highlight', 'true'],
  ];
}
