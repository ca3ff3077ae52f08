// @ts-check
import { placeHref } from './place.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/** How deep paging reaches: `page × limit` of the service. */
const MAX_RESULTS = 1000;
/** Pages shown on each side of the current one. */
const NEIGHBOURS = 2;

/**
 * @param {import('./model.mjs').PageModel} model
 * @param {import('./model.mjs').AnswerBody} answer
 */
export function pagerView({ place, language }, { page, limit, total }) {
  const last = Math.min(Math.ceil(total / limit), Math.floor(MAX_RESULTS / limit));
  if (last < 2) return undefined;
  const words = wordsIn(language);
  const href = (/** @type {number} */ number) => placeHref({ ...place, page: number === 1 ? '' : String(number) });
  const step = (/** @type {number} */ number, /** @type {'prev' | 'next'} */ rel, /** @type {string} */ text) =>
    h('a', { class: 'step', href: href(number), rel, 'data-nav': true, 'data-to': 'top' }, text);
  return h(
    'nav',
    { class: 'pager', 'aria-label': words('pages'), 'data-key': 'pager' },
    page > 1 && step(page - 1, 'prev', words('previous')),
    h(
      'ol',
      {},
      numbersAround(page, last).map((number, index, numbers) => {
        const gap = index > 0 && number - (numbers[index - 1] ?? 0) > 1;
        return [
          gap && h('li', { class: 'gap', 'aria-hidden': 'true' }, '…'),
          h(
            'li',
            {},
            h(
              'a',
              {
                href: href(number),
                'data-nav': true,
                'data-to': 'top',
                'aria-label': `${words('page')} ${number}`,
                'aria-current': number === page ? 'page' : undefined,
              },
              number,
            ),
          ),
        ];
      }),
    ),
    page < last && step(page + 1, 'next', words('next')),
  );
}

/**
 * @param {number} page
 * @param {number} last
 * @returns {number[]} Rising: the first, the last and the current with its neighbours.
 */
export function numbersAround(page, last) {
  const numbers = new Set([1, last]);
  for (let number = page - NEIGHBOURS; number <= page + NEIGHBOURS; number += 1) {
    if (number >= 1 && number <= last) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
}
