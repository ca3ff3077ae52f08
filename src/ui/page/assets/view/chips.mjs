// @ts-check
import { readFilter, withValues } from './filters.mjs';
import { formatValue } from './format.mjs';
import { attributeName } from './names.mjs';
import { linksLike, placeHref } from './place.mjs';
import { domainOf } from './site.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/**
 * @typedef {import('./model.mjs').PageModel} PageModel
 * @typedef {import('../../../../search/domain.ts').Attribute} Attribute
 */

/** Chips for single values; with more of them each filter has one. */
const MAX_VALUES = 32;
/** Characters of a filter that are shown. */
const MAX_SHOWN = 80;

/**
 * The filters in force, each a link that takes it away.
 * @param {PageModel} model
 */
export function chipsView(model) {
  const { site, place, language } = model;
  if (place.filters.length === 0) return undefined;
  const words = wordsIn(language);
  const { attributes } = domainOf(site, place.domain);
  const most = linksLike(place);
  const read = place.filters.map((filter) => readFilter(filter, attributes));
  const values = read.reduce((sum, each) => sum + (each?.kind === 'values' ? each.values.length : 1), 0);
  const chips =
    values > Math.min(MAX_VALUES, most)
      ? place.filters.slice(0, most).map((filter) => wholeChip(filter))
      : place.filters.flatMap((filter, i) => chipsOf(filter, read[i]));
  return h(
    'nav',
    { class: 'chips', 'aria-label': words('chosen'), 'data-key': 'chips' },
    h(
      'ul',
      {},
      chips,
      h(
        'li',
        {},
        h(
          'a',
          { class: 'plain', href: placeHref({ ...place, filters: [], page: '' }), 'data-nav': true },
          words('clear'),
        ),
      ),
    ),
  );

  /**
   * @param {string} filter
   * @param {import('./filters.mjs').ShownFilter | undefined} read
   */
  function chipsOf(filter, read) {
    const attribute = attributes.find(({ name }) => name === read?.attribute);
    // A filter nobody can read is still shown: it is why the server refused, and this is how to be rid of it.
    if (read === undefined || attribute === undefined) return [wholeChip(filter)];
    const name = attributeName(attribute, place.domain, language);
    const format = (/** @type {string} */ value) => formatValue(attribute, value, language);
    if (read.kind === 'range') {
      const from = read.from === '' ? '' : ` ${words('from')} ${format(read.from)}`;
      const to = read.to === '' ? '' : ` ${words('to')} ${format(read.to)}`;
      return [chip(`${name}:${from}${to}`, withValues(place.filters, attribute.name, []))];
    }
    return read.values.map((value) => {
      const others = read.values.filter((each) => each !== value);
      return chip(`${name}: ${format(value)}`, withValues(place.filters, attribute.name, others));
    });
  }

  /** @param {string} filter */
  function wholeChip(filter) {
    const others = place.filters.filter((each) => each !== filter);
    return chip(filter.length > MAX_SHOWN ? `${filter.slice(0, MAX_SHOWN)}…` : filter, others);
  }

  /**
   * @param {string} text
   * @param {readonly string[]} filters What stays.
   */
  function chip(text, filters) {
    const href = placeHref({ ...place, filters, page: '' });
    const label = `${text}, ${words('remove')}`;
    return h(
      'li',
      {},
      h('a', { href, 'data-nav': true, 'aria-label': label }, text, h('span', { 'aria-hidden': 'true' }, ' ×')),
    );
  }
}
