import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { otherUnit } from '../../../src/engines/analysis/words.ts';
import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { type OpenIndex, openIndex } from '../../../src/engines/sqlite/open-index.ts';
import { canonicalText } from '../../../src/search/canonical.ts';
import type { Document, SearchDomain } from '../../../src/search/domain.ts';
import { FACET_VALUES } from '../../../src/search/engine.ts';
import { ask } from '../../contract/engine-truth.ts';
import { type Corpus, type CorpusName, corpora, evenly, searchesOf } from '../../corpus.ts';
import { pluck } from '../../pluck.ts';

/** Enough documents for many word forms, many similar words, and more facet values than a page lists. */
const DOCUMENTS = 4000;
const SEARCHES = 400;

/** A search, and the forms of its word in these texts. */
type Forms = readonly (readonly [text: string, ...patterns: string[]])[];

const ENGLISH: Forms = [
  ['library', 'library', 'libraries'],
  ['libraries', 'library', 'libraries'],
  ['files', 'files?'],
  ['tool', 'tools?'],
  ['c++', 'c\\+\\+'],
];
const FORMS: Readonly<Record<CorpusName, Forms>> = {
  'demo goods': [
    ['состояния', 'состояни(?:[еяию]|ем|й|ям|ями|ях)'],
    ['книги', 'книг(?:[аиеу]|ой|ам|ами|ах)?'],
    ['игра', 'игр(?:[аыуе]|ой|ам|ами|ах)?'],
    ['зеленая', 'зелен(?:ый|ая|ое|ые|ого|ому|ую|ой|ым|ых|ыми)'],
    ['iphone', 'iphones?'],
  ],
  'packages of this machine': ENGLISH,
  'corpora: goods': [
    ['toner', 'toners?'],
    ['cables', 'cables?'],
    ['batteries', 'battery', 'batteries'],
    ['box', 'box', 'boxes'],
  ],
  'corpora: packages': ENGLISH,
  'corpora: Russian packages': [
    ['игры', 'игр(?:[аыуео]|ой|ою|ам|ами|ах)?'],
    ['сервер', 'сервер(?:[аоуеы]|ом|ов|ам|ами|ах)?'],
    ['c++', 'c\\+\\+'],
  ],
};

for (const corpus of corpora()) {
  describe(`over ${corpus.name}`, () => {
    let index: OpenIndex;
    let directory: string;
    let documents: readonly Document[];
    const domain = domainOf(corpus);
    const [facet, sorted] = corpus.kind === 'goods' ? ['brand', 'price'] : ['section', 'installedKiB'];
    const [[text = '', ...patterns] = []] = FORMS[corpus.name];

    before(async () => {
      documents = evenly(await corpus.documents(), DOCUMENTS);
      directory = await mkdtemp(join(tmpdir(), 'serpcache-sqlite-'));
      const file = join(directory, 'real.sqlite');
      await buildIndex({ file, domain, documents, builtAtMs: 0 });
      index = openIndex({ file, domain, snippetLength: 240 });
    });
    after(async () => {
      index?.close();
      if (directory !== undefined) await rm(directory, { recursive: true });
    });

    it('the index has all documents', () => {
      assert.ok(documents.length > 0);
      assert.equal(index.meta.documents, documents.length);
    });

    it('a search finds what reading all documents finds', () => {
      for (const [asked, ...forms] of FORMS[corpus.name]) {
        const expected = matching(documents, ...forms);
        assert.ok(expected.length >= RARE_DOCUMENTS, `${asked} stands in ${expected.length} documents only`);
        assert.equal(index.search(ask(asked)).total, expected.length, asked);
      }
    });

    it('facets count what reading all documents counts', () => {
      const counts = new Map<string, number>();
      for (const { attributes } of matching(documents, ...patterns)) {
        const value = canonicalText(String(attributes[facet] ?? ''));
        if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
      }
      const listed = index.search(ask(text, { facets: [facet] })).facets[facet] ?? [];
      for (const { value, count } of listed) assert.equal(count, counts.get(canonicalText(String(value))), `${value}`);
      const most = [...counts.values()].sort((a, b) => b - a).slice(0, FACET_VALUES);
      assert.deepEqual(pluck(listed, 'count'), most);
      assert.ok(most.length > 1);
    });

    it('sorting puts the lowest value first', () => {
      const sort = { by: 'attribute', attribute: sorted, descending: false } as const;
      const page = index.search(ask(text, { sort }));
      const values = matching(documents, ...patterns).flatMap(({ attributes }) => attributes[sorted] ?? []);
      assert.deepEqual(
        page.results.map(({ attributes }) => attributes[sorted]),
        values.sort((a, b) => Number(a) - Number(b)).slice(0, 20),
      );
    });

    it('every search is answered, and its results contain the words', async () => {
      const reading = readAll(documents);
      const promise = promiseOf(reading);
      const made = [...searchesOf(documents, SEARCHES), ...(await corpus.searches())];
      const searches = new Set(made.map((search) => canonicalText(search)));
      let empty = 0;
      for (const search of searches) {
        const words = [...new Set(wordsIn(search))];
        const page = index.search(ask(search, { limit: 10 }));
        assert.equal(page.results.length, Math.min(10, page.total), search);
        const least = reading.holdingAll(words).length;
        assert.ok(page.total >= least, `${search}: ${page.total} found, ${least} hold it as typed`);
        if (page.total === 0) empty += 1;
        for (const { id, title } of page.results) {
          const document = documents[positionOf(id)];
          assert.ok(document !== undefined && document.title === title, id);
          const held = wordsIn(textOf(document)).flatMap((word) => [word, ...(word.match(/\p{L}+|\p{N}+/gu) ?? [])]);
          // In other spellings a word is part of a longer one, two words, or the other sign of a unit.
          const letters = wordsIn(textOf(document)).join('');
          for (const word of words) {
            const spellings = [...singulars(word), otherUnit(word) ?? word];
            const isHeld = held.some(promise(word)) || spellings.some((each) => letters.includes(each));
            assert.ok(isHeld, `${search}: ${id} does not hold ${word}`);
          }
        }
      }
      assert.ok(searches.size > Math.min(SEARCHES, documents.length) / 2, `only ${searches.size} searches`);
      assert.ok(empty > 0 && empty < searches.size / 2, `${empty} of ${searches.size} found nothing`);
    });

    const positions = new Map<string, number>();
    const positionOf = (id: string): number => {
      if (positions.size === 0) for (const [at, document] of documents.entries()) positions.set(document.id, at);
      return positions.get(id) ?? -1;
    };
  });
}

function domainOf({ attributes }: Corpus): SearchDomain {
  return { name: 'real', attributes, context: [], answerProfile: 'test' };
}

/** A rare word occurs in fewer documents; it also matches as a prefix. */
const RARE_DOCUMENTS = 5;

/** The engine's promise: each result contains the word, another form of it, or, if it is rare, a word that begins with it. */
function promiseOf({ words }: Reading): (asked: string) => (held: string) => boolean {
  return (asked) => {
    const isRare = (words.get(asked)?.length ?? 0) < RARE_DOCUMENTS;
    return (held) => held === asked || isFormOf(held, asked) || (isRare && held.startsWith(asked));
  };
}

/** English plurals; in Russian two words that differ by an ending. */
function isFormOf(one: string, other: string): boolean {
  if (/^[a-z]+$/.test(`${one}${other}`)) return singulars(one).some((singular) => singulars(other).includes(singular));
  if (!/^[а-я]+$/.test(`${one}${other}`)) return false;
  let shared = 0;
  while (shared < one.length && one[shared] === other[shared]) shared += 1;
  const ending = /^[аеиоуыьюяйгмхвкц]{0,4}$/;
  return shared >= 3 && ending.test(one.slice(shared)) && ending.test(other.slice(shared));
}

function singulars(word: string): readonly string[] {
  return [word, word.replace(/s$/, ''), word.replace(/es$/, ''), word.replace(/ies$/, 'y')];
}

/** The words of documents, found by reading all of them: the slow and obvious way to know the correct result of a search. */
interface Reading {
  /** Each word, folded, with the positions of the documents that contain it. */
  readonly words: ReadonlyMap<string, readonly number[]>;
  /** Positions of the documents that contain all these words as written. */
  readonly holdingAll: (words: readonly string[]) => readonly number[];
}

function readAll(documents: readonly Document[]): Reading {
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
function matching(documents: readonly Document[], ...patterns: readonly string[]): readonly Document[] {
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])(?:${patterns.join('|')})(?![\\p{L}\\p{N}\\p{M}])`, 'u');
  return documents.filter((document) => whole.test(folded(textOf(document))));
}

/** The words of a text: runs of letters and digits, and names like c++ and c#. */
function wordsIn(text: string): readonly string[] {
  return folded(text).match(/(?<![\p{L}\p{N}])[a-z](?:\+\+|#)(?![\p{L}\p{N}])|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
}

function textOf({ title, description }: Document): string {
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
