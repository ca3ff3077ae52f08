import type { Random } from '../../src/catalogue/demo/ad.ts';
import { canonicalText } from '../../src/search/canonical.ts';
import type { Attribute, Document, SearchDomain } from '../../src/search/domain.ts';

/** Parameters for a search, as an encoded part of a query string; empty where the domain declares nothing that fits. */
export type ParameterChoice = (text: string, random: Random) => string;

/** How people narrow a search down, by weight: most pick a value of a facet. */
const KINDS = [
  { kind: 'filter', weight: 5 },
  { kind: 'facet', weight: 3 },
  { kind: 'sort', weight: 3 },
  { kind: 'filter and sort', weight: 2 },
  { kind: 'range', weight: 2 },
  { kind: 'plain', weight: 1 },
] as const;

/** Filters take values of a document that has words of the search in its title, so that something is found. */
export function parameterChoiceOf(domain: SearchDomain, documents: readonly Document[]): ParameterChoice {
  const byWord = wordIndex(documents);
  const strings = domain.attributes.filter(({ type, facet }) => facet && type === 'string');
  const numbers = domain.attributes.filter(({ type }) => type !== 'string');
  const facets = domain.attributes.filter(({ facet }) => facet);
  const sorts = domain.attributes.filter(({ sort }) => sort);

  return (text, random) => {
    const found = likeliest(text, byWord);
    const filter = (among: readonly Attribute[]): string => {
      const known = among.filter(({ name }) => found?.attributes[name] !== undefined);
      if (found === undefined || known.length === 0) return '';
      const attribute = random.pick(known);
      return `filter=${attribute.name}:${valueText(attribute, found.attributes[attribute.name] ?? '')}`;
    };
    const sort = (): string =>
      sorts.length === 0 ? '' : `sort=${random.chance(0.5) ? '-' : ''}${random.pick(sorts).name}`;
    const facet = (): string => (facets.length === 0 ? '' : `facet=${random.pick(facets).name}`);

    const { kind } = random.weighted(KINDS);
    switch (kind) {
      case 'filter':
        return filter(strings);
      case 'filter and sort':
        return [filter(strings), sort()].filter((part) => part !== '').join('&');
      case 'range':
        return filter(numbers);
      case 'facet':
        return facet();
      case 'sort':
        return sort();
      case 'plain':
        return 'highlight=false';
    }
  };
}

/** A few documents a word are enough to find one that has several. */
const MAX_PER_WORD = 32;

type WordIndex = ReadonlyMap<string, readonly Document[]>;

function wordIndex(documents: readonly Document[]): WordIndex {
  const byWord = new Map<string, Document[]>();
  for (const document of documents) {
    for (const word of wordsOf(document.title)) {
      const known = byWord.get(word);
      if (known === undefined) byWord.set(word, [document]);
      else if (known.length < MAX_PER_WORD) known.push(document);
    }
  }
  return byWord;
}

function likeliest(text: string, byWord: WordIndex): Document | undefined {
  const hits = new Map<Document, number>();
  for (const word of wordsOf(text)) {
    for (const document of byWord.get(word) ?? []) hits.set(document, (hits.get(document) ?? 0) + 1);
  }
  let best: Document | undefined;
  for (const [document, count] of hits) if (count > (best === undefined ? 0 : (hits.get(best) ?? 0))) best = document;
  return best;
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(canonicalText(text).match(/[\p{L}\d]+/gu) ?? []);
}

/** A value, a number as an upper bound, a date as a lower one; as parseFilter reads it, and encoded. */
function valueText({ type }: Attribute, value: string | number): string {
  if (type === 'string') return encodeURIComponent(String(value).replace(/[\\,]/g, '\\$&'));
  return type === 'date' ? `${value}..` : `..${value}`;
}
