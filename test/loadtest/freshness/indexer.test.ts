import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIndexer } from '../../../loadtest/freshness/indexer.ts';
import type { Change } from '../../../src/changes/change.ts';
import type { Document } from '../../../src/search/domain.ts';

const DOCUMENTS = Array.from(
  { length: 500 },
  (_, at): Document => ({
    id: String(at + 1),
    title: `велосипед ${at}`,
    description: 'складной',
    attributes: { city: 'Омск', price: 100 + at },
  }),
);

function harness() {
  const table = new Map(DOCUMENTS.map((document) => [document.id, document]));
  const sent: Change[] = [];
  const indexer = createIndexer({
    documents: DOCUMENTS,
    seed: 1,
    writer: {
      replaceDocuments: async (documents) => {
        for (const document of documents) table.set(document.id, document);
      },
      deleteDocuments: async (ids) => {
        for (const id of ids) table.delete(id);
      },
    },
    send: async (changes) => {
      for (const { id, op, attributes } of changes) {
        if (op === 'delete') assert.equal(table.has(id), false, 'the engine has it still');
        else assert.ok(!table.has(id) || attributes !== undefined);
      }
      sent.push(...changes);
    },
  });
  return { indexer, table, sent };
}

const MANY = 2000;

test('changes are prices, sales and arrivals as 6 : 2 : 2, and the engine has them before the feed', async () => {
  const { indexer, table, sent } = harness();
  for (let call = 0; call < 4; call += 1) await indexer.change(MANY / 4);
  const { price, sale, arrival } = indexer.counts;
  const all = price + sale + arrival;
  assert.equal(sent.length, all);
  assert.equal(all, MANY);
  for (const [count, share] of [
    [price, 0.6],
    [sale, 0.2],
    [arrival, 0.2],
  ] as const)
    assert.ok(Math.abs(count / all - share) < 0.05, `${count} of ${all}`);
  assert.equal(table.size, DOCUMENTS.length - sale + arrival);
  const sales = new Set(sent.filter(({ op }) => op === 'delete').map(({ id }) => id));
  assert.equal(sales.size, sale, 'a document is sold once');
  for (const id of sales) assert.equal(indexer.lastOf(id)?.op, 'delete');
  assert.ok(sent.every(({ op, was }) => op === 'upsert' || was === undefined));
});

test('a change of a price tells the price before', async () => {
  const { indexer, sent } = harness();
  const prices = new Map(DOCUMENTS.map(({ id, attributes }) => [id, attributes['price']]));
  for (let call = 0; call < 20; call += 1) await indexer.change(MANY / 20);
  for (const { id, was, attributes } of sent) {
    if (was !== undefined) assert.equal(was.attributes?.['price'], prices.get(id));
    if (attributes?.['price'] !== undefined) prices.set(id, attributes['price']);
  }
});

test('wanted documents are sold once', async () => {
  const { indexer, table } = harness();
  assert.equal(await indexer.sell(new Set(['3', '4', 'nobody knows it'])), 2);
  assert.equal(await indexer.sell(new Set(['4', '5'])), 1);
  assert.equal(table.size, DOCUMENTS.length - 3);
  assert.equal(indexer.lastOf('5')?.op, 'delete');
});

test('a sale beside running changes leaves the table as the feed tells it', async () => {
  const { indexer, table, sent } = harness();
  const running = indexer.change(MANY);
  await indexer.sell(new Set(DOCUMENTS.slice(0, 400).map(({ id }) => id)));
  await running;
  const told = new Map(DOCUMENTS.map(({ id }) => [id, true]));
  for (const { id, op } of sent) told.set(id, op !== 'delete');
  assert.deepEqual(new Set(table.keys()), new Set([...told].flatMap(([id, isThere]) => (isThere ? [id] : []))));
});
