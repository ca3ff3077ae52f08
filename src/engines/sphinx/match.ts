import {
  isNgram,
  isNumber,
  onlyPieceOf,
  otherUnit,
  type Part,
  PLAIN,
  type Run,
  runsOf,
  searchdForm,
  spellingsOf,
  textsOf,
  withoutUmlauts,
  writingsOf,
} from '../analysis/words.ts';
import type { Dialect } from './schema.ts';

/** Text prepared for `MATCH('…')`: every sign that a user typed is escaped or left out, so that none is syntax. */
export interface MatchText {
  /** Goes between the quotes of MATCH after `quote`. */
  readonly match: string;
  /** Its words without syntax, in all spellings, for highlights. */
  readonly words: string;
}

/**
 * All words, each in the spellings that the analysis gives it: as typed, its parts, in one piece, a unit by its other sign.
 * An index of `sphinx-source` has the other spellings of its documents in the field `spellings`, so either side may be
 * the one that is spelt in another way. Undefined when the text has no word: an empty MATCH would scan every document.
 *
 * Lower case, because MAYBE, NEAR/3, SENTENCE, PARAGRAPH and ZONE: are operators in upper case only.
 */
export function matchText(text: string): MatchText | undefined {
  const query = queryOf(text);
  return query.clauses.length === 0 ? undefined : { match: query.clauses.join(' '), words: wordsOf(query) };
}

/**
 * A looser reading for a text that found nothing: two neighbouring words may also be one. Undefined where there are none,
 * and for long texts, whose pairs would be many.
 */
export function relaxedMatchText(text: string): MatchText | undefined {
  const query = queryOf(text);
  const { runs, clauses } = query;
  if (clauses.length > MAX_RELAXED_WORDS) return undefined;
  const pairs = runs.flatMap((run, at) => {
    const [one, two] = [onlyPieceOf(run), onlyPieceOf(runs[at + 1])];
    if (one === undefined || two === undefined || isNumber(one) || isNumber(two)) return [];
    return [{ at, joined: one + two }];
  });
  if (pairs.length === 0) return undefined;
  const readings = pairs.map(({ at, joined }) => clauses.toSpliced(at, 2, joined).join(' '));
  return {
    match: readings.map((reading) => `(${reading})`).join(' | '),
    words: [wordsOf(query), ...pairs.map(({ joined }) => joined)].join(' '),
  };
}

const MAX_RELAXED_WORDS = 4;

/**
 * The words for `SNIPPET(…, '…')`, before `quote`. Sphinx marks each of them wherever it occurs. Manticore takes a
 * query, returns empty text for a wrong one, and marks nothing in a field without a match: a quorum of one matches any
 * word.
 */
export function snippetQuery({ words }: MatchText, dialect: Dialect): string {
  return dialect === 'sphinx' ? words : `"${escaped(words)}"/1`;
}

interface Query {
  /** The text that the places of the runs refer to. */
  readonly source: string;
  readonly runs: readonly Run[];
  /** One for each run. */
  readonly clauses: readonly string[];
}

/** Control characters separate words; a character of searchd's syntax is in no run, except for the joiners. */
function queryOf(text: string): Query {
  const source = text.replace(/\p{Cc}/gu, ' ').toLowerCase();
  const runs = runsOf(source);
  const clauses = runs.map((run, at) => {
    const before = runs[at - 1]?.parts.at(-1)?.pieces.at(-1)?.text ?? '';
    return clauseOf(run, source, isNumber(before));
  });
  return { source, runs, clauses };
}

function clauseOf(run: Run, source: string, isAfterNumber: boolean): string {
  const clauses = run.parts
    .filter(({ isArticle }) => !isArticle)
    .map((part) => partClause(part, source, isAfterNumber));
  const parts = [...new Set(clauses)];
  const all = parts.length === 1 ? parts.join('') : `(${parts.join(' ')})`;
  const typed = source.slice(run.from, run.to);
  const isBlended = run.parts.length > 1 && BLENDED.test(typed);
  return anyOf([...(isBlended ? [escaped(typed)] : []), all, ...joinedForms(run)]);
}

/** A run in one piece, where it is found so. */
function joinedForms({ joined }: Run): readonly string[] {
  return joined.length === 0 ? [] : writingsOf(joined).map(phrase);
}

function partClause({ pieces }: Part, source: string, isAfterNumber: boolean): string {
  const [first, last] = [pieces[0], pieces.at(-1)];
  if (first === undefined || last === undefined) return '';
  const written = source.slice(first.from, last.to);
  const typed = escaped(written);
  if (pieces.length === 1) {
    const unit = isAfterNumber ? otherUnit(first.text) : undefined;
    const folded = searchdForm(written) === first.text ? [] : [first.text];
    return anyOf([typed, ...folded, ...(unit === undefined ? [] : [unit])]);
  }
  const texts = textsOf(pieces);
  // A run of characters is a phrase of them, which searchd itself takes apart.
  if (texts.some(isNgram)) return anyOf([`"${typed}"`, ...(texts.every(isNgram) ? [] : writingsOf(texts).map(phrase))]);
  // A decimal with a point is one word of an index with `blend_chars`.
  return anyOf([...(BLENDED.test(written) ? [typed] : []), ...writingsOf(texts).map(phrase)]);
}

function anyOf(spellings: readonly string[]): string {
  const different = [...new Set(spellings)];
  return different.length === 1 ? different.join('') : `(${different.join(' | ')})`;
}

const phrase = (words: string): string => (words.includes(' ') ? `"${words}"` : words);

function wordsOf({ source, runs }: Query): string {
  const words = runs.flatMap(({ from, to, parts, joined }) => [
    source.slice(from, to),
    ...(joined.length === 0 ? [] : [joined.join('')]),
    ...parts.flatMap(({ pieces }) => textsOf(pieces)),
  ]);
  return [...new Set(words)].join(' ');
}

/** A word of an index with `blend_chars`: at a sign that is not among them searchd would separate two words. */
const BLENDED = /^[\p{L}\p{M}\p{N}\-.&_]*$/u;

/** The signs of searchd's syntax that a run may hold. */
function escaped(text: string): string {
  return text.replace(/[\\()|\-!@~"&/^$<]/g, '\\$&');
}

/** Other spellings of the words of a document, which searchd does not find in it by itself: the field `spellings`. */
export function spellingsField(text: string): string {
  const field = runsOf(text).flatMap((run) => {
    const spelled = spellingsOf(run).map(({ words }) => words);
    // Shorter spellings are found in a longer one, as its neighbours.
    const longest = spelled.filter(
      (words) => !spelled.some((other) => other !== words && ` ${other} `.includes(` ${words} `)),
    );
    return [...longest, ...run.parts.flatMap(({ pieces }) => lettersOf(pieces, text))];
  });
  return [...new Set(field)].join(' ');
}

/** A word, or a run of characters, as it is folded where a `charset_table` cannot fold it, and without umlauts. */
function lettersOf(pieces: Part['pieces'], text: string): readonly string[] {
  const typed = text.slice(pieces[0]?.from, pieces.at(-1)?.to);
  if (PLAIN.test(typed)) return [];
  const texts = textsOf(pieces);
  if (texts.length > 1 && !texts.every(isNgram)) return [];
  return [texts.join(''), withoutUmlauts(typed)].filter((spelling) => spelling !== searchdForm(typed));
}
