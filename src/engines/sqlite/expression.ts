import { formsOf } from './forms.ts';
import { wordsOf } from './words.ts';

/** What the index knows of its own words. */
export interface Vocabulary {
  /** Those of `words` that stand in some document, with how many documents they stand in. */
  readonly known: (words: readonly string[]) => ReadonlyMap<string, number>;
  /** Words that begin with `prefix`, at most `limit`. */
  readonly beginningWith: (prefix: string, limit: number) => readonly string[];
}

/** A query as FTS5 takes it. */
export interface Expression {
  /** Finds every matching document and ranks it. */
  readonly score: string;
  /** Where `score` finds too much: the matching documents are those that match this as well. */
  readonly only: string | undefined;
  /** Each of the query's words as it may stand in a matching document: what highlights mark. */
  readonly terms: readonly Term[];
}

export interface Term {
  readonly words: ReadonlySet<string>;
  /** Set where the word is taken for the beginning of others. */
  readonly prefix: string | undefined;
}

/**
 * All words must match, each in any form that the catalogue knows. A word that hardly any document knows is taken for
 * the beginning of one as well ("ноут"). Undefined when nothing can match.
 *
 * Forms ORed together would each be weighed by their own rarity, and a single "курьерам" would outrank every
 * "курьер". So the forms are ranked as one: by the prefix they share, while `only` keeps the prefix from finding
 * what is no form of the word ("кроссовер" for "кроссовки"). The word as typed counts once more, unless nearly all
 * documents write it so.
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

/** Words in fewer documents than this are taken for beginnings, too. */
const RARE_DOCUMENTS = 5;
const SHORTEST_PREFIX = 3;
/** The share of documents from which on the word as typed is not scored by itself: that costs, and orders nothing. */
const USUAL_SHARE = 0.8;
/** How far to look for words that share a prefix without being forms; past it there surely are some. */
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
  const isTelling = asTyped > 0 && asTyped < USUAL_SHARE * documents;
  const score = anyOf([`${quoted(prefix)}*`, ...(isTelling ? [quoted(word)] : [])]);
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

/** A word holds no quote, so quoting needs no escape; it keeps AND, OR and NEAR words. */
const quoted = (word: string): string => `"${word}"`;
const anyOf = (parts: readonly string[]): string => (parts.length === 1 ? parts.join('') : `(${parts.join(' OR ')})`);
const conjunction = (parts: readonly string[]): string => parts.join(' AND ');
