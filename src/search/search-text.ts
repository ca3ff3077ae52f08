import type { SearchDomain } from './domain.ts';
import { dateText } from './filter.ts';
import { DEFAULT_LIMIT, type SearchParameters } from './parameters.ts';
import type { Filter, SearchRequest } from './request.ts';

/**
 * A request as the query string that gives the same key again, without its domain: `q=красные+кроссовки&filter=…`. It is
 * what counters keep and warm-ups are fed with, so it is short and people read it: only what would split it is escaped.
 *
 * Context parameters are pairs like the others, those that came in a header too, by the header's lower-case name:
 * `searchParametersOf` finds them there. Defaults are left out.
 *
 * Undefined where no query string gives that key again: canonical text may be longer than a person may type (ﷺ becomes 18
 * letters).
 */
export function searchTextOf(request: SearchRequest, domain: SearchDomain): string | undefined {
  if (!fits(request.text)) return undefined;
  const parts = [pair('q', request.text)];
  for (const [name, value] of request.context) {
    const declared = domain.context.find((each) => each.name === name);
    if (value !== declared?.values[0])
      parts.push(pair(declared?.source === 'header' ? name.toLowerCase() : name, value));
  }
  for (const filter of request.filters) parts.push(pair('filter', `${filter.attribute}:${filterText(filter, domain)}`));
  for (const facet of request.facets) parts.push(pair('facet', facet));
  if (request.sort.by === 'attribute') {
    parts.push(pair('sort', `${request.sort.descending ? '-' : ''}${request.sort.attribute}`));
  }
  if (request.page !== 1) parts.push(`page=${request.page}`);
  if (request.limit !== DEFAULT_LIMIT) parts.push(`limit=${request.limit}`);
  if (!request.highlight) parts.push('highlight=false');
  return parts.join('&');
}

/**
 * A search as it is written in a file or kept by a counter → parameters, unjudged: what `searchTextOf` writes, or plain
 * words, which are anything that does not begin with `q=`.
 */
export function searchParametersOf(text: string): SearchParameters {
  if (!text.startsWith('q=')) return { pairs: [['q', text]] };
  const pairs = [...new URLSearchParams(text)];
  const headers = new Map(pairs);
  return { pairs, header: (name) => headers.get(name) };
}

/** As parameters.ts asks of `q`. */
const MAX_CHARACTERS = 256;

function fits(text: string): boolean {
  return text.length <= MAX_CHARACTERS || [...text].length <= MAX_CHARACTERS;
}

function filterText(filter: Filter, domain: SearchDomain): string {
  const isDate = domain.attributes.find(({ name }) => name === filter.attribute)?.type === 'date';
  const number = (value: number): string => (isDate ? dateText(value) : numberText(value));
  switch (filter.kind) {
    case 'strings':
      return filter.values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',');
    case 'numbers':
      return filter.values.map(number).join(',');
    case 'range':
      return `${filter.from === undefined ? '' : number(filter.from)}..${filter.to === undefined ? '' : number(filter.to)}`;
  }
}

/** A filter takes 20 digits on either side of the point; `String` may write more of them (1e20, 1.25e-6 in full). */
function numberText(value: number): string {
  const text = String(value);
  return text.length <= 20 ? text : value.toExponential();
}

function pair(name: string, value: string): string {
  return `${quote(name)}=${quote(value)}`;
}

function quote(text: string): string {
  return text.replace(/[%&+=#]/g, encodeURIComponent).replaceAll(' ', '+');
}
