// @ts-check
import { readFilter } from './filters.mjs';
import { formatNumber } from './format.mjs';
import { attributeName } from './names.mjs';
import { numberPattern } from './numbers.mjs';
import { placePairs } from './place.mjs';
import { domainOf } from './site.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/** @typedef {import('../../../../search/domain.ts').Attribute} Attribute */

/**
 * From–to for what is measured rather than counted. A plain form, so that it works without scripts.
 * @param {import('./model.mjs').PageModel} model
 */
export function rangesView({ site, place, language }) {
  const words = wordsIn(language);
  const { attributes } = domainOf(site, place.domain);
  const measured = attributes.filter(({ type, facet, sort }) => type !== 'string' && (sort || !facet));
  if (measured.length === 0) return undefined;
  const kept = place.filters.filter((filter) => readFilter(filter, attributes)?.kind !== 'range');
  return h(
    'form',
    { class: 'ranges', action: '/', method: 'get', 'data-nav': true, 'data-key': 'ranges' },
    placePairs({ ...place, filters: kept, page: '' }).map(([name, value]) =>
      h('input', { type: 'hidden', name, value }),
    ),
    measured.map((attribute) => rangeView(attribute)),
    h('button', { type: 'submit' }, words('apply')),
  );

  /** @param {import('./numbers.mjs').NumberType} type */
  function asNumber(type) {
    const pattern = numberPattern(type, language);
    const title = `${words('numberSuchAs')} ${formatNumber(type === 'integer' ? 12_000 : 10.5, language)}`;
    return { type: 'text', inputmode: 'decimal', pattern, title, size: 6 };
  }

  /** @param {Attribute} attribute */
  function rangeView(attribute) {
    const { name, type } = attribute;
    const read = place.filters.map((filter) => readFilter(filter, attributes)).find((each) => each?.attribute === name);
    const bounds = read?.kind === 'range' ? read : { from: '', to: '' };
    const input = (/** @type {'from' | 'to'} */ side) =>
      h(
        'label',
        {},
        h('span', {}, words(side)),
        h('input', {
          name: `${name}.${side}`,
          value: bounds[side],
          'data-focus': `${name}.${side}`,
          ...(type === 'integer' || type === 'number' ? asNumber(type) : { type: 'date', max: '9999-12-31' }),
        }),
      );
    return h(
      'fieldset',
      {},
      h('legend', {}, attributeName(attribute, place.domain, language)),
      h('div', { class: type === 'date' ? 'pair dates' : 'pair' }, input('from'), input('to')),
    );
  }
}
