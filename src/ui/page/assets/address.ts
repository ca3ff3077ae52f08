import { type Attributes, h } from '../../../report/tree.ts';
import type { Attribute } from '../../../search/domain.ts';
import { withBounds } from './filters.ts';
import { type Language, pageLanguage } from './locale.ts';

/** The page's address: reading and writing it, and the search behind it. */
export interface PageAddress {
  readonly query: string;
  readonly domain: string;
  /** '' for the first. */
  readonly page: string;
  /** '' for relevance. */
  readonly sort: string;
  /** '' for the default. */
  readonly limit: string;
  /** As on the wire: `attribute:value,value` or `attribute:10..50`. */
  readonly filters: readonly string[];
  /** Declared parameters that were given. */
  readonly context: readonly (readonly [name: string, value: string])[];
  /**
   * Single-value parameters that were given more than once. The search carries them, so that the service refuses
   * it; no address that the page writes has them.
   */
  readonly repeated: readonly (readonly [name: string, value: string])[];
}

/** The facts about the service that every page needs. They are sent with the document and do not change. */
export interface Site {
  /** In configured order; the first is the default. */
  readonly domains: readonly SiteDomain[];
  /** From Accept-Language. */
  readonly preferred: Language;
  /** PageAddress of the admin listener's explain, where readers of this page can reach it. */
  readonly explain?: string;
  /** Searches to offer on the first page. */
  readonly examples: readonly Example[];
}

export interface SiteDomain {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  /** The context parameters that a query may carry; the first value is the default. */
  readonly context: readonly { readonly name: string; readonly values: readonly string[] }[];
}

export interface Example {
  readonly domain: string;
  readonly query: string;
}

/** Maximum size of all links of one kind on a page together. Each link repeats the whole address, which may have 16 KiB. */
const MAX_LINK_BYTES = 256 * 1024;
const MIN_LINKS = 4;

/** @param pairs The address's parameters, decoded. */
export function pageAddress(pairs: Iterable<readonly [name: string, value: string]>, site: Site): PageAddress {
  const given = new URLSearchParams([...pairs] as [string, string][]);
  const one = (name: string) => given.get(name)?.trim() ?? '';
  const name = one('domain') || chosenDomain(site, '').name;
  const domain = chosenDomain(site, name);
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
      return value === '' ? [] : [[name, value] as const];
    }),
    repeated: [...given].filter(([name]) => single.includes(name) && given.getAll(name).length > 1),
  };
}

function singleNames({ context }: SiteDomain) {
  return ['q', 'domain', 'page', 'limit', 'sort', ...context.map(({ name }) => name)];
}

/** The parameters that `addressFrom` reads. */
export function namesRead(domain: SiteDomain) {
  return ['filter', ...singleNames(domain), ...domain.attributes.flatMap(({ name }) => [`${name}.from`, `${name}.to`])];
}

/** @returns The parameters that differ from the defaults, in a fixed order, so that each search has one address. */
export function addressPairs(address: PageAddress): [string, string][] {
  return [
    ['q', address.query],
    ['domain', address.domain],
    ['page', address.page],
    ['limit', address.limit],
    ['sort', address.sort],
    ...address.filters.map((filter) => ['filter', filter]),
    ...address.context,
  ].filter(([, value]) => value !== '') as [string, string][];
}

export function pageHref(address: PageAddress) {
  return `/?${new URLSearchParams(addressPairs(address))}`;
}

/** The same query in another domain. Filters, sort and context belong to a domain and are left out. */
export function inDomain(address: PageAddress, domain: string): PageAddress {
  return { ...address, domain, page: '', sort: '', filters: [], context: [] };
}

/** A link that the page's script follows without loading the document again. */
export function navLink(address: PageAddress, attributes: Attributes = {}) {
  return h('a', { href: pageHref(address), 'data-nav': true, ...attributes });
}

/**
 * The maximum number of links of one kind on a page with this address: thousands for usual addresses, a few for one
 * of the maximum length.
 */
export function maxLinks(address: PageAddress) {
  return Math.max(MIN_LINKS, Math.floor(MAX_LINK_BYTES / pageHref(address).length));
}

/** No query: the start page, with only the search box. */
export function isStart({ query, repeated }: PageAddress) {
  return query === '' && repeated.length === 0;
}

/**
 * The parameters of the search behind an address. The server's first page and the browser's fetch send the same
 * search, so that they share one cache entry.
 */
export function searchPairs(address: PageAddress, site: Site): [string, string][] {
  const facets = chosenDomain(site, address.domain).attributes.filter(({ facet }) => facet);
  return [
    ...addressPairs(address),
    ...facets.map(({ name }) => ['facet', name] as [string, string]),
    ['highlight', 'true'],
    ...(address.repeated as [string, string][]),
  ];
}

/** The domain with this name, or the default domain for an unknown name, so that the page of a refusal has tabs too. */
export function chosenDomain(site: Site, name: string): SiteDomain {
  const domain = site.domains.find((each) => each.name === name) ?? site.domains[0];
  if (domain === undefined) throw new Error('no domain is configured');
  return domain;
}
