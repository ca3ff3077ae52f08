import type { Document } from '../../src/search/domain.ts';

/** The words of documents, found by reading all of them: the slow and obvious way to know the correct result of a search. */
export interface Reading {
  /** Each word, folded, with the positions of the documents that contain it. */
  readonly words: ReadonlyMap<string, readonly number[]>;
  /** Positions of the documents that contain all these words as written. */
  readonly holdingAll: (words: readonly string[]) => readonly number[];
}

export function readAll(documents: readonly Document[]): Reading {
  const words = new Map<string, number[]>();
  for (const [position, document] of documents.entries()) {
    for (const word of new Set(wordsIn(textOf(document)))) {
      const positions = words.get(word);
      if (positions === undefined) words.set(word, [position]);
      else positions.push(position);
    }
  }
  const holdingAll = (asked: readonly string[]): readonly number[] => {
    const lists = asked.map((word) => words.get(word) ?? []).sort((a, b) => a.length - b.length);
    const [shortest = [], ...others] = lists;
    const sets = others.map((list) => new Set(list));
    return shortest.filter((position) => sets.every((set) => set.has(position)));
  };
  return { words, holdingAll };
}

/** Documents with a word that matches one of these patterns as a whole. */
export function matching(documents: readonly Document[], ...patterns: readonly string[]): readonly Document[] {
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])(?:${patterns.join('|')})(?![\\p{L}\\p{N}\\p{M}])`, 'u');
  return documents.filter((document) => whole.test(folded(textOf(document))));
}

/** The words of a text: runs of letters and digits, and names like c++ and c#. */
export function wordsIn(text: string): readonly string[] {
  return folded(text).match(/(?<![\p{L}\p{N}])[a-z](?:\+\+|#)(?![\p{L}\p{N}])|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
}

export function textOf({ title, description }: Document): string {
  return `${title} ${description}`;
}

/** Case, ё, accents and compatibility forms do not change a word; the breve of й does. */
function folded(text: string): string {
  if (/^[\t\n -~А-яЁё]*$/.test(text)) return text.toLowerCase().replaceAll('ё', 'е');
  return text
    .replace(/[™℠№]/g, ' ')
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('ё', 'е')
    .normalize('NFD')
    .replace(/[\u0300-\u0305\u0307-\u036f]/g, '')
    .normalize('NFC');
}
