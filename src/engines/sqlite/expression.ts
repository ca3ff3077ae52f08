import { LONGEST_WORD, RUSSIAN } from '../analysis/forms.ts';
import {
  indexedWords,
  isNgram,
  isNumber,
  onlyPieceOf,
  otherUnit,
  pairOf,
  runsOf,
  textsOf,
  type WordRun,
  writingsOf,
} from '../analysis/words.ts';

export interface Vocabulary {
  /** The forms that a word may have, the word itself first. */
  readonly formsOf: (word: string) => readonly string[];
  /** The members of `words` that occur in documents, with their number of documents. */
  readonly known: (words: readonly string[]) => ReadonlyMap<string, number>;
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
 * The readings of a query, each for the case that those before it found nothing. In the first all words must match, each
 * in any form that the catalogue has; a rare word also matches as a prefix ("ноут"). In the second neighbouring words are
 * also one word ("wi fi"), and an unknown word is two that stand together ("wifi" for "wi fi"). A reading that can match
 * nothing, or would be the first one again, is left out.
 *
 * Forms joined by OR would each be weighted by their own rarity, and a single "курьерам" would outrank every "курьер". So
 * the forms are scored together, by their common prefix, and `only` removes other words with that prefix ("кроссовер" for
 * "кроссовки"). The word as typed is scored once more, unless nearly all documents have it in this form.
 */
export function* readingsOf(text: string, vocabulary: Vocabulary): Generator<Expression, void, undefined> {
  const runs = runsOf(text);
  const glued = gluedWords(runs);
  readAhead(runs, glued, vocabulary);
  const read = (loose?: Loose): Expression | undefined => {
    const clauses: Clause[] = [];
    const seen = new Set<string>();
    for (let at = 0; at < runs.length; at += 1) {
      const [run, next] = [runs[at], runs[at + 1]];
      if (run === undefined) break;
      const pair = loose && joinedClause(run, next, vocabulary, loose);
      const name = text.slice(run.from, run.to);
      if (pair !== undefined) at += 1;
      else if (seen.has(name)) continue;
      seen.add(name);
      const clause =
        pair ?? eitherOf([runClause(run, vocabulary, loose), gluedClause(run, glued.get(run), vocabulary)]);
      if (clause === undefined) return undefined;
      clauses.push(clause);
    }
    const all = allOf(clauses);
    return all && { ...all, only: all.exact ? undefined : all.only };
  };
  const strict = read();
  if (strict !== undefined) yield strict;
  const loose = looseWords(runs, vocabulary);
  const second = loose.joined.size + loose.broken.size === 0 ? undefined : read(loose);
  if (second !== undefined) yield second;
}

/** Other words that a query may mean. */
interface Loose {
  /** Neighbouring words that the catalogue has as one. */
  readonly joined: ReadonlySet<string>;
  /** Unknown words, each with the phrases of two words that it is without a space. */
  readonly broken: ReadonlyMap<string, readonly string[]>;
}

function looseWords(runs: readonly WordRun[], vocabulary: Vocabulary): Loose {
  const words = wordsAlone(runs).filter((word) => !isNumber(word) && word.length <= LONGEST_WORD);
  const unknown = words.filter((word) => vocabulary.known([word]).size === 0);
  const breaks = unknown.map((word) => {
    const places = Array.from({ length: Math.max(0, word.length - 3) }, (_, at) => at + 2);
    return { word, halves: places.map((at) => [word.slice(0, at), word.slice(at)]) };
  });
  const pairs = pairsIn(runs);
  const known = vocabulary.known([...pairs, ...breaks.flatMap(({ halves }) => halves.flat())]);
  const isPhrase = (halves: readonly string[]): boolean =>
    halves.every((half) => known.has(half)) && vocabulary.matching(quoted(halves.join(' ')), 1) > 0;
  const broken = breaks.map(({ word, halves }) => {
    return [word, halves.filter(isPhrase).map((both) => both.join(' '))] as const;
  });
  return {
    joined: new Set(pairs.filter((pair) => known.has(pair))),
    broken: new Map(broken.filter(([, phrases]) => phrases.length > 0)),
  };
}

/** Each two neighbouring words of letters, as one. */
function pairsIn(runs: readonly WordRun[]): readonly string[] {
  return runs.flatMap((run, at) => pairOf(run, runs[at + 1])?.join('') ?? []);
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

/** Undefined when a clause is missing, or all are. */
function allOf(clauses: readonly (Clause | undefined)[]): Clause | undefined {
  return clauses.length > 0 && clauses.every((clause) => clause !== undefined) ? combined(clauses, ' AND ') : undefined;
}

/** Undefined when no clause is left. */
function eitherOf(clauses: readonly (Clause | undefined)[]): Clause | undefined {
  const left = clauses.filter((clause) => clause !== undefined);
  return left.length === 0 ? undefined : combined(left, ' OR ');
}

/** All parts of a run, or the run in one piece. An article is not asked for: l'eau is found by eau. */
function runClause(run: WordRun, vocabulary: Vocabulary, loose: Loose | undefined): Clause | undefined {
  const different = new Map(run.parts.map((part) => [textsOf(part.pieces).join(' '), part]));
  const parts = [...different]
    .filter(([, { isArticle }]) => !isArticle)
    .map(([words, { pieces }]) => {
      const broken = loose?.broken.get(words) ?? [];
      return eitherOf([piecesClause(textsOf(pieces), vocabulary), ...broken.map((phrase) => phrasesClause([phrase]))]);
    });
  const all = allOf(parts);
  const { joined } = run;
  // Documents with the run as it is typed are found by its parts.
  const typed = run.parts.flatMap(indexedWords).join(' ');
  return joined.length === 0 ? all : eitherOf([all, piecesClause(joined, vocabulary, typed)]);
}

/**
 * Letters and numbers that stand apart in the query and together in the catalogue, for each run that is a part of them:
 * `rtx4060ti` for `rtx`, `4060` and `ti`. A unit after a number is also looked for by its other sign, which joins in here.
 */
function gluedWords(runs: readonly WordRun[]): ReadonlyMap<WordRun, ReadonlySet<string>> {
  const words = new Map<WordRun, Set<string>>();
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
function gluedClause(run: WordRun, words: ReadonlySet<string> | undefined, vocabulary: Vocabulary): Clause | undefined {
  const found = [...vocabulary.known([...(words ?? [])]).keys()];
  if (found.length === 0) return undefined;
  // A highlight marks pieces.
  const own = run.parts.flatMap((part) => textsOf(part.pieces));
  return { ...phrasesClause(found), terms: [{ words: new Set([...found, ...own]), prefix: undefined }] };
}

/** The words of a query that are one piece each. */
function wordsAlone(runs: readonly WordRun[]): readonly string[] {
  return runs.flatMap(({ parts }) => parts.flatMap(({ pieces }) => (pieces.length === 1 ? textsOf(pieces) : [])));
}

/** Reads all words of a query at once, for the clauses that ask for them one by one. */
function readAhead(
  runs: readonly WordRun[],
  glued: ReadonlyMap<WordRun, ReadonlySet<string>>,
  vocabulary: Vocabulary,
): void {
  const alone = wordsAlone(runs);
  vocabulary.spelt(
    alone.flatMap((word) => speltForms(word, vocabulary)),
    true,
  );
  const joined = [...pairsIn(runs), ...[...glued.values()].flatMap((words) => [...words])];
  vocabulary.known([...joined, ...alone.flatMap(vocabulary.formsOf)]);
}

/** Words of a query that are looked for as one. */
const MAX_GLUED = 3;

function phrasesClause(phrases: readonly string[]): Clause {
  const score = anyOf(phrases.map(quoted));
  const words = new Set(phrases.flatMap((phrase) => phrase.split(' ')));
  return { score, only: score, exact: true, terms: [{ words, prefix: undefined }] };
}

/** Pieces that stand together, however the catalogue writes them. In few documents the last one is also a prefix. */
function piecesClause(pieces: readonly string[], vocabulary: Vocabulary, typed?: string): Clause | undefined {
  const [word = '', ...others] = pieces;
  if (others.length === 0) return wordClause(word, vocabulary, typed);
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

/** Two neighbouring words, or the one that the catalogue also has. Undefined when it has none. */
function joinedClause(
  first: WordRun,
  second: WordRun | undefined,
  vocabulary: Vocabulary,
  { joined }: Loose,
): Clause | undefined {
  const pair = pairOf(first, second);
  if (pair === undefined || !joined.has(pair.join(''))) return undefined;
  const apart = pair.map((word) => wordClause(word, vocabulary));
  return eitherOf([allOf(apart), wordClause(pair.join(''), vocabulary)]);
}

/** A word in fewer documents also matches as a prefix. */
const RARE_DOCUMENTS = 5;
const SHORTEST_PREFIX = 3;
/** From this share on the word as typed is not scored separately: that costs time and does not change the order. */
const USUAL_SHARE = 0.8;
/** Words read to find one that shares the prefix and is not a form; with more words there certainly is one. */
const PREFIX_LOOK = 100;

/** A word in its forms, and the phrases of documents that are also spelt as this word, but for the typed one. */
function wordClause(word: string, vocabulary: Vocabulary, typed?: string): Clause | undefined {
  const forms = vocabulary.formsOf(word);
  const known = vocabulary.known(forms);
  const isRare = sumOf(known) < RARE_DOCUMENTS;
  const spelt = vocabulary.spelt(speltForms(word, vocabulary), isRare).filter((phrase) => phrase !== typed);
  return eitherOf([formsClause(word, known, vocabulary), spelt.length === 0 ? undefined : phrasesClause(spelt)]);
}

/** Russian forms are many, and seldom those of a word that is spelt in two ways. */
function speltForms(word: string, vocabulary: Vocabulary): readonly string[] {
  return RUSSIAN.test(word) ? [word] : vocabulary.formsOf(word);
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
