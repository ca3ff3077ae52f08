// @ts-check
import { currencyIn, formatValue, isMoney } from './format.mjs';
import { foreignLanguage } from './language.mjs';
import { attributeName } from './names.mjs';
import { emptyView } from './notices.mjs';
import { pagerView } from './pager.mjs';
import { domainOf } from './site.mjs';
import { snippetTree } from './snippet.mjs';
import { sortsView } from './sorts.mjs';
import { h } from './tree.mjs';
import { wordsIn } from './words.mjs';

/**
 * @typedef {import('./model.mjs').PageModel} PageModel
 * @typedef {import('./model.mjs').AnswerBody} AnswerBody
 * @typedef {import('../../../../search/engine.ts').SearchResult} SearchResult
 */

/**
 * @param {PageModel} model
 * @param {AnswerBody} answer
 */
export function resultsView(model, answer) {
  const words = wordsIn(model.language);
  const start = (answer.page - 1) * answer.limit + 1;
  return h(
    'section',
    { class: 'results', 'aria-labelledby': 'results-heading', 'data-key': 'results' },
    h('h2', { class: 'unseen', id: 'results-heading' }, words('results')),
    answer.degraded === true && h('p', { class: 'notice slim' }, words('degraded')),
    answer.results.length === 0
      ? emptyView(model, answer)
      : [
          sortsView(model),
          h(
            'ol',
            { class: 'list', start },
            answer.results.map((result) => resultView(result, model)),
          ),
          pagerView(model, answer),
        ],
  );
}

/**
 * @param {SearchResult} result
 * @param {PageModel} model
 */
function resultView({ title, snippet, attributes }, { site, place, language }) {
  const declared = domainOf(site, place.domain).attributes.filter(({ name }) => Object.hasOwn(attributes, name));
  const money = declared.find(isMoney);
  const facts = declared.filter((attribute) => attribute !== money).map((attribute) => factView(attribute, false));
  return h(
    'li',
    {},
    h(
      'article',
      {},
      h('h3', { lang: foreignLanguage(title, language) }, title),
      h(
        'p',
        { class: 'snippet', lang: foreignLanguage(snippet.replaceAll(/<\/?em>|&\w+;/g, ''), language) },
        snippetTree(snippet),
      ),
      (money !== undefined || facts.length > 0) &&
        h('dl', { class: 'facts' }, money !== undefined && factView(money, true), facts),
    ),
  );

  /**
   * @param {import('../../../../search/domain.ts').Attribute} attribute
   * @param {boolean} prominent
   */
  function factView(attribute, prominent) {
    const value = attributes[attribute.name] ?? '';
    const text = formatValue(attribute, value, language, currencyIn(attributes) ?? attribute.currency);
    // A place or a category says itself what it is; a bare number does not.
    const plain = attribute.type === 'string' || attribute.type === 'date' || prominent;
    return h(
      'div',
      { class: prominent ? 'money' : undefined },
      h('dt', { class: plain ? 'unseen' : undefined }, attributeName(attribute, place.domain, language)),
      h('dd', { lang: attribute.type === 'string' ? foreignLanguage(text, language) : undefined }, text),
    );
  }
}
