import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '../../../src/changes/change.ts';
import { createFeed, type FeedLine } from '../../../src/operations/feed/feed.ts';
import type { Attribute, Document } from '../../../src/search/domain.ts';
import type { DocumentUpdate, IndexChange } from '../../../src/search/engine.ts';

const ATTRIBUTES: readonly Attribute[] = [
  { name: 'city', type: 'string', facet: true, sort: false },
  { name: 'price', type: 'integer', facet: false, sort: true },
];

/** A feed over an index in memory. `failing`: the next call of that part fails. */
function feedHarness(held: readonly Document[] = []) {
  const index = new Map(held.map((document) => [document.id, document]));
  const published: Change[] = [];
  const updates: (readonly DocumentUpdate[])[] = [];
  let failing: 'update' | 'publish' | undefined;
  let replaced = 0;
  const failOnce = (part: typeof failing): void => {
    if (failing !== part) return;
    failing = undefined;
    throw new Error(`${part} failed`);
  };
  const apply = ({ id, document: after }: DocumentUpdate): IndexChange => {
    if (after?.title === 'bad') return { id, fault: 'title: it is bad' };
    const before = index.get(id);
    index.delete(id);
    if (after !== undefined) index.set(id, after);
    return { id, before, after };
  };
  const feed = createFeed({
    domain: 'goods',
    attributes: ATTRIBUTES,
    changes: {
      publish: async (changes) => {
        failOnce('publish');
        published.push(...changes);
      },
      indexReplaced: () => {
        replaced += 1;
      },
    },
    update: async (given) => {
      updates.push(given);
      failOnce('update');
      return given.map(apply);
    },
  });
  return {
    send: (...lines: readonly (string | object)[]) => feed.documents(linesOf(lines)),
    change: (...lines: readonly object[]) => feed.changes(linesOf(lines)),
    published,
    updates,
    fail: (part: 'update' | 'publish'): void => {
      failing = part;
    },
    replaced: () => replaced,
  };
}

async function* linesOf(lines: readonly (string | object)[]): AsyncGenerator<FeedLine> {
  for (const [at, line] of lines.entries()) {
    yield { line: at + 1, bytes: Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)) };
  }
}

const TENT: Document = {
  id: '1',
  title: 'Палатка',
  description: 'на двоих',
  attributes: { city: 'Казань', price: 100 },
};

test('the feed gets each document as it was and as it is, with an empty list where it has no value', async () => {
  const { send, published } = feedHarness([TENT, { ...TENT, id: '2' }, { ...TENT, id: '3' }]);
  const { attributes, ...texts } = TENT;
  const { taken } = await send(
    { ...texts, attributes: { ...attributes, price: 90 } },
    { ...texts, id: '2', title: 'Шатёр', city: 'Казань' },
    { id: '3', op: 'delete' },
    { ...texts, id: '4' },
    { id: 5, op: 'delete' },
  );
  assert.equal(taken, 5);
  const [text, city] = ['Палатка на двоих', 'Казань'];
  assert.deepEqual(JSON.parse(JSON.stringify(published)), [
    { id: '1', op: 'upsert', text, attributes: { city, price: 90 }, was: { text, attributes: { city, price: 100 } } },
    {
      id: '2',
      op: 'upsert',
      text: 'Шатёр на двоих',
      attributes: { city, price: [] },
      was: { text, attributes: { city, price: 100 } },
    },
    { id: '3', op: 'delete', text, attributes: { city, price: 100 } },
    { id: '4', op: 'upsert', text, attributes: { city: [], price: [] } },
    { id: '5', op: 'delete' },
  ]);
});

test('an index gets the documents in the order of their lines, and several lines with one id are all taken', async () => {
  const { send, updates } = feedHarness();
  const answer = await send(
    TENT,
    { id: '1', op: 'delete' },
    { ...TENT, title: 'Тент' },
    { ...TENT, id: '2' },
    { id: '2', op: 'delete' },
  );
  assert.deepEqual([answer.taken, answer.refusedCount], [5, 0]);
  assert.deepEqual(
    updates[0]?.map(({ id, document }) => [id, document?.title]),
    [
      ['1', 'Палатка'],
      ['1', undefined],
      ['1', 'Тент'],
      ['2', 'Палатка'],
      ['2', undefined],
    ],
  );
});

test('documents with a fault are answered by line, those that the index refuses too, and the others are taken', async () => {
  const { send, published } = feedHarness();
  const { attributes: _, ...texts } = TENT;
  const answer = await send(
    { ...texts, id: '2', title: 'bad' },
    { ...texts, price: 'dear' },
    'nonsense',
    { id: '3' },
    { ...texts, id: '4', op: 'move' },
    { ...texts, id: '5', attributes: 7 },
    { ...texts, id: '6', city: 'x'.repeat(300) },
    { op: 'delete' },
  );
  assert.deepEqual([answer.taken, answer.refusedCount, answer.cut], [1, 7, 1]);
  assert.deepEqual(
    answer.refused.map(({ line, detail }) => `${line} ${detail.split(/[:;]/)[0]}`),
    ['1 title', '2 price', '3 not JSON', '4 title', '5 op', '6 attributes', '8 id'],
  );
  assert.deepEqual(
    published.map(({ id }) => id),
    ['6'],
  );
});

test('a number that JavaScript would change is read as it is written', async () => {
  const { send, updates } = feedHarness();
  await send('{"id":12345678901234567890,"title":"Тент"}');
  assert.equal(updates[0]?.[0]?.document?.id, '12345678901234567890');
});

test('after an update that failed the feed says that its documents may have changed', async () => {
  const { send, published, fail, replaced } = feedHarness([TENT]);
  fail('update');
  await assert.rejects(send({ ...TENT, title: 'Тент' }, { id: '2', op: 'delete' }), /update failed/);
  assert.deepEqual(
    published.map(({ id, op, was }) => [id, op, was]),
    [
      ['1', 'upsert', undefined],
      ['2', 'delete', undefined],
    ],
  );
  assert.equal(replaced(), 0);
});

test('where the feed does not take them, older pages count as changed, and the next call tells the old values first', async () => {
  const { send, published, fail, replaced } = feedHarness([TENT, { ...TENT, id: '2' }]);
  fail('publish');
  const lines = [
    { ...TENT, title: 'Тент' },
    { id: '2', op: 'delete' },
  ];
  await assert.rejects(send(...lines), /publish failed/);
  assert.equal(replaced(), 1);
  await send(...lines);
  assert.deepEqual(
    published.map(({ id, text, was }) => [id, text, was?.text]),
    [
      ['1', 'Тент на двоих', 'Палатка на двоих'],
      ['2', 'Палатка на двоих', undefined],
      ['1', 'Тент на двоих', undefined],
      ['2', undefined, undefined],
    ],
  );
});

test('changes that the feed did not take come before those of a call of changes, and are told once', async () => {
  const { send, change, published, fail } = feedHarness([TENT]);
  fail('publish');
  await assert.rejects(send({ id: '1', op: 'delete' }), /publish failed/);
  await change({ id: '2' });
  await change({ id: '3' });
  assert.deepEqual(
    published.map(({ id, text }) => [id, text]),
    [
      ['1', 'Палатка на двоих'],
      ['2', undefined],
      ['3', undefined],
    ],
  );
});

test('while the feed takes nothing, a second call does not change the index, and older pages are kept', async () => {
  const { send, updates, published, fail, replaced } = feedHarness([TENT]);
  fail('publish');
  await assert.rejects(send({ id: '1', op: 'delete' }), /publish failed/);
  fail('publish');
  await assert.rejects(send({ ...TENT, id: '2' }), /publish failed/);
  assert.deepEqual([updates.length, published.length, replaced()], [1, 0, 1]);
});

test('without an index that takes documents, or without a feed, a call is refused', async () => {
  const base = { domain: 'goods', attributes: ATTRIBUTES, changes: undefined, update: undefined };
  await assert.rejects(createFeed(base).documents(linesOf([TENT])), { code: 'no-live-documents' });
  await assert.rejects(createFeed({ ...base, update: async () => [] }).documents(linesOf([TENT])), { code: 'no-feed' });
});
