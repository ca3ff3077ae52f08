// @ts-check
import { attributeName } from './names.mjs';
import { linksLike, placeHref } from './place.mjs';
import { domainOf } from './site.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/**
 * One link per order. The chosen attribute's link turns the order round; dates begin with the newest, numbers with
 * the smallest.
 * @param {import('./model.mjs').PageModel} model
 */
export function sortsView({ site, place, language }) {
  const words = wordsIn(language);
  const sortable = domainOf(site, place.domain).attributes.filter(({ sort }) => sort);
  if (sortable.length === 0) return undefined;
  const item = (
    /** @type {string} */ sort,
    /** @type {boolean} */ chosen,
    /** @type {import('./tree.mjs').Child} */ label,
    key = sort,
  ) =>
    h(
      'li',
      {},
      h(
        'a',
        {
          href: placeHref({ ...place, sort, page: '' }),
          rel: 'nofollow',
          'data-nav': true,
          'data-focus': `sort ${key}`,
          'aria-current': chosen ? 'true' : undefined,
        },
        label,
      ),
    );
  return h(
    'nav',
    { class: 'sorts', 'aria-label': words('sort'), 'data-key': 'sorts' },
    h(
      'ul',
      {},
      item('', place.sort === '', words('relevance')),
      sortable.slice(0, linksLike(place)).map((attribute) => {
        const { name, type } = attribute;
        const chosen = place.sort === name || place.sort === `-${name}`;
        const falling = chosen ? place.sort.startsWith('-') : type === 'date';
        const next = (chosen ? !falling : falling) ? `-${name}` : name;
        const arrow = h('span', { 'aria-hidden': 'true' }, falling ? ' ↓' : ' ↑');
        const spoken = h('span', { class: 'unseen' }, ` ${words(falling ? 'descending' : 'ascending')}`);
        return item(next, chosen, [attributeName(attribute, place.domain, language), arrow, spoken], name);
      }),
    ),
  );
}
