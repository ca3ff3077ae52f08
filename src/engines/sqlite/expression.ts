import { isNgram, isNumber, otherUnit, type Run, runsOf, textsOf, withUmlauts, writingsOf } from '../analysis/words.ts';

/** The words of the index. */
export interface Vocabulary {
  /** The members of `words` that occur in documents, with their number of documents. */
  readonly known: (words: readonly string[]) => ReadonlyMap<string, number>;
  /** Words that begin with `prefix`, at most `limit`. */
  readonly beginningWith: (prefix: string, limit: number) => readonly string[];
  /** Phrases of documents that are spelt as one of `words` elsewhere, at most `limit`: `wi fi` for `wifi`. */
  readonly spelt: (words: readonly string[], limit: number) => readonly string[];
  /** The number of documents that match an expression, at most `limit`. */
  readonly matching: (expression: string, limit: number) => number;
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
  /** Words that are marked where they stand together, and not alone: the characters of a run. */
  readonly phrase?: readonly string[];
}

/**
 * All words must match, each in any form that the catalogue has. A rare word also matches as a prefix ("ноут").
 * Undefined when nothing can match.
 *
 * Forms joined by OR would each be weighted by their own rarity, and a single "курьерам" would outrank every "курьер". So
 * the forms are scored together, by their common prefix, and `only` removes other words with that prefix ("кроссовер" for
 * "кроссовки"). The word as typed is scored once more, unless nearly all documents have it in this form.
 *
 * @param relaxed a second reading of a query that found nothing: neighbouring words are also one word ("wi fi"), an unknown
 * word is two that stand together ("wifi" for "wi fi"), and "mueller" is "Müller".
 */
export function expressionOf(text: string, vocabulary: Vocabulary, relaxed = false): Expression | undefined {
  const runs = runsOf(text);
  const clauses: Clause[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < runs.length; at += 1) {
    const [run, next] = [runs[at], runs[at + 1]];
    if (run === undefined) break;
    const pair = measureClause(run, next, vocabulary) ?? (relaxed ? joinedClause(run, next, vocabulary) : undefined);
    const name = text.slice(run.from, run.to);
    if (pair !== undefined) at += 1;
    else if (seen.has(name)) continue;
    seen.add(name);
    const clause = pair ?? runClause(run, vocabulary, relaxed);
    if (clause === undefined) return undefined;
    clauses.push(clause);
  }
  if (clauses.length === 0) return undefined;
  const { score, only, exact, terms } = allOf(clauses);
  return { score, only: exact ? undefined : only, terms };
}

interface Clause {
  readonly score: string;
  readonly only: string;
  /** Whether `score` finds the same documents as `only`. */
  readonly exact: boolean;
  readonly terms: readonly Term[];
}

function combined(clauses: readonly Clause[], operator: ' AND ' | ' OR '): Clause {
  const [first, ...others] = clauses;
  if (first !== undefined && others.length === 0) return first;
  return {
    score: `(${clauses.map(({ score }) => score).join(operator)})`,
    only: `(${clauses.map(({ only }) => only).join(operator)})`,
    exact: clauses.every(({ exact }) => exact),
    terms: clauses.flatMap(({ terms }) => terms),
  };
}

const allOf = (clauses: readonly Clause[]): Clause => combined(clauses, ' AND ');

/** Undefined when no clause is left. */
function eitherOf(clauses: readonly (Clause | undefined)[]): Clause | undefined {
  const left = clauses.filter((clause) => clause !== undefined);
  return left.length === 0 ? undefined : combined(left, ' OR ');
}

/** All parts of a run, or the run in one piece. An article is not asked for: l'eau is found by eau. */
function runClause(run: Run, vocabulary: Vocabulary, relaxed: boolean): Clause | undefined {
  const parts = run.parts
    .filter(({ isArticle }) => !isArticle)
    .map(({ pieces }) => {
      const words = textsOf(pieces);
      const clause = piecesClause(words, vocabulary);
      const [word = '', ...others] = words;
      if (!relaxed || others.length > 0) return clause;
      return eitherOf([clause, umlautClause(word, vocabulary), brokenClause(word, vocabulary)]);
    });
  const all = parts.every((clause) => clause !== undefined) ? allOf(parts) : undefined;
  return run.joined.length === 0 ? all : eitherOf([all, piecesClause(run.joined, vocabulary)]);
}

/** A number and a unit apart, the unit by either sign, or as one word: `128 гб`, `128 gb`, `128gb`. */
function measureClause(run: Run, next: Run | undefined, vocabulary: Vocabulary): Clause | undefined {
  const [part, unit] = [onlyPart(run), onlyPart(next)];
  const [sign = '', ...others] = unit ?? [];
  const other = otherUnit(sign);
  if (part === undefined || other === undefined || others.length > 0 || !isNumber(part.at(-1) ?? '')) return undefined;
  const together = writingsOf([...part, sign]).filter(
    (writing) => ![sign, other].includes(writing.split(' ').at(-1) ?? ''),
  );
  const apart = [piecesClause(part, vocabulary), eitherOf([sign, other].map((each) => wordClause(each, vocabulary)))];
  return eitherOf([
    apart.every((clause) => clause !== undefined) ? allOf(apart) : undefined,
    vocabulary.matching(anyOf(together.map(quoted)), 1) > 0 ? phrasesClause(together) : undefined,
  ]);
}

const onlyPart = (run: Run | undefined): readonly string[] | undefined =>
  run?.parts.length === 1 ? textsOf(run.parts[0]?.pieces ?? []) : undefined;

/** Any of these phrases. */
function phrasesClause(phrases: readonly string[]): Clause {
  const score = anyOf(phrases.map(quoted));
  const words = new Set(phrases.flatMap((phrase) => phrase.split(' ')));
  return { score, only: score, exact: true, terms: [{ words, prefix: undefined }] };
}

/** Pieces that stand together, however the catalogue writes them. In few documents the last one is also a prefix. */
function piecesClause(pieces: readonly string[], vocabulary: Vocabulary): Clause | undefined {
  const [word = '', ...others] = pieces;
  if (others.length === 0) return wordClause(word, vocabulary);
  const writings = writingsOf(pieces);
  const phrases = phrasesClause([...new Set([...writings, ...vocabulary.spelt([pieces.join(' ')], MAX_SPELLINGS)])]);
  if (pieces.some(isNgram)) return { ...phrases, terms: [{ words: new Set(), prefix: undefined, phrase: pieces }] };
  const isRare = vocabulary.matching(phrases.score, RARE_DOCUMENTS) < RARE_DOCUMENTS;
  if (!isRare || pieces.join('').length < SHORTEST_PREFIX) return phrases;
  const score = anyOf([phrases.score, ...writings.map((writing) => `${quoted(writing)}*`)]);
  const terms = [...phrases.terms, { words: new Set<string>(), prefix: pieces.at(-1) }];
  return { score, only: score, exact: true, terms };
}

/** Two neighbouring words that the catalogue also has as one. */
function joinedClause(first: Run, second: Run | undefined, vocabulary: Vocabulary): Clause | undefined {
  const [a, b] = [first, second].map(onlyPart).map((pieces) => (pieces?.length === 1 ? pieces[0] : undefined));
  if (a === undefined || b === undefined || isNumber(a) || isNumber(b)) return undefined;
  const joined = vocabulary.known([a + b]).size === 0 ? undefined : wordClause(a + b, vocabulary);
  if (joined === undefined) return undefined;
  const apart = [a, b].map((word) => wordClause(word, vocabulary));
  return eitherOf([apart.every((clause) => clause !== undefined) ? allOf(apart) : undefined, joined]);
}

/** A word typed without umlauts, where the catalogue has it with them. */
function umlautClause(word: string, vocabulary: Vocabulary): Clause | undefined {
  const spelling = withUmlauts(word);
  const isKnown = spelling !== word && vocabulary.known([spelling]).size > 0;
  return isKnown ? wordClause(spelling, vocabulary) : undefined;
}

/** A word as two known ones that stand together in a document. */
function brokenClause(word: string, vocabulary: Vocabulary): Clause | undefined {
  if (word.length > LONGEST_WORD || isNumber(word)) return undefined;
  const breaks = Array.from({ length: Math.max(0, word.length - 3) }, (_, at) => [
    word.slice(0, at + 2),
    word.slice(at + 2),
  ]);
  const known = vocabulary.known(breaks.flat());
  const phrases = breaks
    .filter((halves) => halves.every((half) => known.has(half)) && vocabulary.matching(quoted(halves.join(' ')), 1) > 0)
    .map((halves) => phrasesClause([halves.join(' ')]));
  return eitherOf(phrases);
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

/** A word in its forms, and the phrases of documents that are also spelt as this word. */
function wordClause(word: string, vocabulary: Vocabulary): Clause | undefined {
  // Russian forms are many, and seldom those of a word that is spelt in two ways.
  const spelt = vocabulary.spelt(ENGLISH.test(word) ? formsOf(word) : [word], MAX_SPELLINGS);
  if (spelt.length === 0) return formsClause(word, vocabulary);
  return eitherOf([formsClause(word, vocabulary), phrasesClause(spelt)]);
}

/** More spellings of one word are different words that have a piece in common. */
const MAX_SPELLINGS = 32;

function formsClause(word: string, vocabulary: Vocabulary): Clause | undefined {
  const known = vocabulary.known(formsOf(word));
  const documents = [...known.values()].reduce((sum, count) => sum + count, 0);
  const forms = [...known.keys()];
  if (documents < RARE_DOCUMENTS && [...word].length >= SHORTEST_PREFIX) {
    const either = anyOf([`${quoted(word)}*`, ...forms.filter((form) => !form.startsWith(word)).map(quoted)]);
    return { score: either, only: either, exact: true, terms: [{ words: new Set(forms), prefix: word }] };
  }
  const [first] = forms;
  if (first === undefined) return undefined;
  const terms = [{ words: new Set(forms), prefix: undefined }];
  const only = anyOf(forms.map(quoted));
  if (forms.length === 1) return { score: only, only, exact: true, terms };

  const prefix = sharedPrefix(forms);
  const alike = vocabulary.beginningWith(prefix, PREFIX_LOOK);
  const exact = alike.length < PREFIX_LOOK && alike.every((other) => known.has(other));
  const asTyped = known.get(word) ?? 0;
  const isSelective = asTyped > 0 && asTyped < USUAL_SHARE * documents;
  const score = anyOf([`${quoted(prefix)}*`, ...(isSelective ? [quoted(word)] : [])]);
  return { score, only, exact, terms };
}

function sharedPrefix(words: readonly string[]): string {
  const [first = '', ...rest] = words;
  let length = first.length;
  for (const word of rest) {
    while (!word.startsWith(first.slice(0, length))) length -= 1;
  }
  return first.slice(0, length);
}

/** Words contain no quote, so nothing is escaped. In quotes AND, OR and NEAR are ordinary words. */
const quoted = (words: string): string => `"${words}"`;
const anyOf = (parts: readonly string[]): string => (parts.length === 1 ? parts.join('') : `(${parts.join(' OR ')})`);

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
