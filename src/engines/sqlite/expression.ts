import { canonicalDocumentText } from '../../search/canonical.ts';

/** The words of the index. */
export interface Vocabulary {
  /** The members of `words` that occur in documents, with their number of documents. */
  readonly known: (words: readonly string[]) => ReadonlyMap<string, number>;
  /** Words that begin with `prefix`, at most `limit`. */
  readonly beginningWith: (prefix: string, limit: number) => readonly string[];
}

/** A query in FTS5's syntax. */
export interface Expression {
  /** Finds every matching document and ranks it. */
  readonly score: string;
  /** Set when `score` finds too much: a document must match this expression as well. */
  readonly only: string | undefined;
  /** For highlights: each word of the query in the forms that a matching document may have. */
  readonly terms: readonly Term[];
}

export interface Term {
  readonly words: ReadonlySet<string>;
  /** Set when the word also matches as a prefix. */
  readonly prefix: string | undefined;
}

/**
 * All words must match, each in any form that the catalogue has. A rare word also matches as a prefix ("ноут").
 * Undefined when nothing can match.
 *
 * Forms joined by OR would each be weighted by their own rarity, and a single "курьерам" would outrank every "курьер". So
 * the forms are scored together, by their common prefix, and `only` removes other words with that prefix ("кроссовер" for
 * "кроссовки"). The word as typed is scored once more, unless nearly all documents have it in this form.
 */
export function expressionOf(text: string, vocabulary: Vocabulary): Expression | undefined {
  const words = [...new Set(wordsOf(text))];
  if (words.length === 0) return undefined;
  const clauses: Clause[] = [];
  for (const word of words) {
    const clause = clauseOf(word, vocabulary);
    if (clause === undefined) return undefined;
    clauses.push(clause);
  }
  return {
    score: conjunction(clauses.map(({ score }) => score)),
    only: clauses.some(({ exact }) => !exact) ? conjunction(clauses.map(({ only }) => only)) : undefined,
    terms: clauses.map(({ term }) => term),
  };
}

/** A word in fewer documents also matches as a prefix. */
const RARE_DOCUMENTS = 5;
const SHORTEST_PREFIX = 3;
/**
 * From this share of documents on, the word as typed is not scored separately: that costs time and does not change the
 * order.
 */
const USUAL_SHARE = 0.8;
/**
 * Maximum number of words read to find one that shares the prefix and is not a form; with more words there certainly is
 * one.
 */
const PREFIX_LOOK = 100;

interface Clause {
  readonly score: string;
  readonly only: string;
  /** Whether `score` finds the same documents as `only`. */
  readonly exact: boolean;
  readonly term: Term;
}

function clauseOf(word: string, vocabulary: Vocabulary): Clause | undefined {
  const known = vocabulary.known(formsOf(word));
  const documents = [...known.values()].reduce((sum, count) => sum + count, 0);
  const forms = [...known.keys()];
  if (documents < RARE_DOCUMENTS && [...word].length >= SHORTEST_PREFIX) {
    const either = anyOf([`${quoted(word)}*`, ...forms.filter((form) => !form.startsWith(word)).map(quoted)]);
    return { score: either, only: either, exact: true, term: { words: new Set(forms), prefix: word } };
  }
  const [first] = forms;
  if (first === undefined) return undefined;
  const term = { words: new Set(forms), prefix: undefined };
  const only = anyOf(forms.map(quoted));
  if (forms.length === 1) return { score: only, only, exact: true, term };

  const prefix = sharedPrefix(forms);
  const alike = vocabulary.beginningWith(prefix, PREFIX_LOOK);
  const exact = alike.length < PREFIX_LOOK && alike.every((other) => known.has(other));
  const asTyped = known.get(word) ?? 0;
  const isSelective = asTyped > 0 && asTyped < USUAL_SHARE * documents;
  const score = anyOf([`${quoted(prefix)}*`, ...(isSelective ? [quoted(word)] : [])]);
  return { score, only, exact, term };
}

function sharedPrefix(words: readonly string[]): string {
  const [first = '', ...rest] = words;
  let length = first.length;
  for (const word of rest) {
    while (!word.startsWith(first.slice(0, length))) length -= 1;
  }
  return first.slice(0, length);
}

/** A word contains no quote, so nothing is escaped. In quotes AND, OR and NEAR are ordinary words. */
const quoted = (word: string): string => `"${word}"`;
const anyOf = (parts: readonly string[]): string => (parts.length === 1 ? parts.join('') : `(${parts.join(' OR ')})`);
const conjunction = (parts: readonly string[]): string => parts.join(' AND ');

/**
 * The words of a text, folded. Documents, queries and highlights use this one tokeniser, so they always agree. FTS5 gets
 * the words joined by spaces and only splits them again.
 */
export function wordsOf(text: string): readonly string[] {
  return foldText(text).match(WORD) ?? [];
}

/**
 * A run of letters or a run of digits; combining marks belong to their letter. One letter with ++ or # is a word as well:
 * a search for C++ must not find every C.
 */
export const WORD = /(?<![\p{L}\p{N}])[a-z](?:\+\+|#)(?![\p{L}\p{N}])|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/giu;
/** ASCII signs inside words: FTS5's tokeniser must not split there. */
export const WORD_SIGNS = '+#';

/** Lower case, compatibility forms composed, ё as е, é as e, stress marks removed; й stays unchanged. */
export function foldText(text: string): string {
  // ™ would become the letters "tm" at the end of the word before it.
  if (PLAIN.test(text)) return text.toLowerCase().replaceAll('ё', 'е');
  return canonicalDocumentText(text.replace(TRADE_MARKS, ' ')).normalize('NFD').replace(ACCENTS, '').normalize('NFC');
}

/** Text that folds letter by letter, which is most text: printable ASCII, Russian, and punctuation outside words. */
const PLAIN = /^[\t\n\r -~А-яЁё«»°±·®©\u2010-\u2015\u2018-\u201e\u2022№]*$/u;
const TRADE_MARKS = /[™℠]/gu;

/** All combining diacritics except the breve, without which й would be и. */
const ACCENTS = /[\u0300-\u0305\u0307-\u036f]/gu;

/**
 * Forms that a word may have in documents, the word itself first: Russian declension and English plurals. This is a guess:
 * the caller keeps the forms that the catalogue has. The index holds words as written, so a better guess needs no new
 * index.
 */
function formsOf(word: string): readonly string[] {
  if (word.length < SHORTEST_STEM || word.length > LONGEST_WORD) return [word];
  if (RUSSIAN.test(word)) return russianForms(word);
  if (ENGLISH.test(word)) return englishForms(word);
  return [word];
}

const SHORTEST_STEM = 3;
/** Shortest stem for the endings in FLEETING, which would make too many words out of a shorter stem. */
const SHORTEST_FLEETING_STEM = 4;
const LONGEST_WORD = 32;
const RUSSIAN = /^[а-я]+$/;
const ENGLISH = /^[a-z]+$/;

const list = (text: string): readonly string[] => text.split(' ').sort((a, b) => b.length - a.length);

/** Endings of nouns and adjectives. */
const ENDINGS = list(
  'а я о е и ы у ю ь й ой ей ою ею ом ем ам ям ах ях ов ев ами ями ью ия ии ию ией ие ий иям иями иях ' +
    'ый ая яя ое ее ые ого его ому ему ым им ых их ую юю ыми ими',
);

/** Endings with a fleeting vowel: кроссовки and кроссовок, двушка and двушек; продавец and продавцы. */
const FLEETING = [list('ка ки ку ке кой кам ками ках ок ек'), list('ец ца цу це цы цем цом цев цов цам цами цах')];

function russianForms(word: string): readonly string[] {
  const forms = new Set([word]);
  for (const family of FLEETING) {
    const ending = family.find((candidate) => word.endsWith(candidate));
    if (ending === undefined || word.length - ending.length < SHORTEST_FLEETING_STEM) continue;
    const stem = word.slice(0, -ending.length);
    for (const other of family) forms.add(stem + other);
  }
  // A word with a fleeting vowel has no endings beside those of FLEETING.
  if (forms.size > 1) return [...forms];
  const ending = ENDINGS.find(
    (candidate) => word.endsWith(candidate) && word.length - candidate.length >= SHORTEST_STEM,
  );
  const stem = word.slice(0, word.length - (ending?.length ?? 0));
  forms.add(stem);
  for (const other of ENDINGS) forms.add(stem + other);
  return [...forms];
}

function englishForms(word: string): readonly string[] {
  const forms = new Set([word, `${word}s`]);
  if (/(?:s|x|z|ch|sh)$/.test(word)) forms.add(`${word}es`);
  if (/[^aeiou]y$/.test(word)) forms.add(`${word.slice(0, -1)}ies`);
  if (/[^su]s$/.test(word) && word.length > SHORTEST_STEM) forms.add(word.slice(0, -1));
  if (/(?:s|x|z|ch|sh)es$/.test(word)) forms.add(word.slice(0, -2));
  if (/[^aeiou]ies$/.test(word)) forms.add(`${word.slice(0, -3)}y`);
  return [...forms];
}
