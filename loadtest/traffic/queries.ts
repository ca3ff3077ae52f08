import { canonicalText } from '../../src/search/canonical.ts';
import type { Document } from '../../src/search/domain.ts';

/** Searches of a load: repeated ones, by rank, and searches that are sent once. */
export interface Queries {
  readonly repeated: readonly string[];
  /** The nth search that is sent once: two words of the catalogue, a new pair each time. */
  readonly once: (n: number) => string;
}

/** Words and neighbouring words of titles, in the order of the documents: the same catalogue gives the same searches. */
export function queriesOf(documents: Iterable<Document>, count: number): Queries {
  const repeated = new Set<string>();
  const words = new Set<string>();
  for (const { title } of documents) {
    const own = canonicalText(title).match(/[\p{L}\d]{3,}/gu) ?? [];
    for (const [at, word] of own.entries()) {
      words.add(word);
      const next = own[at + 1];
      if (repeated.size < count && next !== undefined) repeated.add(`${word} ${next}`);
    }
    if (repeated.size >= count && words.size >= ONCE_WORDS) break;
  }
  if (repeated.size < count) throw new Error(`the catalogue gives ${repeated.size} searches, ${count} are wanted`);
  const list = [...words];
  return {
    repeated: [...repeated],
    once: (n) => {
      // Neighbours in this list are neighbours in titles, which are repeated searches.
      const round = FAR + Math.floor(n / list.length);
      return `${list[n % list.length]} ${list[(n + round) % list.length]}`;
    },
  };
}

const ONCE_WORDS = 400;
const FAR = 29;
