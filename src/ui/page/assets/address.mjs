// @ts-check
import { withBounds } from './filters.mjs';
import { pageLanguage } from './locale.mjs';

/**
 * The page's address: reading and writing it, and the search behind it.
 * @typedef {object} Address The parameters of the page's address, not validated: the service validates them.
 * @property {string} query
 * @property {string} domain
 * @property {string} page '' for the first.
 * @property {string} sort '' for relevance.
 * @property {string} limit '' for the default.
 * @property {readonly string[]} filters As on the wire: `attribute:value,value` or `attribute:10..50`.
 * @property {readonly (readonly [name: string, value: string])[]} context Declared parameters that were given.
 * @property {readonly (readonly [name: string, value: string])[]} repeated Single-value parameters that were given more
 *   than once. The search carries them, so that the service refuses it; no address that the page writes has them.
 *
 * @typedef {object} Site The facts about the service that every page needs. They are sent with the document and do not
 *   change.
 * @property {readonly SiteDomain[]} domains In configured order; the first is the default.
 * @property {import('./locale.mjs').Language} preferred From Accept-Language.
 * @property {string} [explain] Address of the admin listener's explain, where readers of this page can reach it.
 * @property {readonly Example[]} examples Searches to offer on the first page.
 *
 * @typedef {object} SiteDomain
 * @property {string} name
 * @property {readonly import('../../../search/domain.ts').Attribute[]} attributes
 * @property {readonly { readonly name: string, readonly values: readonly string[] }[]} context The context parameters
 *   that a query may carry; the first value is the default.
 *
 * @typedef {object} Example
 * @property {string} domain
 * @property {string} query
 */

/** Maximum size of all links of one kind on a page together. Each link repeats the whole address, which may have 16 KiB. */
const MAX_LINK_BYTES = 256 * 1024;
const MIN_LINKS = 4;

/**
 * @param {Iterable<readonly [name: string, value: string]>} pairs The address's parameters, decoded.
 * @param {Site} site
 * @returns {Address}
 */
export function addressFrom(pairs, site) {
  const given = new URLSearchParams(/** @type {[string, string][]} */ ([...pairs]));
  const one = (/** @type {string} */ name) => given.get(name)?.trim() ?? '';
  const name = one('domain') || domainOf(site, '').name;
  const domain = domainOf(site, name);
  const query = one('q');
  const single = singleNames(domain);
  return {
    query,
    domain: name,
    page: one('page') === '1' ? '' : one('page'),
    sort: one('sort') === 'relevance' ? '' : one('sort'),
    limit: one('limit'),
    filters: withBounds(given, domain.attributes, pageLanguage(query, site.preferred)),
    context: domain.context.flatMap(({ name }) => {
      const value = one(name);
      return value === '' ? [] : [/** @type {const} */ ([name, value])];
    }),
    repeated: [...given].filter(([name]) => single.includes(name) && given.getAll(name).length > 1),
  };
}

/** @param {SiteDomain} domain */
function singleNames({ context }) {
  return ['q', 'domain', 'page', 'limit', 'sort', ...context.map(({ name }) => name)];
}

/**
 * The parameters that `addressFrom` reads.
 * @param {SiteDomain} domain
 */
export function namesRead(domain) {
  return ['filter', ...singleNames(domain), ...domain.attributes.flatMap(({ name }) => [`${name}.from`, `${name}.to`])];
}

/**
 * @param {Address} address
 * @returns {[string, string][]} The parameters that differ from the defaults, in a fixed order, so that each search has
 *   one address.
 */
export function addressPairs(address) {
  return /** @type {[string, string][]} */ (
    [
      ['q', address.query],
      ['domain', address.domain],
      ['page', address.page],
      ['limit', address.limit],
      ['sort', address.sort],
      ...address.filters.map((filter) => ['filter', filter]),
      ...address.context,
    ].filter(([, value]) => value !== '')
  );
}

/** @param {Address} address */
export function hrefOf(address) {
  return `/?${new URLSearchParams(addressPairs(address))}`;
}

/**
 * The same query in another domain. Filters, sort and context belong to a domain and are left out.
 * @param {Address} address
 * @param {string} domain
 */
export function domainHref(address, domain) {
  return hrefOf({ ...address, domain, page: '', sort: '', filters: [], context: [] });
}

/**
 * The maximum number of links of one kind on a page with this address: thousands for usual addresses, a few for one of
 * the maximum length.
 * @param {Address} address
 */
export function maxLinks(address) {
  return Math.max(MIN_LINKS, Math.floor(MAX_LINK_BYTES / hrefOf(address).length));
}

/**
 * No query: the start page, with only the search box.
 * @param {Address} address
 */
export function isStart({ query, repeated }) {
  return query === '' && repeated.length === 0;
}

/**
 * The parameters of the search behind an address. The server's first page and the browser's fetch send the same search,
 * so that they share one cache entry.
 * @param {Address} address
 * @param {Site} site
 * @returns {[string, string][]}
 */
export function searchPairs(address, site) {
  const facets = domainOf(site, address.domain).attributes.filter(({ facet }) => facet);
  return [
    ...addressPairs(address),
    ...facets.map(({ name }) => /** @type {[string, string]} */ (['facet', name])),
    ['highlight', 'true'],
    .../** @type {[string, string][]} */ (address.repeated),
  ];
}

/**
 * The domain with this name, or the default domain for an unknown name, so that the page of a refusal has tabs too.
 * @param {Site} site
 * @param {string} name
 * @returns {SiteDomain}
 */
export function domainOf(site, name) {
  const domain = site.domains.find((each) => each.name === name) ?? site.domains[0];
  if (domain === undefined) throw new Error('no domain is configured');
  return domain;
}
