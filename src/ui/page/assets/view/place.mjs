// @ts-check
import { withBounds } from './bounds.mjs';
import { pageLanguage } from './language.mjs';
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
 * @property {readonly (readonly [name: string, value: string])[]} repeated What may be given once and was given more
 *   often: asked with, so that the server refuses it, but in no address the page writes.
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
  const query = one('q');
  const single = ['q', 'domain', 'page', 'limit', 'sort', ...domain.context.map((each) => each.name)];
  return {
    query,
    domain: name,
    page: one('page') === '1' ? '' : one('page'),
    sort: one('sort') === 'relevance' ? '' : one('sort'),
    limit: one('limit'),
    filters: withBounds(given, domain, pageLanguage(query, site.preferred)),
    context: domain.context.flatMap(({ name }) => {
      const value = one(name);
      return value === '' ? [] : [/** @type {const} */ ([name, value])];
    }),
    repeated: [...given].filter(([name]) => single.includes(name) && given.getAll(name).length > 1),
  };
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

/** Of all links of one kind on a page, together. Each repeats the whole address, which may be 16 KiB long. */
const MAX_LINK_BYTES = 256 * 1024;

/**
 * How many links to places like this one a page may hold of one kind: thousands for what people choose, a few where an
 * address is as long as it may be.
 * @param {Place} place
 */
export function linksLike(place) {
  return Math.max(4, Math.floor(MAX_LINK_BYTES / placeHref(place).length));
}

/**
 * The address of the same query in a section. Filters, sort and context are a section's own and stay behind.
 * @param {Place} place
 * @param {string} domain
 */
export function sectionHref(place, domain) {
  return placeHref({ ...place, domain, page: '', sort: '', filters: [], context: [] });
}

/**
 * Nothing to ask: the first page, with only a box.
 * @param {Place} place
 */
export function isStart({ query, repeated }) {
  return query === '' && repeated.length === 0;
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
    .../** @type {[string, string][]} */ (place.repeated),
  ];
}
