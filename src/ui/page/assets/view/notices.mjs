// @ts-check
import { formatAge } from './format.mjs';
import { foreignLanguage } from './language.mjs';
import { nameFor } from './names.mjs';
import { failureDetail, failureWords } from './outcomes.mjs';
import { placeHref, sectionHref } from './place.mjs';
import { domainOf } from './site.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/** @typedef {import('./model.mjs').PageModel} PageModel */

/** @param {PageModel} model */
export function startView({ site, language }) {
  const words = wordsIn(language);
  const hint = h('p', { class: 'hint' }, words('startHint'));
  if (site.examples.length === 0) return [hint];
  return [
    hint,
    h('h2', { class: 'quiet' }, words('examples')),
    h(
      'ul',
      { class: 'examples' },
      site.examples.map(({ domain, query }) => {
        const href = placeHref({
          query,
          domain,
          page: '',
          sort: '',
          limit: '',
          filters: [],
          context: [],
          repeated: [],
        });
        return h(
          'li',
          {},
          h('a', { href, 'data-nav': true }, h('span', { lang: foreignLanguage(query, language) }, query)),
          ' ',
          h('small', {}, nameFor(domain, language)),
        );
      }),
    ),
  ];
}

/**
 * @param {PageModel} model
 * @param {import('./model.mjs').Failure} failure
 */
export function failureView({ site, place, language }, failure) {
  const { code, retryAfterSeconds } = failure;
  const words = wordsIn(language);
  const detail = failureDetail(failure, language, domainOf(site, place.domain).attributes);
  const way = wayOut(code, place, site);
  return h(
    'section',
    { class: 'notice', role: 'alert' },
    h('p', { class: 'lead' }, failureWords(code, language)),
    detail !== undefined && h('p', { class: 'detail' }, detail),
    retryAfterSeconds !== undefined && h('p', {}, `${words('soon')} ${formatAge(retryAfterSeconds, language)}.`),
    way !== undefined && h('p', {}, h('a', { class: 'button', href: way.href, 'data-nav': true }, words(way.words))),
  );
}

/**
 * What may help: the same again when the service was at fault, the bare query when its refinements were. A refused
 * query has to be written anew, and the box is there.
 * @param {string} code
 * @param {import('./place.mjs').Place} place
 * @param {import('./site.mjs').Site} site
 */
function wayOut(code, place, site) {
  const bare = { ...place, page: '', limit: '', sort: '', filters: [], context: [] };
  switch (code) {
    case 'invalid-query':
    case 'invalid-url':
      return undefined;
    case 'invalid-page':
    case 'invalid-sort':
    case 'invalid-filter':
    case 'invalid-facet':
    case 'invalid-context':
      return { href: placeHref(bare), words: 'plainly' };
    case 'unknown-domain':
      return { href: placeHref({ ...bare, domain: domainOf(site, '').name }), words: 'plainly' };
    default:
      return { href: placeHref(place), words: 'again' };
  }
}

/**
 * @param {PageModel} model
 * @param {import('./model.mjs').AnswerBody} answer
 */
export function emptyView({ site, place, language }, { total }) {
  const words = wordsIn(language);
  const [lead, hint] =
    total > 0 ? ['beyond', undefined] : ['empty', place.filters.length > 0 ? 'emptyFiltered' : 'emptyHint'];
  const first = placeHref({ ...place, page: '' });
  const others = total > 0 ? [] : site.domains.filter(({ name }) => name !== place.domain);
  return h(
    'div',
    { class: 'notice' },
    h('p', { class: 'lead' }, words(lead)),
    hint !== undefined && h('p', {}, words(hint)),
    total > 0 && h('p', {}, h('a', { class: 'button', href: first, 'data-nav': true }, words('firstPage'))),
    others.length > 0 && [
      h('p', {}, words('elsewhere')),
      h(
        'ul',
        { class: 'elsewhere' },
        others.map(({ name }) =>
          h('li', {}, h('a', { href: sectionHref(place, name), 'data-nav': true }, nameFor(name, language))),
        ),
      ),
    ],
  );
}
