import { createZipf } from '../../traffic/zipf.ts';
import { numbersOf } from './numbers.ts';
import { createOnce, type OnceWords, onceWordsOf } from './once.ts';
import type { Query } from './query-file.ts';
import { numberOf } from './setting.ts';

/** How often the searches of a file are asked, and how many searches are none of them. */
export interface Mix {
  /** Of Zipf–Mandelbrot: line r of the file, from 0, comes in proportion to 1 / (r + 1 + offset)^exponent. */
  readonly exponent: number;
  readonly offset: number;
  /** 0–1, of all searches: asked once in this run, where all lines of the file name their domain or none does. */
  readonly onceShare: number;
  /** A whole number below 2^32. Absent: whoever starts the run draws one, so that nothing is left of the run before. */
  readonly seed?: number;
  /** Some of the repeated searches ask for the second or third page. */
  readonly pages: boolean;
}

/** One search, ready to be sent. */
export interface Ask {
  readonly domain?: string;
  readonly q: string;
  readonly page: number;
  /** A part of a query string, encoded; often empty. */
  readonly parameters: string;
  readonly once: boolean;
  /** Its line in the file, from 0; absent when it is asked once. */
  readonly rank?: number;
}

export interface AskerOptions {
  readonly queries: readonly Query[];
  readonly mix: Mix & { readonly seed: number };
  /** Asked where a line names no domain; absent: the service's own default. */
  readonly defaultDomain?: string;
  /**
   * What `onceWordsOf(queries)` gives. Absent: made here. In k6 it belongs into a shared array, as the queries do: it takes a
   * pass over the whole file, 0.1 s for 5000 lines, and each virtual user would make its own.
   */
  readonly words?: readonly OnceWords[];
}

/**
 * Two searchers in three look at the first page alone, one in eight at the second; the rest goes deeper, of which this
 * takes the third page. A secondary source gives 64 % and 12 %, of people; of requests, fewer are deep.
 */
const SECOND_PAGE = 0.12;
const THIRD_PAGE = 0.06;

/**
 * Search n of a run: a pure function of the file, the mix and n, the same whichever virtual user sends it.
 * @throws Error when searches asked once are wanted and the file has too few words for them.
 */
export function createAsker({ queries, mix, defaultDomain, words }: AskerOptions): (n: number) => Ask {
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
    const domain = query.domain ?? defaultDomain;
    const where = domain === undefined ? {} : { domain };
    // Domains have the same share among both kinds: the line that would have been asked says which.
    if (once) return { ...where, q: onceOf.get(query.domain)?.(n) ?? '', page: 1, parameters: '', once };
    const page = deep < SECOND_PAGE ? 2 : deep < SECOND_PAGE + THIRD_PAGE ? 3 : 1;
    return { ...where, q: query.text, page, parameters: query.parameters, once, rank };
  };
}

/** Path and query string. */
export function targetOf({ domain, q, page, parameters }: Ask): string {
  const named = domain === undefined ? '' : `domain=${encodeURIComponent(domain)}&`;
  const paged = page === 1 ? '' : `&page=${page}`;
  return `/search?${named}q=${encodeURIComponent(q)}${paged}${parameters === '' ? '' : `&${parameters}`}`;
}

/**
 * EXPONENT, OFFSET, ONCE_SHARE and SEED over the defaults of a script.
 * @throws Error that names the variable and what is allowed.
 */
export function readMix(env: Readonly<Record<string, string | undefined>>, defaults: Mix): Mix {
  const seed = env['SEED'] ? numberOf(env, 'SEED', [0, MAX_SEED]) : defaults.seed;
  if (seed !== undefined && !Number.isInteger(seed)) {
    throw new Error(`SEED: "${seed}" is not allowed; a whole number from 0 to ${MAX_SEED} is`);
  }
  return {
    exponent: numberOf(env, 'EXPONENT', [0.1, 3], defaults.exponent),
    offset: numberOf(env, 'OFFSET', [0, 1000], defaults.offset),
    onceShare: numberOf(env, 'ONCE_SHARE', [0, 1], defaults.onceShare),
    ...(seed === undefined ? {} : { seed }),
    pages: defaults.pages,
  };
}

const MAX_SEED = 2 ** 32 - 1;
