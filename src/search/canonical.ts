import type { SearchDomain } from './domain.ts';
import { dateText } from './filter.ts';
import { DEFAULT_LIMIT } from './parameters.ts';
import type { Filter, SearchRequest } from './request.ts';

/**
 * The text that two requests share exactly when they must share an answer: the domain, its answer profile, the text, and
 * every parameter that is not at its default, in a fixed order. It is readable on purpose: explain shows it, and a
 * stored entry carries it, so that a hit can be checked against the question.
 *
 * `goods@Zk3qv0rXy1A?q=кроссовки&filter=price:1000..5000&sort=-date`
 */
export function canonicalForm(request: SearchRequest, domain: SearchDomain): string {
  const parts = [`q=${quote(request.text)}`];
  for (const [name, value] of request.context) parts.push(`${quote(name)}=${quote(value)}`);
  for (const filter of request.filters) parts.push(`filter=${quote(filter.attribute)}:${filterText(filter, domain)}`);
  for (const facet of request.facets) parts.push(`facet=${quote(facet)}`);
  if (request.sort.by === 'attribute') {
    parts.push(`sort=${request.sort.descending ? '-' : ''}${quote(request.sort.attribute)}`);
  }
  if (request.page !== 1) parts.push(`page=${request.page}`);
  if (request.limit !== DEFAULT_LIMIT) parts.push(`limit=${request.limit}`);
  if (!request.highlight) parts.push('highlight=false');
  return `${domain.name}@${domain.answerProfile}?${parts.join('&')}`;
}

function filterText(filter: Filter, domain: SearchDomain): string {
  const isDate = domain.attributes.find(({ name }) => name === filter.attribute)?.type === 'date';
  const number = (value: number): string => (isDate ? dateText(value) : String(value));
  switch (filter.kind) {
    case 'strings':
      return filter.values.map(quote).join(',');
    case 'numbers':
      return filter.values.map(number).join(',');
    case 'range':
      return `${filter.from === undefined ? '' : number(filter.from)}..${filter.to === undefined ? '' : number(filter.to)}`;
  }
}

/** Only what would make two different requests read alike is quoted: the separators and the quote itself. */
function quote(text: string): string {
  return text.replace(/[%&=,:]/g, (separator) => encodeURIComponent(separator));
}
