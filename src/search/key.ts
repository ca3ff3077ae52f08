import { hash } from 'node:crypto';
import { ENTRY_VERSION } from '../cache/codec.ts';
import { BUCKETS } from '../cache/invalidation.ts';
import { canonicalForm } from './canonical.ts';
import type { Attribute, SearchDomain, SearchRequest } from './domain.ts';
import { InvalidSearch, parseRequest, type SearchParameters, searchParametersOf, searchTextOf } from './query.ts';

/** A validated search with the text that identifies its answer. Cheap to keep: http remembers it per URL. */
export interface PreparedSearch<Domain extends SearchDomain = SearchDomain> extends SearchKey {
  readonly domain: Domain;
  readonly request: SearchRequest;
  /** Two requests share it exactly when they must share an answer; see canonical.ts. */
  readonly canonical: string;
}

export interface SearchKey {
  /** First 16 bytes of SHA-256 of the canonical form, base64url: 22 characters. */
  readonly key: string;
  /** `sc1:<domain>:{<key>}`: the tag puts an entry and its lease on one slot, and spreads keys evenly over slots. */
  readonly storeName: string;
  /** Key hash modulo 10 000: the unit of flushes and drills. */
  readonly bucket: number;
}

/** Everything on the engine's side that changes an answer. Part of every key: a changed configuration never serves old answers. */
interface AnswerProfile {
  readonly engine: string;
  /** The adapter's revision: raised when its statements or its reading of replies change. */
  readonly revision: number;
  readonly index: string;
  readonly ranker: string;
  /** Further settings of that engine which change its answers, in a fixed order. */
  readonly details: readonly (string | number)[];
  readonly snippetLength: number;
  readonly attributes: readonly Attribute[];
}

/** Raw parameters → a request and its key. @throws InvalidSearch */
export function prepareSearch<Domain extends SearchDomain>(
  parameters: SearchParameters,
  domains: readonly Domain[],
): PreparedSearch<Domain> {
  const domain = domainOf(parameters, domains);
  const request = parseRequest(parameters, domain);
  const canonical = canonicalForm(request, domain);
  return { domain, request, canonical, ...keyOf(canonical, domain.name) };
}

/** Searches of one domain as operators and files write them. */
export function createSearchTexts(domain: SearchDomain) {
  const { name } = domain;
  return {
    /** All pages of a typed query: its canonical text, the start of their canonical forms, the store name of the first page. */
    pagesOf: (typed: string) => {
      const pairs = [
        ['q', typed],
        ['domain', name],
      ] as const;
      const { request, canonical, storeName } = prepareSearch({ pairs }, [domain]);
      // A `&` in the text is escaped in the canonical form, so the first `&` ends the text.
      const [canonicalStart = ''] = canonical.split('&', 1);
      return { text: request.text, canonicalStart, firstStoreName: storeName };
    },
    /** A line such as `q=…&sort=-price`, or plain words. The domain it names is ignored. @throws InvalidSearch */
    parse: (line: string): PreparedSearch => {
      const { pairs, header } = searchParametersOf(line);
      const own = pairs.filter(([parameter]) => parameter !== 'domain');
      return prepareSearch({ pairs: [...own, ['domain', name]], header }, [domain]);
    },
    /** A line that `parse` turns into the same key; undefined when there is none. */
    format: ({ request }: PreparedSearch): string | undefined => searchTextOf(request, domain),
  };
}

/** The domains that parameters name; a blank value names none. */
export function domainsNamed(pairs: SearchParameters['pairs']): readonly string[] {
  return pairs.flatMap(([name, value]) => (name === 'domain' && value.trim() !== '' ? [value.trim()] : []));
}

/** The domain named, or the first configured. @throws InvalidSearch naming the known ones. */
export function domainOf<Domain extends SearchDomain>(
  { pairs, undecodable }: SearchParameters,
  domains: readonly Domain[],
): Domain {
  const error = undecodable?.get('domain');
  if (error !== undefined) throw error;
  const named = domainsNamed(pairs);
  const domain = named[0] === undefined ? domains[0] : domains.find(({ name }) => name === named[0]);
  if (domain === undefined || named.length > 1) {
    const known = domains.map(({ name }) => name).join(', ');
    throw new InvalidSearch('unknown-domain', 'domain', `domain must be one of: ${known}, given once`);
  }
  return domain;
}

export function keyOf(canonical: string, domain: string): SearchKey {
  const key = hash('sha256', canonical, 'buffer').toString('base64url', 0, 16);
  return { key, ...storedNameOf(key, domain) };
}

/** The parts of a SearchKey that follow from the key alone. */
export function storedNameOf(key: string, domain: string): Omit<SearchKey, 'key'> {
  // Six characters carry the first 36 bits of the hash.
  const bucket = Buffer.from(key.slice(0, 6), 'base64url').readUInt32BE(0) % BUCKETS;
  return { storeName: `sc${ENTRY_VERSION}:${domain}:{${key}}`, bucket };
}

/** Version of the body's format; raised when the same page would be written differently. */
const BODY_VERSION = 1;

/** 11 base64url characters. */
export function profileHash(profile: AnswerProfile): string {
  const attributes = profile.attributes.map(({ name, type, facet, sort, multiple, search }) => {
    const others = [...(multiple === true ? ['multiple'] : []), ...(search === true ? ['search'] : [])];
    return [name, type, facet, sort, ...others];
  });
  const text = JSON.stringify([
    BODY_VERSION,
    profile.engine,
    profile.revision,
    profile.index,
    profile.ranker,
    profile.details,
    profile.snippetLength,
    attributes,
  ]);
  return hash('sha256', text, 'buffer').toString('base64url', 0, 8);
}
