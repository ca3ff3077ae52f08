import { h, type TreeElement } from '../../../../report/tree.ts';
import { chosenDomain, inDomain, navLink } from '../address.ts';
import { nameFor } from '../locale.ts';
import { messagesIn } from '../messages.ts';
import type { AnswerBody, PageModel } from '../model.ts';
import { chipsView, facetsView } from './filters.ts';
import { failureView, originDetails, startView, statusLine } from './notices.ts';
import { resultsView } from './results.ts';

/** The frame of the search page: header, tabs, columns and footer. */

/** The whole visible page. @param columns Draws facets and results. */
export function pageView(model: PageModel, columns: typeof columnsView = columnsView): TreeElement[] {
  const message = messagesIn(model.language);
  return [
    h('a', { class: 'skip', href: '#content' })(message('skip')),
    h('header', { class: 'top' })(
      h('div', { class: 'bar' })(
        h('a', { class: 'brand', href: '/', 'data-nav': true })('serp', h('b')('cache')),
        searchForm(model),
      ),
      tabs(model),
    ),
    h('main', { id: 'content', tabindex: -1 })(mainView(model, columns)),
    footer(model),
  ];
}

/**
 * Facets and results. They depend on the answer, the address and the language alone, so the server remembers their
 * HTML.
 */
export function columnsView(model: PageModel, answer: AnswerBody) {
  return h('div', { class: 'columns' })(facetsView(model, answer), resultsView(model, answer));
}

function mainView(model: PageModel, columns: typeof columnsView) {
  const { shown, address, language } = model;
  const message = messagesIn(language);
  const heading = h('h1', { tabindex: -1, 'data-key': 'heading', class: shown.kind === 'start' ? 'start' : undefined })(
    address.query === '' ? message('start') : address.query,
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
        h('div', { class: 'answer-info' })(status, originDetails(model, shown)),
        chipsView(model),
        columns(model, shown.answer),
      ];
  }
}

function tabs({ site, address, language }: PageModel) {
  const current = chosenDomain(site, address.domain).name;
  return h('nav', { class: 'domains tabs', 'aria-label': messagesIn(language)('domains') })(
    h('ul')(
      site.domains.map(({ name }) => {
        const link = navLink(inDomain(address, name), { 'aria-current': name === current && 'page' });
        return h('li')(link(nameFor(name, language)));
      }),
    ),
  );
}

function footer({ language }: PageModel) {
  const message = messagesIn(language);
  return h('footer')(
    h('p')(message('about')),
    h('ul', { class: 'links' })(
      h('li')(h('a', { href: '/docs' })(message('docs'))),
      h('li')(h('a', { href: '/readyz' })(message('ready'))),
    ),
  );
}

/**
 * The search box. A new query keeps the domain, the limit and the declared context, but not the filters and the sort.
 */
function searchForm({ site, address, language, shown }: PageModel) {
  const message = messagesIn(language);
  const given = new Map(address.context);
  return h('form', { class: 'search', action: '/', method: 'get', role: 'search', 'data-nav': true })(
    h('label', { class: 'visually-hidden', for: 'query' })(message('query')),
    h('input', {
      id: 'query',
      name: 'q',
      type: 'search',
      value: address.query,
      placeholder: message('query'),
      required: true,
      // The start page has nothing else to read.
      autofocus: shown.kind === 'start',
      // A pattern counts characters as the service does. `maxlength` counts UTF-16 units and cuts the text silently.
      pattern: '(?:\\s*\\S[\\s\\S]{0,255})?\\s*',
      title: message('queryLength'),
      autocomplete: 'off',
      spellcheck: 'false',
      enterkeyhint: 'search',
      'aria-keyshortcuts': '/',
    })(),
    h('input', { type: 'hidden', name: 'domain', value: address.domain })(),
    address.limit !== '' && h('input', { type: 'hidden', name: 'limit', value: address.limit })(),
    chosenDomain(site, address.domain).context.map(({ name, values }) =>
      h('label', { class: 'context' })(
        h('span')(nameFor(name, language)),
        h('select', { name })(
          values.map((value) =>
            h('option', { value, selected: value === (given.get(name) ?? values[0]) })(nameFor(value, language)),
          ),
        ),
      ),
    ),
    h('button', { type: 'submit' })(message('search')),
  );
}
