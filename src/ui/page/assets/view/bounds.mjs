// @ts-check
import { readFilter, withValues } from './filters.mjs';
import { typedNumber } from './numbers.mjs';

/**
 * A plain form cannot write `price:10..50`, so it sends `price.from` and `price.to`, and here they become a filter. Two
 * empty bounds take away a range, not values chosen elsewhere.
 * @param {URLSearchParams} given
 * @param {import('./site.mjs').SiteDomain} domain
 * @param {import('./language.mjs').Language} language
 */
export function withBounds(given, domain, language) {
  let filters = given.getAll('filter').filter((filter) => filter.trim() !== '');
  for (const { name, type } of domain.attributes) {
    if (!given.has(`${name}.from`) && !given.has(`${name}.to`)) continue;
    const bounds = (/** @type {'from' | 'to'} */ side) =>
      given
        .getAll(`${name}.${side}`)
        .map((bound) => (type === 'integer' || type === 'number' ? typedNumber(bound, type, language) : bound.trim()));
    const [froms, tos] = [bounds('from'), bounds('to')];
    if ([...froms, ...tos].every((bound) => bound === '')) {
      filters = filters.filter(
        (filter) => !filter.startsWith(`${name}:`) || readFilter(filter, domain.attributes)?.kind !== 'range',
      );
    } else {
      // A bound given twice makes two ranges, which the server refuses.
      const ranges = Array.from({ length: Math.max(froms.length, tos.length) }, (_, index) => {
        const [from, to] = inOrder(froms[index] ?? '', tos[index] ?? '');
        return `${name}:${from}..${to}`;
      });
      filters = [...withValues(filters, name, []), ...ranges];
    }
  }
  return filters;
}

/**
 * Bounds typed the wrong way round mean what lies between them.
 * @param {string} from
 * @param {string} to
 */
function inOrder(from, to) {
  const [low, high] =
    DATE.test(from) && DATE.test(to) ? [Date.parse(from), Date.parse(to)] : [Number(from), Number(to)];
  return from !== '' && to !== '' && low > high ? [to, from] : [from, to];
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
