import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreEpoch } from '../../src/cache/store.ts';
import { scene } from './reseed-scene.ts';

const DOWN = { kind: 'dropped', fault: 'node-open' } as const;

test('a node that takes nothing is left alone after a few batches, and given the rest when it takes it', async (t) => {
  const made = scene(t, { perSecond: 200 });
  for (let key = 0; key < 1000; key += 2) made.hold(key);
  await made.pass(1000);
  made.lose('even');
  await made.pass(1500);
  const before = made.values.size;
  assert.ok(before > 10);
  made.fault = DOWN;
  await made.pass(300);
  assert.equal(made.reseeder.running(), false);
  const asked = made.batches.length;
  await made.pass(500);
  assert.equal(made.batches.length, asked, 'it waits');
  made.fault = undefined;
  await made.pass(10_000);
  assert.equal(made.values.size, 500);
  const ends = made.events.map((event) => event.kind === 'reseed' && [event.stored, event.kept, event.dropped]);
  assert.deepEqual(ends, [
    [before, 0, 30],
    [500 - before, before, 0],
  ]);
});

test('one batch that is lost ends nothing', async (t) => {
  const made = scene(t, { perSecond: 200 });
  for (let key = 0; key < 1000; key += 2) made.hold(key);
  await made.pass(1000);
  made.lose('even');
  await made.pass(1200);
  for (let hiccup = 0; hiccup < 6; hiccup += 1) {
    made.fault = { kind: 'dropped', fault: 'store-slow' };
    await made.pass(50);
    made.fault = undefined;
    await made.pass(50);
  }
  await made.pass(4000);
  const [event, ...others] = made.events;
  assert.ok(event?.kind === 'reseed' && others.length === 0);
  assert.ok(event.dropped >= 40 && event.stored === 500 - event.dropped, `${event.dropped} dropped`);
});

test('a node that answers and refuses every write is tried again ever more seldom, and given up', async (t) => {
  const made = scene(t, { perSecond: 20 });
  made.hold(2, { freshForMs: 3_600_000 });
  for (let key = 4; key < 20; key += 2) made.hold(key, { freshForMs: 3_600_000 });
  await made.pass(1000);
  made.fault = { kind: 'dropped', fault: 'refused' };
  made.lose('even');
  await made.pass(10_000);
  assert.equal(made.events.length, 3);
  await made.pass(170_000);
  assert.equal(made.events.length, 7);
  assert.equal(made.batches.length, 21);
  made.fault = undefined;
  await made.pass(120_000);
  assert.equal(made.values.size, 0);
  made.lose('even');
  await made.pass(3000);
  assert.equal(made.values.size, 9, 'another loss is another matter');
});

test('a part that loses its data again is begun anew, from the hottest', async (t) => {
  const made = scene(t, { perSecond: 20, hottest: () => ['2', '4'] });
  for (let key = 0; key < 60; key += 2) made.hold(key);
  await made.pass(1000);
  made.lose('even');
  await made.pass(1300);
  const first = made.batches.flat();
  assert.ok(first.length > 2 && first.length < 15);
  made.lose('even');
  await made.pass(900);
  assert.equal(made.events.length, 1);
  assert.equal(made.reseeder.running(), true);
  await made.pass(4000);
  assert.equal(made.values.size, 30);
  const second = made.batches.flat().slice(made.batches.flat().lastIndexOf('2'));
  assert.deepEqual([second.length, second[1]], [30, '4']);
  assert.equal(made.events.length, 2);
  assert.equal(made.reseeder.running(), false);
});

test('a part that fails over under a run is given everything at its new node', async (t) => {
  const made = scene(t, { perSecond: 40 });
  for (let key = 0; key < 200; key += 2) made.hold(key);
  await made.pass(1000);
  made.lose('even');
  await made.pass(1200);
  assert.ok(made.values.size > 5 && made.values.size < 60);
  // Names are found at the new node before the part is seen there: meanwhile the run finds nothing left to do.
  made.moved = 'a2:1';
  await made.pass(100);
  assert.equal(made.reseeder.running(), false);
  made.epochs.set('even', { part: 'even', node: 'a2:1', epoch: made.epochs.get('even')?.epoch ?? '' });
  await made.pass(5000);
  assert.equal(made.values.size, 100);
  assert.deepEqual(
    made.events.map((event) => event.kind === 'reseed' && event.node),
    ['a:1', 'a2:1'],
  );
});

test('two parts are given back side by side, each told of', async (t) => {
  const made = scene(t);
  for (let key = 0; key < 20; key += 1) made.hold(key);
  await made.pass(1000);
  made.lose('even');
  made.lose('odd');
  await made.pass(2000);
  assert.equal(made.values.size, 20);
  assert.equal(made.events.length, 2);
});

test('closed, it stops at once and asks no more', async (t) => {
  const made = scene(t, { perSecond: 20 });
  for (let key = 0; key < 200; key += 2) made.hold(key);
  await made.pass(1000);
  made.lose('even');
  await made.pass(1500);
  assert.equal(made.reseeder.running(), true);
  made.reseeder.close();
  const asked = made.batches.length;
  await made.pass(5000);
  assert.deepEqual([made.batches.length, made.reseeder.running(), made.events], [asked, false, []]);
});

test('closed while it asks, it does not ask again', async (t) => {
  const answer = Promise.withResolvers<StoreEpoch[]>();
  let asked = 0;
  const store = {
    epochs: () => {
      asked += 1;
      return answer.promise;
    },
    seedMany: async () => [],
    locate: () => ({}),
  };
  const made = scene(t, { store });
  made.reseeder.close();
  answer.resolve([]);
  await made.pass(5000);
  assert.equal(asked, 1);
});
