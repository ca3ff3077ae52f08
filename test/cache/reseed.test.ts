import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedForMs } from '../../src/cache/entry.ts';
import { unflushed } from '../../src/cache/invalidation.ts';
import { scene } from './reseed-scene.ts';

const reseeds = (events: readonly { readonly kind: string }[]): unknown[] =>
  events.map((event) => {
    assert.ok('durationMs' in event && typeof event.durationMs === 'number' && event.durationMs >= 0);
    const { durationMs: _, ...rest } = event;
    return rest;
  });
const told = (node: string, stored: number, kept = 0, dropped = 0): object => ({
  kind: 'reseed',
  domain: 'goods',
  node,
  stored,
  kept,
  dropped,
});

test('a store that has lost nothing is written nothing, also when a part is seen for the first time', async (t) => {
  const { hold, pass, epochs, batches, events, reseeder } = scene(t);
  for (let key = 0; key < 10; key += 1) hold(key);
  await pass(3000);
  epochs.delete('odd');
  await pass(3000);
  epochs.set('odd', { part: 'odd', node: 'b:1', epoch: 'one' });
  epochs.set('new', { part: 'new', node: 'c:1', epoch: 'one' });
  await pass(3000);
  assert.deepEqual([batches, events, reseeder.running()], [[], [], false]);
});

test('a part that lost its data gets back what L1 holds for it, with the life that is left, and is told of once', async (t) => {
  const { hold, pass, lose, values, events, clock } = scene(t);
  const entry = hold(2);
  for (const key of [3, 4, 6]) hold(key);
  await pass(5000);
  lose('even');
  await pass(3000);
  assert.deepEqual([...values.keys()].sort(), ['sc1:goods:{2}', 'sc1:goods:{4}', 'sc1:goods:{6}']);
  const seeded = values.get('sc1:goods:{2}');
  assert.equal(seeded?.value, entry.encoded);
  const left = storedForMs(entry, clock.monotonicMs());
  assert.ok(seeded !== undefined && seeded.ttlMs >= left && seeded.ttlMs <= left + 3000);
  assert.deepEqual(reseeds(events), [told('a:1', 3)]);
});

test('what is there already stays', async (t) => {
  const { hold, pass, lose, values, events } = scene(t);
  for (const key of [2, 4]) hold(key);
  await pass(1000);
  lose('even');
  const newer = { name: 'sc1:goods:{2}', value: Buffer.from('newer'), ttlMs: 1 };
  values.set(newer.name, newer);
  await pass(2000);
  assert.equal(values.get(newer.name), newer);
  assert.deepEqual(reseeds(events), [told('a:1', 1, 1)]);
});

test('only fresh, whole entries that may be served are given back', async (t) => {
  const refused = new Set([8]);
  const outdated = new Set([14]);
  const rules = {
    ...unflushed,
    judge: (_: unknown, { bucket }: { bucket: number }) =>
      refused.has(bucket) ? ('flushed' as const) : outdated.has(bucket) ? ('outdated' as const) : ('whole' as const),
  };
  const { hold, pass, lose, values } = scene(t, { rules });
  hold(2);
  hold(4, { degraded: true });
  hold(6, { freshForMs: 2500 });
  hold(8);
  hold(10, { freshForMs: 500 });
  hold(12, { empty: true });
  hold(14);
  await pass(1000);
  lose('even');
  await pass(3000);
  assert.deepEqual([...values.keys()].sort(), ['sc1:goods:{12}', 'sc1:goods:{2}']);
});

test('the popular come first, then what was used, then the rest, each once', async (t) => {
  const hottest = ['6', '999', '2'];
  const { hold, memory, pass, lose, batches } = scene(t, { hottest: () => hottest, perSecond: 20 });
  for (const key of [2, 4, 6, 8, 10, 12]) hold(key);
  memory.get('8');
  memory.get('6');
  await pass(1000);
  lose('even');
  await pass(3000);
  assert.equal(batches.flat().join(' '), '6 2 8 12 10 4');
});

test('no more is written a second than allowed, in batches no larger than 128', async (t) => {
  for (const [perSecond, largest] of [
    [10, 1],
    [200, 10],
    [100_000, 128],
  ] as const) {
    await t.test(`${perSecond} a second`, async (t) => {
      const { hold, pass, lose, batches } = scene(t, { perSecond });
      for (let key = 0; key < 3000; key += 2) hold(key);
      await pass(1000);
      lose('even');
      await pass(1000);
      const before = batches.flat().length;
      await pass(3000);
      const written = batches.flat().length - before;
      assert.ok(written <= 3 * perSecond + largest, `${written} in 3 s`);
      assert.ok(written >= Math.min(1500 - before, 3 * perSecond - largest), `${written} in 3 s`);
      assert.equal(Math.max(...batches.map(({ length }) => length)), largest);
    });
  }
});

test('each process writes its own share first, then what only it may hold', async (t) => {
  for (const rank of [0, 1]) {
    await t.test(`rank ${rank}`, async (t) => {
      // Even keys 0, 4, 8 … fall to rank 0 of 4, the others to rank 2.
      const { hold, pass, lose, batches } = scene(t, {
        fleet: { live: () => 4, rank: () => 2 * rank },
        hottest: () => ['6', '8'],
      });
      for (const key of [0, 2, 4, 6, 8, 10]) hold(key);
      await pass(1000);
      lose('even');
      await pass(2000);
      assert.equal(batches.flat().join(' '), rank === 0 ? '8 4 0 6 10 2' : '6 10 2 8 4 0');
    });
  }
});

test('a fleet that changes under a run leaves no key out and names none twice', async (t) => {
  let [live, rank] = [3, 1];
  const { hold, pass, lose, batches } = scene(t, { fleet: { live: () => live, rank: () => rank }, perSecond: 100 });
  for (let key = 0; key < 200; key += 2) hold(key);
  await pass(1000);
  lose('even');
  await pass(1300);
  assert.ok(batches.flat().length > 5 && batches.flat().length < 60);
  [live, rank] = [2, 0];
  await pass(3000);
  assert.equal(batches.flat().length, 100);
  assert.equal(new Set(batches.flat()).size, 100);
});
