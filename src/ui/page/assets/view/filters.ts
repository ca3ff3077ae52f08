import { h } from '../../../../report/tree.ts';
import type { Attribute } from '../../../../search/domain.ts';
import { addressPairs, chosenDomain, maxLinks, navLink } from '../address.ts';
import {
  type ChosenFilter,
  foldValue,
  type NumberType,
  numberPattern,
  readFilter,
  valuesOf,
  withValues,
} from '../filters.ts';
import { attributeName, foreignLanguage, formatNumber, formatValue } from '../locale.ts';
import { messagesIn } from '../messages.ts';
import type { AnswerBody, PageModel } from '../model.ts';

export type Choice = { readonly value: string; readonly count: number | undefined; readonly chosen: boolean };

/** Number of values of a facet that are shown at first; the others unfold. */
const SHOWN_VALUES = 8;
/** Up to this number of values each value has a chip; with more, each filter has one chip. */
const MAX_VALUE_CHIPS = 32;
/** Maximum number of characters of a filter that its chip shows. */
const MAX_CHIP_CHARACTERS = 80;

export function facetsView(model: PageModel, answer: AnswerBody) {
  const { site, address, language } = model;
  const message = messagesIn(language);
  // No result and no filter: there is nothing to narrow down or to undo.
  if (answer.total === 0 && address.filters.length === 0) return undefined;
  const { attributes } = chosenDomain(site, address.domain);
  let left = maxLinks(address);
  const maxPerFacet = Math.ceil(left / Math.max(1, attributes.filter(({ facet }) => facet).length));
  const groups = attributes.flatMap((attribute) => {
    const chosen = valuesOf(address.filters, attributes, attribute.name);
    const choices = choicesOf(attribute, chosen, answer).slice(0, Math.min(maxPerFacet, left));
    left -= choices.length;
    return choices.length === 0 ? [] : [groupView(attribute, choices, chosen, model)];
  });
  const ranges = rangesView(model);
  if (groups.length === 0 && ranges === undefined) return undefined;
  const chosen = address.filters.length > 0 ? ` (${address.filters.length})` : '';
  return h('aside', { 'aria-label': message('filters'), 'data-key': 'filters' })(
    h('details', { class: 'filters' })(h('summary')(h('h2')(message('filters'), chosen)), groups, ranges),
  );
}

/** The filters in force, each a link that removes it. */
export function chipsView(model: PageModel) {
  const { site, address, language } = model;
  if (address.filters.length === 0) return undefined;
  const message = messagesIn(language);
  const { attributes } = chosenDomain(site, address.domain);
  const max = maxLinks(address);
  const read = address.filters.map((filter) => readFilter(filter, attributes));
  const values = read.reduce((sum, each) => sum + (each?.kind === 'values' ? each.values.length : 1), 0);
  const chips =
    values > Math.min(MAX_VALUE_CHIPS, max)
      ? address.filters.slice(0, max).map((filter) => wholeChip(filter))
      : address.filters.flatMap((filter, i) => chipsOf(filter, read[i]));
  return h('nav', { class: 'chips', 'aria-label': message('chosen'), 'data-key': 'chips' })(
    h('ul')(chips, h('li')(navLink({ ...address, filters: [], page: '' }, { class: 'plain' })(message('clear')))),
  );

  function chipsOf(filter: string, read: ChosenFilter | undefined) {
    const attribute = attributes.find(({ name }) => name === read?.attribute);
    // A filter that cannot be read has a chip too: the service refused it, and the chip removes it.
    if (read === undefined || attribute === undefined) return [wholeChip(filter)];
    const name = attributeName(attribute, address.domain, language);
    const format = (value: string) => formatValue(attribute, value, language);
    if (read.kind === 'range') {
      const from = read.from === '' ? '' : ` ${message('from')} ${format(read.from)}`;
      const to = read.to === '' ? '' : ` ${message('to')} ${format(read.to)}`;
      return [chip(`${name}:${from}${to}`, withValues(address.filters, attribute.name, []))];
    }
    return read.values.map((value) => {
      const others = read.values.filter((each) => each !== value);
      return chip(`${name}: ${format(value)}`, withValues(address.filters, attribute.name, others));
    });
  }

  function wholeChip(filter: string) {
    const others = address.filters.filter((each) => each !== filter);
    return chip(filter.length > MAX_CHIP_CHARACTERS ? `${filter.slice(0, MAX_CHIP_CHARACTERS)}…` : filter, others);
  }

  /** @param filters The filters that stay. */
  function chip(text: string, filters: readonly string[]) {
    const link = navLink({ ...address, filters, page: '' }, { 'aria-label': `${text}, ${message('remove')}` });
    return h('li')(link(text, h('span', { 'aria-hidden': 'true' })(' ×')));
  }
}

/** The counted values, and before them the chosen values that were not counted, so that every choice can be undone. */
function choicesOf(attribute: Attribute, chosen: readonly string[], answer: AnswerBody): Choice[] {
  const counted = (Object.hasOwn(answer.facets, attribute.name) && answer.facets[attribute.name]) || [];
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

function groupView(attribute: Attribute, choices: readonly Choice[], chosen: readonly string[], model: PageModel) {
  const message = messagesIn(model.language);
  const id = `facet-${attribute.name}`;
  const items = choices.map((choice) => choiceView(attribute, choice, chosen, model));
  const rest = items.slice(SHOWN_VALUES);
  return h('section', { class: 'facet', 'aria-labelledby': id, 'data-key': id })(
    h('h3', { id })(attributeName(attribute, model.address.domain, model.language)),
    h('ul')(items.slice(0, SHOWN_VALUES)),
    rest.length > 0 &&
      h('details', { class: 'more' })(h('summary')(`${message('more')} ${rest.length}`), h('ul')(rest)),
  );
}

/** @param before Values chosen now. */
function choiceView(
  attribute: Attribute,
  { value, count, chosen }: Choice,
  before: readonly string[],
  { address, language }: PageModel,
) {
  const message = messagesIn(language);
  const text = formatValue(attribute, value, language);
  const label = h('span', { class: 'value', lang: foreignLanguage(text, language) })(text);
  const number = count !== undefined && h('span', { class: 'count' })(formatNumber(count, language));
  const key = `${attribute.name}:${foldValue(value)}`;
  const after = chosen ? before.filter((each) => foldValue(each) !== foldValue(value)) : [...before, value];
  const filters = withValues(address.filters, attribute.name, after);
  const current = { 'data-focus': key, 'aria-current': chosen && 'true' };
  return h('li', { 'data-key': key })(
    navLink({ ...address, filters, page: '' }, { class: 'choice', rel: 'nofollow', ...current })(
      label,
      ' ',
      number,
      chosen && h('span', { class: 'visually-hidden' })(`, ${message('remove')}`),
    ),
  );
}

/** Bounds for numbers and dates. A plain form, so that it works without scripts. */
function rangesView({ site, address, language }: PageModel) {
  const message = messagesIn(language);
  const { attributes } = chosenDomain(site, address.domain);
  const measured = attributes.filter(({ type, facet, sort }) => type !== 'string' && (sort || !facet));
  if (measured.length === 0) return undefined;
  const kept = address.filters.filter((filter) => readFilter(filter, attributes)?.kind !== 'range');
  return h('form', { class: 'ranges', action: '/', method: 'get', 'data-nav': true, 'data-key': 'ranges' })(
    addressPairs({ ...address, filters: kept, page: '' }).map(([name, value]) =>
      h('input', { type: 'hidden', name, value })(),
    ),
    measured.map((attribute) => rangeView(attribute)),
    h('button', { type: 'submit' })(message('apply')),
  );

  function asNumber(type: NumberType) {
    const pattern = numberPattern(type, language);
    const title = `${message('numberSuchAs')} ${formatNumber(type === 'integer' ? 12_000 : 10.5, language)}`;
    return { type: 'text', inputmode: 'decimal', pattern, title, size: 6 };
  }

  function rangeView(attribute: Attribute) {
    const { name, type } = attribute;
    const read = address.filters
      .map((filter) => readFilter(filter, attributes))
      .find((each) => each?.attribute === name);
    const bounds = read?.kind === 'range' ? read : { from: '', to: '' };
    const input = (side: 'from' | 'to') =>
      h('label')(
        h('span')(message(side)),
        h('input', {
          name: `${name}.${side}`,
          value: bounds[side],
          'data-focus': `${name}.${side}`,
          ...(type === 'integer' || type === 'number' ? asNumber(type) : { type: 'date', max: '9999-12-31' }),
        })(),
      );
    return h('fieldset')(
      h('legend')(attributeName(attribute, address.domain, language)),
      h('div', { class: type === 'date' ? 'pair dates' : 'pair' })(input('from'), input('to')),
    );
  }
}
