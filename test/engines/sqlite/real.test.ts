import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { type OpenIndex, openIndex } from '../../../src/engines/sqlite/open-index.ts';
import { canonicalText } from '../../../src/search/canonical-text.ts';
import type { Document } from '../../../src/search/document.ts';
import type { AttributeType, SearchDomain } from '../../../src/search/domain.ts';
import { ask } from '../../contract/engine-truth.ts';
import { corpusLines } from '../../corpus.ts';

const TYPES: Readonly<Record<string, AttributeType>> = {
  brand: 'string',
  category: 'string',
  section: 'string',
  price: 'number',
  date: 'date',
  installedKiB: 'integer',
};
const DOMAIN: SearchDomain = {
  name: 'real',
  attributes: Object.entries(TYPES).map(([name, type]) => ({ name, type, facet: true, sort: true })),
  context: [],
  answerProfile: 'test',
};

describe('over 29 551 real documents, English goods and Russian packages', () => {
  let index: OpenIndex;
  let directory: string;
  let documents: readonly Document[];

  before(async () => {
    documents = [...rows('goods.ndjson.gz'), ...rows('packages-ru.ndjson.gz')];
    directory = await mkdtemp(join(tmpdir(), 'serpcache-sqlite-'));
    const file = join(directory, 'real.sqlite');
    await buildIndex({ file, domain: DOMAIN, documents, builtAtMs: 0 });
    index = openIndex({ file, domain: DOMAIN, snippetLength: 240 });
  });
  after(async () => {
    index?.close();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });

  /** Documents in which one of these words stands, found by reading all of them. */
  const having = (...words: string[]): readonly Document[] => {
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}\\p{M}])`, 'iu');
    return documents.filter(({ title, description }) => pattern.test(`${title} ${description}`));
  };

  it('all of them are in', () => {
    assert.equal(index.meta.documents, 29_551);
  });

  it('a search finds what reading all documents finds', () => {
    for (const [text, words] of [
      ['toner', ['toners?']],
      ['cables', ['cables?']],
      ['batteries', ['battery', 'batteries']],
      ['игры', ['игр(?:[аыуео]|ой|ою|ам|ами|ах)?']],
      ['сервер', ['сервер(?:[аоуеы]|ом|ов|ам|ами|ах)?']],
      ['c++', ['c\\+\\+']],
    ] as const) {
      const expected = having(...words);
      assert.ok(expected.length > 20);
      assert.equal(index.search(ask(text)).total, expected.length, text);
    }
  });

  it('facets count what reading all documents counts', () => {
    const page = index.search(ask('toner', { facets: ['brand'] }));
    const toners = having('toners?');
    for (const { value, count } of page.facets['brand'] ?? []) {
      const same = toners.filter(
        ({ attributes }) => canonicalText(String(attributes['brand'] ?? '')) === canonicalText(String(value)),
      );
      assert.equal(count, same.length, String(value));
    }
    assert.equal(page.facets['brand']?.length, 20);
  });

  it('sorting by price gives the cheapest of all first', () => {
    const sort = { by: 'attribute', attribute: 'price', descending: false } as const;
    const page = index.search(ask('toner', { sort }));
    const prices = having('toners?').flatMap(({ attributes }) => attributes['price'] ?? []);
    assert.deepEqual(
      page.results.map(({ attributes }) => attributes['price']),
      prices.sort((a, b) => Number(a) - Number(b)).slice(0, 20),
    );
  });

  it('every real query is answered, and its results hold what was asked', () => {
    const queries = corpusLines('queries-goods-real.tsv.gz')
      .slice(1)
      .map((line) => canonicalText(line.split('\t')[0] ?? ''));
    let answered = 0;
    for (const query of queries) {
      const page = index.search(ask(query, { facets: ['brand', 'category'], limit: 5 }));
      assert.equal(page.results.length, Math.min(5, page.total), query);
      if (page.total > 0) answered += 1;
    }
    assert.equal(queries.length, 905);
    assert.ok(answered > 400, `only ${answered} queries found anything`);
  });
});

function rows(name: string): readonly Document[] {
  return corpusLines(name).map((line) => {
    const { id, title, description, ...rest } = JSON.parse(line) as Record<string, string | number>;
    const attributes = Object.fromEntries(Object.entries(rest).filter(([attribute]) => attribute in TYPES));
    return { id: String(id), title: String(title), description: String(description ?? ''), attributes };
  });
}
