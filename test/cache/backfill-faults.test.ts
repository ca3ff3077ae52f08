import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreEpoch } from '../../src/cache/store.ts';
import { harness } from './harness.ts';

const DOWN = { kind: 'dropped', fault: 'node-open' } as const;

test('a node that refuses writes is left alone after a few batches, and gets the rest when it accepts them', async (t) => {
  const made = harness(t, { perSecond: 200 });
  await made.loseEven(1000);
  await made.pass(1500);
  const before = made.values.size;
  assert.ok(before > 10);
  made.fault = DOWN;
  await made.pass(300);
  assert.equal(made.backfill.running(), false);
  const asked = made.batches.length;
  await made.pass(500);
  assert.equal(made.batches.length, asked, 'it waits');
  made.fault = undefined;
  await made.pass(10_000);
  assert.equal(made.values.size, 500);
  const ends = made.events.map((event) => event.kind === 'backfill' && [event.stored, event.kept, event.dropped]);
  assert.deepEqual(ends, [
    [before, 0, 30],
    [500 - before, before, 0],
  ]);
});

test('one failed batch does not end a run', async (t) => {
  const made = harness(t, { perSecond: 200 });
  await made.loseEven(1000);
  await made.pass(1200);
  for (let hiccup = 0; hiccup < 6; hiccup += 1) {
    made.fault = { kind: 'dropped', fault: 'store-slow' };
    await made.pass(50);
    made.fault = undefined;
    await made.pass(50);
  }
  await made.pass(4000);
  const [event, ...others] = made.events;
  assert.ok(event?.kind === 'backfill' && others.length === 0);
  assert.ok(event.dropped >= 40 && event.stored === 500 - event.dropped, `${event.dropped} dropped`);
});

test('a node that answers but refuses every write is tried again at growing intervals, then given up', async (t) => {
  const made = harness(t, { perSecond: 20 });
  made.hold(2, { freshForMs: 3_600_000 });
  for (let key = 4; key < 20; key += 2) made.hold(key, { freshForMs: 3_600_000 });
  await made.pass(1000);
  made.fault = { kind: 'dropped', fault: 'refused' };
  made.loseData('even');
  await made.pass(10_000);
  assert.equal(made.events.length, 3);
  await made.pass(170_000);
  assert.equal(made.events.length, 7);
  assert.equal(made.batches.length, 21);
  made.fault = undefined;
  await made.pass(120_000);
  assert.equal(made.values.size, 0);
  made.loseData('even');
  await made.pass(3000);
  assert.equal(made.values.size, 9, 'a new loss starts a new run');
});

test('when a part loses its data again, its run starts again from the hottest entry', async (t) => {
  const made = harness(t, { perSecond: 20, hottest: () => ['2', '4'] });
  await made.loseEven(60);
  await made.pass(1300);
  const first = made.batches.flat();
  assert.ok(first.length > 2 && first.length < 15);
  made.loseData('even');
  await made.pass(900);
  assert.equal(made.events.length, 1);
  assert.equal(made.backfill.running(), true);
  await made.pass(4000);
  assert.equal(made.values.size, 30);
  const second = made.batches.flat().slice(made.batches.flat().lastIndexOf('2'));
  assert.deepEqual([second.length, second[1]], [30, '4']);
  assert.equal(made.events.length, 2);
  assert.equal(made.backfill.running(), false);
});

test('a part that fails over during a run gets every entry at its new node', async (t) => {
  const made = harness(t, { perSecond: 40 });
  await made.loseEven(200);
  await made.pass(1200);
  assert.ok(made.values.size > 5 && made.values.size < 60);
  // The names move to the new node before the part is seen there: until then the run finds no entries.
  made.moved = 'a2:1';
  await made.pass(100);
  assert.equal(made.backfill.running(), false);
  made.epochs.set('even', { part: 'even', node: 'a2:1', epoch: made.epochs.get('even')?.epoch ?? '' });
  await made.pass(5000);
  assert.equal(made.values.size, 100);
  assert.deepEqual(
    made.events.map((event) => event.kind === 'backfill' && event.node),
    ['a:1', 'a2:1'],
  );
});

test('two parts are written back concurrently, each with its event', async (t) => {
  const made = harness(t);
  for (let key = 0; key < 20; key += 1) made.hold(key);
  await made.pass(1000);
  made.loseData('even');
  made.loseData('odd');
  await made.pass(2000);
  assert.equal(made.values.size, 20);
  assert.equal(made.events.length, 2);
});

test('close() stops a run at once, and nothing is polled again', async (t) => {
  const made = harness(t, { perSecond: 20 });
  await made.loseEven(200);
  await made.pass(1500);
  assert.equal(made.backfill.running(), true);
  made.backfill.close();
  const asked = made.batches.length;
  await made.pass(5000);
  assert.deepEqual([made.batches.length, made.backfill.running(), made.events], [asked, false, []]);
});

test('close() during a poll ends the polling', async (t) => {
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
  const made = harness(t, { store });
  made.backfill.close();
  answer.resolve([]);
  await made.pass(5000);
  assert.equal(asked, 1);
});
