import { isNgram, isNumber, onlyPieceOf, otherUnit, type Run, runsOf, textsOf, writingsOf } from '../analysis/words.ts';
import { LONGEST_WORD, RUSSIAN } from './forms.ts';

/** The words of the index. */
export interface Vocabulary {
  /** The forms that a word may have, the word itself first. */
  readonly formsOf: (word: string) => readonly string[];
  /** The members of `words` that occur in documents, with their number of documents. */
  readonly known: (words: readonly string[]) => ReadonlyMap<string, number>;
  /** Words that begin with `prefix`, at most `limit`. */
  readonly beginningWith: (prefix: string, limit: number) => readonly string[];
  /**
   * Phrases of documents that are spelt as one of `words` elsewhere: `wi fi` for `wifi`.
   * @param pieces also words of which one of `words` is a piece: `rtx4060` for `4060`.
   */
  readonly spelt: (words: readonly string[], pieces: boolean) => readonly string[];
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
 * word is two that stand together ("wifi" for "wi fi").
 */
export function expressionOf(text: string, vocabulary: Vocabulary, relaxed = false): Expression | undefined {
  const runs = runsOf(text);
  const glued = gluedWords(runs);
  readAhead(runs, glued, vocabulary);
  const clauses: Clause[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < runs.length; at += 1) {
    const [run, next] = [runs[at], runs[at + 1]];
    if (run === undefined) break;
    const pair = relaxed ? joinedClause(run, next, vocabulary) : undefined;
    const name = text.slice(run.from, run.to);
    if (pair !== undefined) at += 1;
    else if (seen.has(name)) continue;
    seen.add(name);
    const clause =
      pair ?? eitherOf([runClause(run, vocabulary, relaxed), gluedClause(run, glued.get(run), vocabulary)]);
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
  const different = new Map(run.parts.map((part) => [textsOf(part.pieces).join(' '), part]));
  const parts = [...different.values()]
    .filter(({ isArticle }) => !isArticle)
    .map(({ pieces }) => {
      const words = textsOf(pieces);
      const clause = piecesClause(words, vocabulary);
      const [word = '', ...others] = words;
      if (!relaxed || others.length > 0) return clause;
      return eitherOf([clause, brokenClause(word, vocabulary)]);
    });
  const all = parts.every((clause) => clause !== undefined) ? allOf(parts) : undefined;
  const { joined } = run;
  return joined.length === 0 ? all : eitherOf([all, piecesClause(joined, vocabulary)]);
}

/**
 * Letters and numbers that stand apart in the query and together in the catalogue, for each run that is a part of them:
 * `rtx4060ti` for `rtx`, `4060` and `ti`. A unit after a number is also looked for by its other sign, which joins in here.
 */
function gluedWords(runs: readonly Run[]): ReadonlyMap<Run, ReadonlySet<string>> {
  const words = new Map<Run, Set<string>>();
  const pieces = runs.map((run) => (run.parts.length === 1 ? (run.parts[0]?.pieces.at(-1)?.text ?? '') : ''));
  const isWhole = runs.map((run) => onlyPieceOf(run) !== undefined);
  for (const from of runs.keys()) {
    for (let to = from + 1; to < Math.min(runs.length, from + MAX_GLUED); to += 1) {
      // A decimal begins at its last number: `1,5 л` is `5л` in the index.
      if (!isWhole[to] || isNumber(pieces[to] ?? '') === isNumber(pieces[to - 1] ?? '') || pieces[to - 1] === '') break;
      const together = writingsOf(pieces.slice(from, to + 1)).filter((writing) => !writing.includes(' '));
      const unit = isNumber(pieces[to - 1] ?? '') ? otherUnit(pieces[to] ?? '') : undefined;
      for (let at = from; at <= to; at += 1) {
        const run = runs[at];
        if (run === undefined) continue;
        const found = words.get(run) ?? new Set();
        for (const word of [...together, ...(at === to && unit !== undefined ? [unit] : [])]) found.add(word);
        words.set(run, found);
      }
    }
  }
  return words;
}

/** Undefined when the catalogue has none of the words. */
function gluedClause(run: Run, words: ReadonlySet<string> | undefined, vocabulary: Vocabulary): Clause | undefined {
  const found = [...vocabulary.known([...(words ?? [])]).keys()];
  if (found.length === 0) return undefined;
  // A highlight marks pieces.
  const own = run.parts.flatMap((part) => textsOf(part.pieces));
  return { ...phrasesClause(found), terms: [{ words: new Set([...found, ...own]), prefix: undefined }] };
}

/** Reads all words of a query at once, for the clauses that ask for them one by one. */
function readAhead(runs: readonly Run[], glued: ReadonlyMap<Run, ReadonlySet<string>>, vocabulary: Vocabulary): void {
  const alone = runs.flatMap(({ parts }) =>
    parts.flatMap(({ pieces }) => (pieces.length === 1 ? textsOf(pieces) : [])),
  );
  vocabulary.spelt(alone, true);
  vocabulary.known([...[...glued.values()].flatMap((words) => [...words]), ...alone.flatMap(vocabulary.formsOf)]);
}

/** Words of a query that are looked for as one. */
const MAX_GLUED = 3;

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
  const phrases = phrasesClause([...new Set([...writings, ...vocabulary.spelt([pieces.join(' ')], true)])]);
  if (pieces.some(isNgram)) return { ...phrases, terms: [{ words: new Set(), prefix: undefined, phrase: pieces }] };
  const isRare = vocabulary.matching(phrases.score, RARE_DOCUMENTS) < RARE_DOCUMENTS;
  if (!isRare || pieces.join('').length < SHORTEST_PREFIX) return phrases;
  // A short beginning behind a space has too many words.
  const begun = writings.filter((writing) => (writing.split(' ').at(-1)?.length ?? 0) > 1);
  const score = anyOf([phrases.score, ...begun.map((writing) => `${quoted(writing)}*`)]);
  const terms = [...phrases.terms, { words: new Set<string>(), prefix: pieces.at(-1) }];
  return { score, only: score, exact: true, terms };
}

/** Two neighbouring words that the catalogue also has as one. */
function joinedClause(first: Run, second: Run | undefined, vocabulary: Vocabulary): Clause | undefined {
  const [a, b] = [onlyPieceOf(first), onlyPieceOf(second)];
  if (a === undefined || b === undefined || isNumber(a) || isNumber(b)) return undefined;
  const joined = vocabulary.known([a + b]).size === 0 ? undefined : wordClause(a + b, vocabulary);
  if (joined === undefined) return undefined;
  const apart = [a, b].map((word) => wordClause(word, vocabulary));
  return eitherOf([apart.every((clause) => clause !== undefined) ? allOf(apart) : undefined, joined]);
}

/** A word as two known ones that stand together in a document. */
function brokenClause(word: string, vocabulary: Vocabulary): Clause | undefined {
  if (word.length > LONGEST_WORD || isNumber(word)) return undefined;
  if (vocabulary.known([word]).size > 0) return undefined;
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
  const forms = vocabulary.formsOf(word);
  const known = vocabulary.known(forms);
  const isRare = sumOf(known) < RARE_DOCUMENTS;
  // Russian forms are many, and seldom those of a word that is spelt in two ways.
  const spelt = vocabulary.spelt(RUSSIAN.test(word) ? [word] : forms, isRare);
  return eitherOf([formsClause(word, known, vocabulary), spelt.length === 0 ? undefined : phrasesClause(spelt)]);
}

const sumOf = (known: ReadonlyMap<string, number>): number =>
  [...known.values()].reduce((sum, count) => sum + count, 0);

function formsClause(word: string, known: ReadonlyMap<string, number>, vocabulary: Vocabulary): Clause | undefined {
  const documents = sumOf(known);
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
