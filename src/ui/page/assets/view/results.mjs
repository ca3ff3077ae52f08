// @ts-check
import { h } from '../../../shared/tree.mjs';
import { domainOf, hrefOf, maxLinks } from '../address.mjs';
import { attributeName, currencyIn, foreignLanguage, formatValue, isMoney } from '../locale.mjs';
import { messagesIn } from '../messages.mjs';
import { MAX_RESULTS } from '../model.mjs';
import { emptyView } from './notices.mjs';

/**
 * The list of results, the sort links and the pager.
 * @typedef {import('../model.mjs').PageModel} PageModel
 * @typedef {import('../model.mjs').AnswerBody} AnswerBody
 * @typedef {import('../../../../search/engine.ts').SearchResult} SearchResult
 */

const ENTITIES = /** @type {Readonly<Record<string, string>>} */ ({
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
});

/** Number of page links on each side of the current page. */
const NEIGHBOURS = 2;

/**
 * @param {PageModel} model
 * @param {AnswerBody} answer
 */
export function resultsView(model, answer) {
  const message = messagesIn(model.language);
  const start = (answer.page - 1) * answer.limit + 1;
  return h(
    'section',
    { class: 'results', 'aria-labelledby': 'results-heading', 'data-key': 'results' },
    h('h2', { class: 'visually-hidden', id: 'results-heading' }, message('results')),
    answer.degraded === true && h('p', { class: 'notice slim' }, message('degraded')),
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

/** @typedef {import('../../../shared/tree.mjs').Tree} Tree */

/**
 * A snippet as a tree. Only `<em>` is markup, everything else is text: a document, or an engine that does not escape,
 * cannot write markup into the page.
 * @param {string} snippet
 * @returns {Tree[]}
 */
export function snippetTree(snippet) {
  /** @type {Tree[]} */
  const trees = [];
  for (const [index, part] of snippet.split('<em>').entries()) {
    const end = index === 0 ? -1 : part.indexOf('</em>');
    if (end >= 0) trees.push(h('em', {}, decodeEntities(part.slice(0, end))));
    // An `<em>` that is not closed emphasises nothing.
    const rest = end >= 0 ? part.slice(end + '</em>'.length) : part;
    trees.push(decodeEntities(rest.replaceAll('</em>', '')));
  }
  return trees;
}

/**
 * @param {number} page
 * @param {number} last
 * @returns {number[]} In rising order: the first, the last, and the current one with its neighbours.
 */
export function numbersAround(page, last) {
  const numbers = new Set([1, last]);
  for (let number = page - NEIGHBOURS; number <= page + NEIGHBOURS; number += 1) {
    if (number >= 1 && number <= last) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
}

/**
 * @param {SearchResult} result
 * @param {PageModel} model
 */
function resultView({ title, snippet, attributes }, { site, address, language }) {
  const declared = domainOf(site, address.domain).attributes.filter(({ name }) => Object.hasOwn(attributes, name));
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
    // A city or a category can be understood without a label; a number cannot.
    const plain = attribute.type === 'string' || attribute.type === 'date' || prominent;
    return h(
      'div',
      { class: prominent ? 'money' : undefined },
      h('dt', { class: plain ? 'visually-hidden' : undefined }, attributeName(attribute, address.domain, language)),
      h('dd', { lang: attribute.type === 'string' ? foreignLanguage(text, language) : undefined }, text),
    );
  }
}

/** @param {string} text */
function decodeEntities(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal !== undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}

/**
 * One link per order. The link of the current order reverses it. Dates begin with the newest, numbers with the smallest.
 * @param {import('../model.mjs').PageModel} model
 */
function sortsView({ site, address, language }) {
  const message = messagesIn(language);
  const sortable = domainOf(site, address.domain).attributes.filter(({ sort }) => sort);
  if (sortable.length === 0) return undefined;
  const item = (
    /** @type {string} */ sort,
    /** @type {boolean} */ chosen,
    /** @type {import('../../../shared/tree.mjs').Child} */ label,
    key = sort,
  ) =>
    h(
      'li',
      {},
      h(
        'a',
        {
          href: hrefOf({ ...address, sort, page: '' }),
          rel: 'nofollow',
          'data-nav': true,
          'data-focus': `sort ${key}`,
          'aria-current': chosen ? 'true' : undefined,
        },
        label,
      ),
    );
  return h(
    'nav',
    { class: 'sorts', 'aria-label': message('sort'), 'data-key': 'sorts' },
    h(
      'ul',
      {},
      item('', address.sort === '', message('relevance')),
      sortable.slice(0, maxLinks(address)).map((attribute) => {
        const { name, type } = attribute;
        const chosen = address.sort === name || address.sort === `-${name}`;
        const falling = chosen ? address.sort.startsWith('-') : type === 'date';
        const next = (chosen ? !falling : falling) ? `-${name}` : name;
        const arrow = h('span', { 'aria-hidden': 'true' }, falling ? ' ↓' : ' ↑');
        const spoken = h('span', { class: 'visually-hidden' }, ` ${message(falling ? 'descending' : 'ascending')}`);
        return item(next, chosen, [attributeName(attribute, address.domain, language), arrow, spoken], name);
      }),
    ),
  );
}

/**
 * @param {import('../model.mjs').PageModel} model
 * @param {import('../model.mjs').AnswerBody} answer
 */
function pagerView({ address, language }, { page, limit, total }) {
  const last = Math.min(Math.ceil(total / limit), Math.floor(MAX_RESULTS / limit));
  if (last < 2) return undefined;
  const message = messagesIn(language);
  const href = (/** @type {number} */ number) => hrefOf({ ...address, page: number === 1 ? '' : String(number) });
  const step = (/** @type {number} */ number, /** @type {'prev' | 'next'} */ rel, /** @type {string} */ text) =>
    h('a', { class: 'step', href: href(number), rel, 'data-nav': true, 'data-to': 'top' }, text);
  return h(
    'nav',
    { class: 'pager', 'aria-label': message('pages'), 'data-key': 'pager' },
    page > 1 && step(page - 1, 'prev', message('previous')),
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
                'aria-label': `${message('page')} ${number}`,
                'aria-current': number === page ? 'page' : undefined,
              },
              number,
            ),
          ),
        ];
      }),
    ),
    page < last && step(page + 1, 'next', message('next')),
  );
}
