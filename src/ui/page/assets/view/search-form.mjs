// @ts-check
import { nameFor } from './names.mjs';
import { domainOf } from './site.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/**
 * The box. A new query starts afresh: it keeps the domain, the limit and the declared context, not filters or sort.
 * @param {import('./model.mjs').PageModel} model
 */
export function searchForm({ site, place, language, shown }) {
  const words = wordsIn(language);
  const given = new Map(place.context);
  return h(
    'form',
    { class: 'search', action: '/', method: 'get', role: 'search', 'data-nav': true },
    h('label', { class: 'unseen', for: 'query' }, words('query')),
    h('input', {
      id: 'query',
      name: 'q',
      type: 'search',
      value: place.query,
      placeholder: words('query'),
      required: true,
      // On a page with nothing else to read, people come to type.
      autofocus: shown.kind === 'start',
      // A pattern counts characters as the service does. `maxlength` counts UTF-16 units and cuts without a word.
      pattern: '(?:\\s*\\S[\\s\\S]{0,255})?\\s*',
      title: words('queryLength'),
      autocomplete: 'off',
      spellcheck: 'false',
      enterkeyhint: 'search',
      'aria-keyshortcuts': '/',
    }),
    h('input', { type: 'hidden', name: 'domain', value: place.domain }),
    place.limit !== '' && h('input', { type: 'hidden', name: 'limit', value: place.limit }),
    domainOf(site, place.domain).context.map(({ name, values }) =>
      h(
        'label',
        { class: 'context' },
        h('span', {}, nameFor(name, language)),
        h(
          'select',
          { name },
          values.map((value) =>
            h('option', { value, selected: value === (given.get(name) ?? values[0]) }, nameFor(value, language)),
          ),
        ),
      ),
    ),
    h('button', { type: 'submit' }, words('search')),
  );
}
