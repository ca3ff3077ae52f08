import type { Filter, SearchDomain, SearchRequest, Sort } from './domain.ts';

/**
 * The text that two requests share exactly when they must share an answer: the domain, its answer profile, the text, and
 * every parameter that is not at its default, in a fixed order. It is readable on purpose: explain shows it. A stored
 * entry carries it, so that a hit can be checked against the search.
 *
 * `goods@Zk3qv0rXy1A?q=кроссовки&filter=price:1000..5000&sort=-date`
 */
export function canonicalForm(request: SearchRequest, domain: SearchDomain): string {
  const { domain: name, text, context, filters, facets, sort, page, limit, highlight, ...rest } = request;
  noMember(rest);
  const parts = [`q=${quote(text)}`];
  for (const [parameter, value] of context) parts.push(`${quote(parameter)}=${quote(value)}`);
  for (const filter of filters) {
    parts.push(`filter=${quote(filter.attribute)}:${filterText(filter, domain, quote, String)}`);
  }
  for (const facet of facets) parts.push(`facet=${quote(facet)}`);
  const sorted = sortText(sort, quote);
  if (sorted !== undefined) parts.push(`sort=${sorted}`);
  if (page !== 1) parts.push(`page=${page}`);
  if (limit !== DEFAULT_LIMIT) parts.push(`limit=${limit}`);
  if (!highlight) parts.push('highlight=false');
  return `${name}@${domain.answerProfile}?${parts.join('&')}`;
}

/**
 * Takes the members that a destructuring has left. With a member that the canonical form does not name, two searches would
 * share one answer; the call then does not compile.
 */
export function noMember(_rest: Readonly<Record<string, never>>): void {}

/** `price`, `-price`; undefined for the default. */
export function sortText(sort: Sort, format: (attribute: string) => string): string | undefined {
  if (sort.by === 'relevance') {
    const { by: _by, ...rest } = sort;
    noMember(rest);
    return undefined;
  }
  const { by: _by, attribute, descending, ...rest } = sort;
  noMember(rest);
  return `${descending ? '-' : ''}${format(attribute)}`;
}

/** The values of a filter: `a,b`, `1,2` or `1..5`. `string` and `numeric` format one value each. */
export function filterText(
  filter: Filter,
  domain: SearchDomain,
  string: (value: string) => string,
  numeric: (value: number) => string,
): string {
  const isDate = domain.attributes.find(({ name }) => name === filter.attribute)?.type === 'date';
  const number = isDate ? dateText : numeric;
  switch (filter.kind) {
    case 'strings': {
      const { kind: _kind, attribute: _attribute, values, ...rest } = filter;
      noMember(rest);
      return values.map(string).join(',');
    }
    case 'numbers': {
      const { kind: _kind, attribute: _attribute, values, ...rest } = filter;
      noMember(rest);
      return values.map(number).join(',');
    }
    case 'range': {
      const { kind: _kind, attribute: _attribute, from, to, ...rest } = filter;
      noMember(rest);
      return `${from === undefined ? '' : number(from)}..${to === undefined ? '' : number(to)}`;
    }
  }
}

/** Quotes the separators and the quote itself, so that no two different requests have one canonical form. */
function quote(text: string): string {
  return text.replace(/[%&=,:]/g, (separator) => encodeURIComponent(separator));
}

/** Maximum length of a text in a request, in UTF-16 units: 256 characters of at most two units each. */
export const MAX_REQUEST_TEXT_UNITS = 512;

/**
 * The canonical form of a text in a request: texts with the same meaning become one text. The order and the meaning of
 * words never change. Applying it again changes nothing, for any input (property-tested).
 *
 * The result may be longer than the text: NFKC turns ﷺ into 18 letters, and no character into more.
 * @throws RangeError for more than `MAX_REQUEST_TEXT_UNITS`: callers check the length first, and name the parameter in
 * their refusal.
 */
export function canonicalText(text: string): string {
  if (text.length > MAX_REQUEST_TEXT_UNITS) throw tooLong(text);
  return canonicalDocumentText(text);
}

/**
 * The canonical form of the words of a search: also with one sign for every apostrophe within a word, of which telephones
 * and word processors write others. Values of filters keep theirs: engines compare them with attributes as written.
 */
export function canonicalQuery(text: string): string {
  if (text.length > MAX_REQUEST_TEXT_UNITS) throw tooLong(text);
  return settled(text, QUERY_RULES);
}

function tooLong(text: string): RangeError {
  return new RangeError(`a text of ${text.length} units is not made canonical; at most ${MAX_REQUEST_TEXT_UNITS}`);
}

/** The same for a text of a document, of any length. Its time grows linearly with the length. */
export function canonicalDocumentText(text: string): string {
  return settled(text, RULES);
}

/**
 * One rule may make work for an earlier one (an accent that ё→е leaves composes again), so the rules run until the text no
 * longer changes.
 */
function settled(text: string, rules: readonly Rule[]): string {
  if (PLAIN.test(text)) return collapse(yo(text.toLowerCase()));
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = rules.reduce((value, rule) => rule.apply(value), current);
    if (next === current) break;
    current = next;
  }
  return current;
}

export interface AppliedRule {
  readonly rule: string;
  readonly before: string;
  readonly after: string;
}

/** Each rule that changes the words of a search, in the order applied. */
export function explainCanonicalQuery(text: string): readonly AppliedRule[] {
  const applied: AppliedRule[] = [];
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = current;
    for (const { rule, apply } of QUERY_RULES) {
      const after = apply(current);
      if (after !== current) applied.push({ rule, before: current, after });
      current = after;
    }
    if (current === before) break;
  }
  return applied;
}

const MAX_ROUNDS = 8;

/**
 * Printable ASCII but the backtick, and basic Russian, as in nearly every query: nothing to normalise, and case folds letter
 * by letter.
 */
const PLAIN = /^[ -_a-~А-яЁё]*$/;

const yo = (text: string): string => text.replaceAll('ё', 'е');
const collapse = (text: string): string => text.replace(/[\s\u0085]+/gu, ' ').trim();

/**
 * Lower, upper, lower: ẞ and ß both become ss, final and medial sigma become one. A one-way `toLowerCase` would give the
 * same word two keys, depending on how it was typed.
 */
const foldCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase();

/**
 * Normalisation sorts the combining marks of each letter, in a time that grows with the square of their number: 120 KB
 * of marks blocked the event loop for two seconds. No script has more than a few marks per letter; the Stream-Safe Text
 * Format (UAX #15 §13) allows 30.
 */
const MORE_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * Soft hyphen, zero-width space, word joiner, byte order mark, direction marks, as a class of a regular expression: they
 * are copied along with a text and have no meaning.
 */
export const INVISIBLE = '[\\u00ad\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060\\u2066-\\u2069\\ufeff]';
const INVISIBLES = new RegExp(INVISIBLE, 'gu');

interface Rule {
  readonly rule: string;
  readonly apply: (text: string) => string;
}

const RULES: readonly Rule[] = [
  { rule: 'marks beyond 30', apply: (text) => text.replace(MORE_MARKS, '$1') },
  // NFKC would glue their letters to the word before or after: core™ → coretm, №5 → no5.
  { rule: 'word signs', apply: (text) => text.replace(/[™℠№]/gu, ' ') },
  { rule: 'unicode NFKC', apply: (text) => text.normalize('NFKC') },
  { rule: 'invisible characters', apply: (text) => text.replace(INVISIBLES, '') },
  { rule: 'case', apply: foldCase },
  { rule: 'ё → е', apply: yo },
  { rule: 'white space', apply: collapse },
];

/** Signs that are one apostrophe where they stand between letters: l’eau, п'ять, oʻzbek. */
export const APOSTROPHES = "'’‘‛ʼʻ′`´＇";
const WITHIN_WORDS = new RegExp(`(?<=\\p{L})[${APOSTROPHES}](?=\\p{L})`, 'gu');

const QUERY_RULES: readonly Rule[] = [
  { rule: 'apostrophe', apply: (text) => text.replace(WITHIN_WORDS, "'") },
  ...RULES,
];

export const DEFAULT_LIMIT = 20;

/** Days since the epoch as `YYYY-MM-DD`. */
export function dateText(days: number): string {
  return new Date(days * MS_PER_DAY).toISOString().slice(0, 10);
}

export const MS_PER_DAY = 86_400_000;
