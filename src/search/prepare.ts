import type { PreparedSearch } from './answer.ts';
import { canonicalForm } from './canonical.ts';
import type { SearchDomain } from './domain.ts';
import { InvalidSearch } from './failure.ts';
import { keyOf } from './key.ts';
import type { SearchParameters } from './parameters.ts';
import { parseRequest } from './parameters.ts';

/** Raw parameters → a request and its key. @throws InvalidSearch */
export function prepareSearch(parameters: SearchParameters, domains: readonly SearchDomain[]): PreparedSearch {
  const domain = domainOf(parameters, domains);
  const request = parseRequest(parameters, domain);
  const canonical = canonicalForm(request, domain);
  return { request, canonical, ...keyOf(canonical, domain.name) };
}

/** The domain named, or the first configured. @throws InvalidSearch naming the known ones. */
export function domainOf({ pairs }: SearchParameters, domains: readonly SearchDomain[]): SearchDomain {
  const named = pairs.filter(([name]) => name === 'domain').map(([, value]) => value);
  const domain = named[0] === undefined ? domains[0] : domains.find(({ name }) => name === named[0]);
  if (domain === undefined || named.length > 1) {
    const known = domains.map(({ name }) => name).join(', ');
    throw new InvalidSearch('unknown-domain', 'domain', `domain must be one of: ${known}, given once`);
  }
  return domain;
}
