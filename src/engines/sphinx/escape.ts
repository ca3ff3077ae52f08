import type { Dialect } from './statement.ts';

/** Text prepared for `MATCH('…')`: operators are escaped, so that every character is text. */
export interface MatchText {
  /** Goes between the quotes of MATCH after `quote`. */
  readonly match: string;
  /** The same words without syntax. */
  readonly words: string;
}

/** A run of what an index with `blend_chars` takes for one token: `c++`, `wi-fi`, `at&t`, `asp.net`. */
const RUN = /[\p{L}\p{M}\p{N}\-+.#&_]+/gu;
const BLENDED = /[-+.#&_]/g;
const TOKEN = /[\p{L}\p{N}]/u;
/** Word parts are expensive in searchd (45 ms against 2 ms over 31k documents), so nobody may ask for them. */
const WILDCARDS = /[*?%]/g;
const OPERATORS = /[\\()|\-!@~"&/^$<]/g;
/** Sphinx 2.2.11 makes one word of `l\=r`, although `=` is not in the `charset_table`. */
const EXACT_FORM = /=/g;
/** C0, DEL, C1, line separators and lone surrogates: searchd reads an escaped NUL as the digit 0. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

/**
 * Undefined when the text has nothing an index could hold: an empty MATCH would scan every document.
 * Lower case, because MAYBE, NEAR/3, SENTENCE, PARAGRAPH, ZONE: are operators in upper case only.
 */
export function matchText(text: string): MatchText | undefined {
  return prepared(trimRuns(plain(text)));
}

/**
 * A looser reading: blended characters separate words. For when the text as written found nothing, because a blended
 * token in a query matches only the whole token: `кабель-мышь` does not find `кабель мышь`. Undefined when it is the same.
 */
export function relaxedMatchText(text: string): MatchText | undefined {
  const strict = trimRuns(plain(text));
  const loose = collapse(strict.replace(BLENDED, ' '));
  return loose === strict ? undefined : prepared(loose);
}

/**
 * The words for `SNIPPET(…, '…')`, after `quote`. Sphinx marks each of them wherever it stands. Manticore takes a query, gives
 * empty text for a wrong one, and marks nothing in a field without a match: a quorum of one word matches any of them.
 */
export function snippetQuery({ match, words }: MatchText, dialect: Dialect): string {
  return dialect === 'sphinx' ? words : `"${match}"/1`;
}

/** A SphinxQL string literal. */
export function quote(text: string): string {
  return `'${text.replace(UNPRINTABLE, ' ').replace(/[\\']/g, '\\$&')}'`;
}

function plain(text: string): string {
  return text.replace(UNPRINTABLE, ' ').replace(WILDCARDS, ' ').replace(EXACT_FORM, ' ').toLowerCase();
}

/** `-кабель` and `кабель.` are words with punctuation; `c++` and `c#` are words. */
function trimRuns(text: string): string {
  return collapse(text.replace(RUN, (run) => run.replace(/^[-+.#&_]+/, '').replace(/[-.&_]+$/, '')));
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function prepared(words: string): MatchText | undefined {
  return TOKEN.test(words) ? { match: words.replace(OPERATORS, '\\$&'), words } : undefined;
}
