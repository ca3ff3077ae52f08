import { canonicalText } from '../../../src/search/canonical.ts';
import { createZipf } from '../../traffic/zipf.ts';
import { type Env, numberOf } from './environment.ts';
import { decoded, type Query } from './query-file.ts';

/** How often each search of a file is asked, and the share of searches that are not in the file. */
export interface Mix {
  /** Zipf–Mandelbrot: the frequency of line r of the file, from 0, is proportional to 1 / (r + 1 + offset)^exponent. */
  readonly exponent: number;
  readonly offset: number;
  /**
   * Share of all searches, 0–1, that are asked once in this run. Exact if either all lines of the file name their
   * domain or none does.
   */
  readonly onceShare: number;
  /** A whole number below 2^32. Absent: each run draws its own, so that it finds nothing of an earlier run in the cache. */
  readonly seed?: number;
  /** Some of the repeated searches ask for the second or third page. */
  readonly pages: boolean;
}

/**
 * The repetition of searches in published query logs. The head of a site's log is steep enough for a hit ratio of 90 %; in
 * a general log half of the searches are asked once (44 % singletons: Baeza-Yates et al., SIGIR 2007).
 */
export const SITE_MIX: Mix = { exponent: 1.04, offset: 10, onceShare: 0.05, pages: true };
export const LONG_TAIL_MIX: Mix = { exponent: 0.9, offset: 10, onceShare: 0.45, pages: true };

const MAX_SEED = 2 ** 32 - 1;

/**
 * The defaults of a script, replaced by EXPONENT, OFFSET, ONCE_SHARE and SEED.
 * @throws Error that names the variable and what is allowed.
 */
export function readMix(env: Env, defaults: Mix): Mix {
  const seed = env['SEED'] ? numberOf(env, 'SEED', [0, MAX_SEED]) : defaults.seed;
  if (seed !== undefined && !Number.isInteger(seed)) {
    throw new Error(`SEED: "${seed}" is not allowed; a whole number from 0 to ${MAX_SEED} is`);
  }
  return {
    exponent: numberOf(env, 'EXPONENT', [0.1, 3], defaults.exponent),
    offset: numberOf(env, 'OFFSET', [0, 1000], defaults.offset),
    onceShare: numberOf(env, 'ONCE_SHARE', [0, 1], defaults.onceShare),
    seed,
    pages: defaults.pages,
  };
}

export interface Ask {
  readonly domain?: string;
  readonly q: string;
  readonly page: number;
  /** An encoded part of a query string; often empty. */
  readonly parameters: string;
  readonly once: boolean;
  /** Its line in the file, from 0; absent in a once-only search. */
  readonly rank?: number;
}

export interface AskerOptions {
  readonly queries: readonly Query[];
  readonly mix: Mix & { readonly seed: number };
  /**
   * The result of `onceWordsOf(queries)`. Absent: computed here. k6 scripts pass a shared array, like the queries: it takes
   * one pass over the whole file, 0.1 s for 5000 lines, and otherwise each virtual user would compute its own.
   */
  readonly words?: readonly OnceWords[];
}

/**
 * Two searchers in three look at the first page only, and one in eight at the second; the others go deeper, which is the
 * third page here. The source is secondary and gives 64 % and 12 % of people; the share of requests is lower.
 */
const SECOND_PAGE = 0.12;
const THIRD_PAGE = 0.06;

/**
 * Search n of a run: a pure function of the file, the mix and n, the same for every virtual user.
 * @throws Error if once-only searches are wanted and the file has too few words for them.
 */
export function createAsker({ queries, mix, words }: AskerOptions): (n: number) => Ask {
  const { seed, onceShare } = mix;
  const rankOf = createZipf({ size: queries.length, exponent: mix.exponent, offset: mix.offset });
  const onceOf = new Map<string | undefined, (n: number) => string>();
  if (onceShare > 0) {
    for (const list of words ?? onceWordsOf(queries)) onceOf.set(list.domain, createOnce(list, seed));
  }

  return (n) => {
    const next = numbersOf(seed, n);
    const once = next() < onceShare;
    const deep = mix.pages ? next() : 1;
    const rank = rankOf(next);
    const query = queries[rank];
    if (query === undefined) throw new Error(`the query file has no line ${rank}`);
    const { domain } = query;
    // A once-only search takes the domain of the drawn line, so domains have the same share among both kinds.
    if (once) return { domain, q: onceOf.get(domain)?.(n) ?? '', page: 1, parameters: '', once };
    const page = deep < SECOND_PAGE ? 2 : deep < SECOND_PAGE + THIRD_PAGE ? 3 : 1;
    return { domain, q: query.text, page, parameters: query.parameters, once, rank };
  };
}

export function targetOf({ domain, q, page, parameters }: Ask): string {
  const named = domain === undefined ? '' : `domain=${encodeURIComponent(domain)}&`;
  const paged = page === 1 ? '' : `&page=${page}`;
  return `/search?${named}q=${encodeURIComponent(q)}${paged}${parameters === '' ? '' : `&${parameters}`}`;
}

/** The item of a search in the body of `/msearch`: repeated parameters become lists. */
export function itemOf(ask: Pick<Ask, 'domain' | 'q' | 'page' | 'parameters'>): Readonly<Record<string, unknown>> {
  const { domain, q, page, parameters } = ask;
  const item: Record<string, unknown> = { q, domain, page: page === 1 ? undefined : page };
  for (const pair of parameters === '' ? [] : parameters.split('&')) {
    const equals = pair.indexOf('=');
    const name = decoded(pair.slice(0, equals));
    const value = decoded(pair.slice(equals + 1));
    const before = item[name];
    item[name] = before === undefined ? value : [before, value].flat();
  }
  return item;
}

/** The words of a domain, from which its once-only searches are made. Plain JSON. */
export interface OnceWords {
  readonly domain?: string;
  readonly words: readonly string[];
}

/** Four million pairs, and 20 KB of JSON. */
const MAX_WORDS = 2000;
/** With fewer words, large n would give long texts. */
const MIN_WORDS = 10;

/**
 * Lower-case letters of any script. Not \p{L}, which the interpreter of k6 reads as the letter p (grafana/sobek#18).
 */
const WORD = /[a-z\u00df-\u00f6\u00f8-\u1fff\u2c00-\u2dff\u3040-\ud7ff]{3,20}/g;

/** The first words of each domain in file order, normalized as in the service. One pass over the file. */
export function onceWordsOf(queries: readonly Query[]): readonly OnceWords[] {
  const byDomain = new Map<string | undefined, Set<string>>();
  for (const { domain, text } of queries) {
    const words = byDomain.get(domain) ?? new Set();
    byDomain.set(domain, words);
    if (words.size === MAX_WORDS) continue;
    for (const word of canonicalText(text).match(WORD) ?? []) if (words.size < MAX_WORDS) words.add(word);
  }
  return [...byDomain].map(([domain, words]) => ({ domain, words: [...words] }));
}

/**
 * The nth once-only search: two words of the list. n is unique in a run, so virtual users need no shared counter. For n
 * below 2^32:
 *
 * - No two n give the same text. All pairs come once before a pair repeats (2000 words: four million), and a repeated
 *   pair gets a third word that it did not have before.
 * - The two words are neither equal nor neighbours in the list, because neighbours came from one search. A pair can still
 *   equal a search of the file by chance (4 to 8 of 10,000 in two files of real words).
 * - n and n + 1 are far apart: consecutive searches share no word.
 *
 * Another seed begins at another pair of the same cycle: two runs share pairs only where their parts of it overlap.
 *
 * @throws Error if there are too few words.
 */
export function createOnce({ domain, words }: OnceWords, seed: number): (n: number) => string {
  const count = words.length;
  if (count < MIN_WORDS) {
    const where = domain === undefined ? 'the lines without a domain' : `the domain ${domain}`;
    throw new Error(
      `searches asked once are made of the words of the query file, and ${where} has ${count} of three letters or more; ` +
        `give it ${MIN_WORDS}, or set ONCE_SHARE to 0`,
    );
  }
  const gaps = count - 3;
  const pairs = count * gaps;
  const start = Math.floor(numbersOf(seed, 0)() * pairs);
  // A step of the golden ratio spreads any interval of n over the whole cycle; a coprime step reaches every pair.
  let step = Math.floor(pairs * 0.6180339887);
  while (commonDivisor(step, pairs) !== 1) step += 1;

  return (n) => {
    const pair = (start + (n % pairs) * step) % pairs;
    const first = Math.floor(pair / gaps);
    const second = (first + 2 + (pair % gaps)) % count;
    let asked = `${words[first]} ${words[second]}`;
    for (let lap = Math.floor(n / pairs); lap > 0; lap = Math.floor(lap / count)) asked += ` ${words[lap % count]}`;
    return asked;
  };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/**
 * Random numbers for n: uniform, 0 ≤ x < 1, of 32 bits, the same in every process and for every order of n. No state is
 * kept between two n, so virtual users get the same numbers without sharing anything. Meant for a few draws per n. Both
 * arguments are whole numbers below 2^32.
 *
 * The first state is hashed with a 32-bit finaliser (the form of MurmurHash3's, with the multipliers of C. Wellons' search
 * for low-bias hashes); without it neighbouring n would be one step apart. The next states come from a linear congruential
 * generator (Numerical Recipes' "quick and dirty" one): three draws take 3 µs in the interpreter of k6, and 6 µs if each
 * draw is hashed.
 */
export function numbersOf(seed: number, n: number): () => number {
  // A step of the golden ratio keeps the intervals of different seeds apart.
  let word = (n + Math.imul(seed, 0x9e3779b9)) | 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  let state = word ^ (word >>> 15);
  return () => {
    state = Math.imul(state, 1664525) + 1013904223;
    return (state >>> 0) / 4294967296;
  };
}
