// @ts-check

import { chipsView } from './chips.mjs';
import { facetsView } from './facets.mjs';
import { nameFor } from './names.mjs';
import { failureView, startView } from './notices.mjs';
import { originDetails, statusLine } from './origin.mjs';
import { sectionHref } from './place.mjs';
import { resultsView } from './results.mjs';
import { searchForm } from './search-form.mjs';
import { domainOf } from './site.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/**
 * @typedef {import('./tree.mjs').TreeElement} TreeElement
 * @typedef {import('./model.mjs').PageModel} PageModel
 */

/**
 * The whole visible page.
 * @param {PageModel} model
 * @param {typeof columnsView} columns Draws facets and results.
 * @returns {TreeElement[]}
 */
export function pageView(model, columns = columnsView) {
  const words = wordsIn(model.language);
  return [
    h('a', { class: 'skip', href: '#content' }, words('skip')),
    h(
      'header',
      { class: 'top' },
      h(
        'div',
        { class: 'bar' },
        h('a', { class: 'brand', href: '/', 'data-nav': true }, 'serp', h('b', {}, 'cache')),
        searchForm(model),
      ),
      tabs(model),
    ),
    h('main', { id: 'content', tabindex: -1 }, mainView(model, columns)),
    footer(model),
  ];
}

/**
 * Facets and results: of the answer, the address and the language alone, whenever they are drawn.
 * @param {PageModel} model
 * @param {import('./model.mjs').AnswerBody} answer
 */
export function columnsView(model, answer) {
  return h('div', { class: 'columns' }, facetsView(model, answer), resultsView(model, answer));
}

/**
 * @param {PageModel} model
 * @param {typeof columnsView} columns
 */
function mainView(model, columns) {
  const { shown, place, language } = model;
  const words = wordsIn(language);
  const heading = h(
    'h1',
    { tabindex: -1, 'data-key': 'heading', class: shown.kind === 'start' ? 'start' : undefined },
    place.query === '' ? words('start') : place.query,
  );
  const status = statusLine(model);
  switch (shown.kind) {
    case 'start':
      return [heading, status, startView(model)];
    case 'failure':
      return [heading, status, chipsView(model), failureView(model, shown)];
    case 'answer':
      return [
        heading,
        h('div', { class: 'told' }, status, originDetails(model, shown)),
        chipsView(model),
        columns(model, shown.answer),
      ];
  }
}

/** @param {PageModel} model */
function tabs({ site, place, language }) {
  const current = domainOf(site, place.domain).name;
  return h(
    'nav',
    { class: 'domains', 'aria-label': wordsIn(language)('domains') },
    h(
      'ul',
      {},
      site.domains.map(({ name }) => {
        const href = sectionHref(place, name);
        const here = name === current ? 'page' : undefined;
        return h('li', {}, h('a', { href, 'data-nav': true, 'aria-current': here }, nameFor(name, language)));
      }),
    ),
  );
}

/** @param {PageModel} model */
function footer({ language }) {
  const words = wordsIn(language);
  return h(
    'footer',
    {},
    h('p', {}, words('about')),
    h(
      'ul',
      { class: 'links' },
      h('li', {}, h('a', { href: '/docs' }, words('docs'))),
      h('li', {}, h('a', { href: '/readyz' }, words('ready'))),
    ),
  );
}
