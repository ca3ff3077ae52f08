// @ts-check
import { foldValue, valuesOf, withValues } from './filters.mjs';
import { formatNumber, formatValue } from './format.mjs';
import { foreignLanguage } from './language.mjs';
import { attributeName } from './names.mjs';
import { linksLike, placeHref } from './place.mjs';
import { rangesView } from './ranges.mjs';
import { domainOf } from './site.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/**
 * @typedef {import('./model.mjs').PageModel} PageModel
 * @typedef {import('./model.mjs').AnswerBody} AnswerBody
 * @typedef {import('../../../../search/domain.ts').Attribute} Attribute
 * @typedef {{ readonly value: string, readonly count: number | undefined, readonly chosen: boolean }} Choice
 */

/** Values shown at once; the rest unfold. */
const SHOWN_VALUES = 8;

/**
 * @param {PageModel} model
 * @param {AnswerBody} answer
 */
export function facetsView(model, answer) {
  const { site, place, language } = model;
  const words = wordsIn(language);
  // Nothing found and nothing chosen: there is nothing to narrow.
  if (answer.total === 0 && place.filters.length === 0) return undefined;
  const { attributes } = domainOf(site, place.domain);
  let left = linksLike(place);
  const most = Math.ceil(left / Math.max(1, attributes.filter(({ facet }) => facet).length));
  const groups = attributes.flatMap((attribute) => {
    const choices = choicesOf(attribute, model, answer).slice(0, Math.min(most, left));
    left -= choices.length;
    return choices.length === 0 ? [] : [groupView(attribute, choices, model)];
  });
  const ranges = rangesView(model);
  if (groups.length === 0 && ranges === undefined) return undefined;
  const chosen = place.filters.length > 0 ? ` (${place.filters.length})` : '';
  return h(
    'aside',
    { 'aria-label': words('filters'), 'data-key': 'filters' },
    h('details', { class: 'filters' }, h('summary', {}, h('h2', {}, words('filters'), chosen)), groups, ranges),
  );
}

/**
 * What was counted, with what was chosen first even where the filter left it uncounted: a choice can be undone.
 * @param {Attribute} attribute
 * @param {PageModel} model
 * @param {AnswerBody} answer
 * @returns {Choice[]}
 */
function choicesOf(attribute, { site, place }, answer) {
  const counted = (Object.hasOwn(answer.facets, attribute.name) && answer.facets[attribute.name]) || [];
  const { attributes } = domainOf(site, place.domain);
  const chosen = valuesOf(place.filters, attributes, attribute.name);
  if (!attribute.facet) return [];
  const folded = new Set(chosen.map(foldValue));
  const seen = new Set(counted.map(({ value }) => foldValue(String(value))));
  const uncounted = chosen.filter((value) => !seen.has(foldValue(value)));
  const all = counted.map(({ value, count }) => {
    const text = String(value);
    return { value: text, count, chosen: folded.has(foldValue(text)) };
  });
  return [...uncounted.map((value) => ({ value, count: undefined, chosen: true })), ...all];
}

/**
 * @param {Attribute} attribute
 * @param {readonly Choice[]} choices
 * @param {PageModel} model
 */
function groupView(attribute, choices, model) {
  const words = wordsIn(model.language);
  const id = `facet-${attribute.name}`;
  const chosen = valuesOf(model.place.filters, domainOf(model.site, model.place.domain).attributes, attribute.name);
  const items = choices.map((choice) => choiceView(attribute, choice, chosen, model));
  const rest = items.slice(SHOWN_VALUES);
  return h(
    'section',
    { class: 'facet', 'aria-labelledby': id, 'data-key': id },
    h('h3', { id }, attributeName(attribute, model.place.domain, model.language)),
    h('ul', {}, items.slice(0, SHOWN_VALUES)),
    rest.length > 0 &&
      h('details', { class: 'more' }, h('summary', {}, `${words('more')} ${rest.length}`), h('ul', {}, rest)),
  );
}

/**
 * @param {Attribute} attribute
 * @param {Choice} choice
 * @param {readonly string[]} before Values chosen now.
 * @param {PageModel} model
 */
function choiceView(attribute, { value, count, chosen }, before, { place, language }) {
  const words = wordsIn(language);
  const text = formatValue(attribute, value, language);
  const label = h('span', { class: 'value', lang: foreignLanguage(text, language) }, text);
  const number = count !== undefined && h('span', { class: 'count' }, formatNumber(count, language));
  const key = `${attribute.name}:${foldValue(value)}`;
  const after = chosen ? before.filter((each) => foldValue(each) !== foldValue(value)) : [...before, value];
  const href = placeHref({ ...place, filters: withValues(place.filters, attribute.name, after), page: '' });
  return h(
    'li',
    { 'data-key': key },
    h(
      'a',
      {
        class: 'choice',
        href,
        rel: 'nofollow',
        'data-nav': true,
        'data-focus': key,
        'aria-current': chosen ? 'true' : undefined,
      },
      label,
      ' ',
      number,
      chosen && h('span', { class: 'unseen' }, `, ${words('remove')}`),
    ),
  );
}
