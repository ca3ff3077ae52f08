import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import type { Document } from '../../../src/search/domain.ts';
import { ask } from '../../contract/engine-truth.ts';
import { indexOf, titled } from './harness.ts';

/** Ids in the order of relevance. */
async function found(context: TestContext, documents: readonly Document[], text: string): Promise<readonly string[]> {
  const index = await indexOf(context, documents);
  return index.search(ask(text, { limit: 100 })).results.map(({ id }) => id);
}

/** Enough documents that a word in them does not match as a prefix. */
const often = (title: string): string[] => Array.from({ length: 5 }, () => title);

it('a Russian noun is found in its other forms', async (context) => {
  for (const [asked, forms] of [
    ['кроссовки', ['кроссовок', 'кроссовками', 'кроссовка']],
    ['кроссовок', ['кроссовки', 'кроссовкам']],
    ['двушка', ['двушку', 'двушек', 'двушки']],
    ['курьера', ['курьер', 'курьеру', 'курьеров', 'курьером']],
    ['вакансия', ['вакансии', 'вакансий']],
    ['красная', ['красный', 'красного', 'красные']],
    ['продавец', ['продавца', 'продавцы']],
    ['дом', ['дома', 'домов']],
  ] as const) {
    const expected = [...often(asked), ...forms].map((_, index) => String(index + 1));
    const ids = await found(context, titled(...often(asked), ...forms), asked);
    assert.deepEqual(
      ids.toSorted((a, b) => Number(a) - Number(b)),
      expected,
      asked,
    );
  }
});

it('an English noun is found in singular and plural', async (context) => {
  for (const [asked, form] of [
    ['shoe', 'shoes'],
    ['shoes', 'shoe'],
    ['box', 'boxes'],
    ['boxes', 'box'],
    ['battery', 'batteries'],
    ['batteries', 'battery'],
  ] as const) {
    assert.equal((await found(context, titled(...often(asked), form), asked)).length, 6, asked);
  }
});

it('words that only share a beginning are not found', async (context) => {
  const shoes = titled(...often('кроссовки'), 'кроссовер', 'кросс');
  assert.deepEqual((await found(context, shoes, 'кроссовки')).toSorted(), ['1', '2', '3', '4', '5']);
  assert.equal((await found(context, titled(...often('car'), 'card', 'carpet', 'care'), 'car')).length, 5);
  assert.equal((await found(context, titled(...often('шины'), 'шиншилла'), 'шины')).length, 5);
});

it('a rare form does not outrank the word as typed', async (context) => {
  const filler = Array.from({ length: 200 }, (_, index) => `разное ${index}`);
  const documents = titled(...filler, ...Array.from({ length: 40 }, () => 'курьер срочно'), 'курьерам срочно');
  const ids = await found(context, documents, 'курьер');
  assert.equal(ids.length, 41);
  assert.equal(ids.at(-1), '241');
});

it('a rare word also matches as a prefix', async (context) => {
  const documents = titled('Ноутбук Lenovo', 'Ноутбуки', 'Ноут б/у', 'Нота', 'Книга о нотах');
  assert.deepEqual((await found(context, documents, 'ноут')).toSorted(), ['1', '2', '3']);
  assert.deepEqual((await found(context, documents, 'lenovo ноу')).toSorted(), ['1']);
});

it('a common word does not match as a prefix', async (context) => {
  assert.equal((await found(context, titled(...often('порт'), 'портфель'), 'порт')).length, 5);
});

it('a prefix has at least three letters', async (context) => {
  assert.deepEqual(await found(context, titled('Ноутбук'), 'но'), []);
});

it('the title outweighs the description', async (context) => {
  const documents = [
    { id: 'in-description', title: 'Чехол', description: 'для телефона, на телефон, от телефона', attributes: {} },
    { id: 'in-title', title: 'Телефон', description: 'с чехлом и прочим', attributes: {} },
  ];
  assert.deepEqual(await found(context, documents, 'телефон'), ['in-title', 'in-description']);
});

it('a query of very many words is answered', async (context) => {
  const many = Array.from({ length: 128 }, (_, index) =>
    String.fromCodePoint(0x430 + (index % 32)).repeat(1 + index / 32),
  );
  const documents = titled(many.join(' '), ...many);
  assert.deepEqual(await found(context, documents, many.join(' ')), ['1']);
});

it('texts that a filter cannot distinguish are one facet value, labelled with the first of them', async (context) => {
  const documents = titled('чайник', 'чайник', 'чайник').map((document, index) => ({
    ...document,
    attributes: { brand: ['Bosch', 'BOSCH', 'bosch '][index] ?? '' },
  }));
  const index = await indexOf(context, documents);
  const page = index.search(
    ask('чайник', { facets: ['brand'], filters: [{ kind: 'strings', attribute: 'brand', values: ['bosch'] }] }),
  );
  assert.equal(page.total, 3);
  assert.deepEqual(page.facets, { brand: [{ value: 'Bosch', count: 3 }] });
  assert.deepEqual(page.results.map(({ attributes }) => attributes['brand']).toSorted(), ['BOSCH', 'Bosch', 'bosch ']);
});
