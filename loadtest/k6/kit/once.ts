import { canonicalText } from '../../../src/search/canonical.ts';
import { numbersOf } from './numbers.ts';
import type { Query } from './query-file.ts';

/** What the searches of a domain that are asked once are made of. Plain JSON. */
export interface OnceWords {
  readonly domain?: string;
  readonly words: readonly string[];
}

/** Four million pairs, and 20 KB of JSON. */
const MAX_WORDS = 2000;
/** Fewer would make long texts of large n. */
const MIN_WORDS = 10;

/** Letters of any script, lower case. Not \p{L}: k6's interpreter takes that for the letter p (grafana/sobek#18). */
const WORD = /[a-z\u00df-\u00f6\u00f8-\u1fff\u2c00-\u2dff\u3040-\ud7ff]{3,20}/g;

/** The first words of each domain, in the order they are met, as the service would write them. One pass, once a run. */
export function onceWordsOf(queries: readonly Query[]): readonly OnceWords[] {
  const byDomain = new Map<string | undefined, Set<string>>();
  for (const { domain, text } of queries) {
    const words = byDomain.get(domain) ?? new Set();
    byDomain.set(domain, words);
    if (words.size === MAX_WORDS) continue;
    for (const word of canonicalText(text).match(WORD) ?? []) if (words.size < MAX_WORDS) words.add(word);
  }
  return [...byDomain].map(([domain, words]) => ({
    ...(domain === undefined ? {} : { domain }),
    words: [...words],
  }));
}

/**
 * The nth search nobody asked before: two words of the list. n is unique in a run, so that it needs no counter that
 * virtual users would have to share. What holds, for n below 2^32:
 *
 * - two n never give the same text. All pairs come once before any comes again (2000 words: four million), and when it
 *   does, it has a third word that it did not have before;
 * - the words are neither the same nor neighbours in the list, which were neighbours in a search. A pair may still be a
 *   search of the file by chance (4 to 8 of 10,000 in two files of real words);
 * - n and n + 1 are far apart: no word is asked for in a row.
 *
 * Another seed begins elsewhere in the same circle: two runs share pairs only as far as their stretches of it overlap.
 *
 * @throws Error when there are too few words.
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
  // Golden steps spread any stretch of n over the whole circle; coprime ones reach all of it.
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
