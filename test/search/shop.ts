import type { SearchDomain } from '../../src/search/domain.ts';
import { prepareSearch } from '../../src/search/key.ts';
import type { PreparedSearch } from '../../src/search/read-path.ts';

export type Pair = readonly [name: string, value: string];

export const domain: SearchDomain = {
  name: 'goods',
  answerProfile: 'profile',
  attributes: [
    { name: 'category', type: 'string', facet: true, sort: false },
    { name: 'city', type: 'string', facet: true, sort: false },
    { name: 'price', type: 'integer', facet: false, sort: true },
    { name: 'area', type: 'number', facet: false, sort: true },
    { name: 'date', type: 'date', facet: false, sort: true },
  ],
  context: [
    { name: 'region', source: 'query', values: ['all', 'msk', 'spb'] },
    { name: 'X-Variant', source: 'header', values: ['a', 'b'] },
  ],
};
const other: SearchDomain = { ...domain, name: 'auto', attributes: [] };

/** The search a person's parameters come to, in a shop with one attribute of each type. */
export function prepare(pairs: readonly Pair[], variant?: string): PreparedSearch {
  return prepareSearch({ pairs, header: (name) => (name === 'x-variant' ? variant : undefined) }, [domain, other]);
}
