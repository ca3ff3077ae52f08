import { type Attributes, type Child, h, type Tree } from '../../../../report/tree.ts';
import type { Attribute } from '../../../../search/domain.ts';
import type { SearchResult } from '../../../../search/engine.ts';
import { chosenDomain, maxLinks, navLink } from '../address.ts';
import { attributeName, currencyIn, foreignLanguage, formatValue, isMoney } from '../locale.ts';
import { messagesIn } from '../messages.ts';
import { type AnswerBody, MAX_RESULTS, type PageModel } from '../model.ts';
import { emptyView } from './notices.ts';

/** The list of results, the sort links and the pager. */

const ENTITIES = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
} as Readonly<Record<string, string>>;

/** Number of page links on each side of the current page. */
const NEIGHBOURS = 2;

export function resultsView(model: PageModel, answer: AnswerBody) {
  const message = messagesIn(model.language);
  const start = (answer.page - 1) * answer.limit + 1;
  return h('section', { class: 'results', 'aria-labelledby': 'results-heading', 'data-key': 'results' })(
    h('h2', { class: 'visually-hidden', id: 'results-heading' })(message('results')),
    answer.degraded === true && h('p', { class: 'notice slim' })(message('degraded')),
    answer.results.length === 0
      ? emptyView(model, answer)
      : [
          sortsView(model),
          h('ol', { class: 'list', start })(answer.results.map((result) => resultView(result, model))),
          pagerView(model, answer),
        ],
  );
}

/**
 * A snippet as a tree. Only `<em>` is markup, everything else is text: a document, or an engine that does not escape,
 * cannot write markup into the page.
 */
export function snippetTree(snippet: string): Tree[] {
  const trees: Tree[] = [];
  for (const [index, part] of snippet.split('<em>').entries()) {
    const end = index === 0 ? -1 : part.indexOf('</em>');
    if (end >= 0) trees.push(h('em')(decodeEntities(part.slice(0, end))));
    // An `<em>` that is not closed emphasises nothing.
    const rest = end >= 0 ? part.slice(end + '</em>'.length) : part;
    trees.push(decodeEntities(rest.replaceAll('</em>', '')));
  }
  return trees;
}

/** @returns In rising order: the first, the last, and the current one with its neighbours. */
export function numbersAround(page: number, last: number): number[] {
  const numbers = new Set([1, last]);
  for (let number = page - NEIGHBOURS; number <= page + NEIGHBOURS; number += 1) {
    if (number >= 1 && number <= last) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
}

function resultView({ title, snippet, attributes }: SearchResult, { site, address, language }: PageModel) {
  const declared = chosenDomain(site, address.domain).attributes.filter(({ name }) => Object.hasOwn(attributes, name));
  const money = declared.find(isMoney);
  const facts = declared.filter((attribute) => attribute !== money).map((attribute) => factView(attribute, false));
  return h('li')(
    h('article')(
      h('h3', { lang: foreignLanguage(title, language) })(title),
      h('p', { class: 'snippet', lang: foreignLanguage(snippet.replaceAll(/<\/?em>|&\w+;/g, ''), language) })(
        snippetTree(snippet),
      ),
      (money !== undefined || facts.length > 0) &&
        h('dl', { class: 'facts' })(money !== undefined && factView(money, true), facts),
    ),
  );

  function factView(attribute: Attribute, prominent: boolean) {
    const value = attributes[attribute.name] ?? '';
    const text = formatValue(attribute, value, language, currencyIn(attributes) ?? attribute.currency);
    // A city or a category can be understood without a label; a number cannot.
    const plain = attribute.type === 'string' || attribute.type === 'date' || prominent;
    return h('div', { class: prominent ? 'money' : undefined })(
      h('dt', { class: plain ? 'visually-hidden' : undefined })(attributeName(attribute, address.domain, language)),
      h('dd', { lang: attribute.type === 'string' ? foreignLanguage(text, language) : undefined })(text),
    );
  }
}

function decodeEntities(text: string) {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal !== undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}

/**
 * One link per order. The link of the current order reverses it. Dates begin with the newest, numbers with the
 * smallest.
 */
function sortsView({ site, address, language }: PageModel) {
  const message = messagesIn(language);
  const sortable = chosenDomain(site, address.domain).attributes.filter(({ sort }) => sort);
  if (sortable.length === 0) return undefined;
  const item = (sort: string, chosen: boolean, label: Child, key = sort) =>
    h('li')(
      navLink(
        { ...address, sort, page: '' },
        { rel: 'nofollow', 'data-focus': `sort ${key}`, 'aria-current': chosen && 'true' },
      )(label),
    );
  return h('nav', { class: 'sorts', 'aria-label': message('sort'), 'data-key': 'sorts' })(
    h('ul')(
      item('', address.sort === '', message('relevance')),
      sortable.slice(0, maxLinks(address)).map((attribute) => {
        const { name, type } = attribute;
        const chosen = address.sort === name || address.sort === `-${name}`;
        const falling = chosen ? address.sort.startsWith('-') : type === 'date';
        const next = (chosen ? !falling : falling) ? `-${name}` : name;
        const arrow = h('span', { 'aria-hidden': 'true' })(falling ? ' ↓' : ' ↑');
        const spoken = h('span', { class: 'visually-hidden' })(` ${message(falling ? 'descending' : 'ascending')}`);
        return item(next, chosen, [attributeName(attribute, address.domain, language), arrow, spoken], name);
      }),
    ),
  );
}

function pagerView({ address, language }: PageModel, { page, limit, total }: AnswerBody) {
  const last = Math.min(Math.ceil(total / limit), Math.floor(MAX_RESULTS / limit));
  if (last < 2) return undefined;
  const message = messagesIn(language);
  const link = (number: number, attributes: Attributes) =>
    navLink({ ...address, page: number === 1 ? '' : String(number) }, { 'data-to': 'top', ...attributes });
  const step = (number: number, rel: 'prev' | 'next', text: string) => link(number, { class: 'step', rel })(text);
  return h('nav', { class: 'pager', 'aria-label': message('pages'), 'data-key': 'pager' })(
    page > 1 && step(page - 1, 'prev', message('previous')),
    h('ol')(
      numbersAround(page, last).map((number, index, numbers) => {
        const gap = index > 0 && number - (numbers[index - 1] ?? 0) > 1;
        return [
          gap && h('li', { class: 'gap', 'aria-hidden': 'true' })('…'),
          h('li')(
            link(number, {
              'aria-label': `${message('page')} ${number}`,
              'aria-current': number === page && 'page',
            })(number),
          ),
        ];
      }),
    ),
    page < last && step(page + 1, 'next', message('next')),
  );
}
