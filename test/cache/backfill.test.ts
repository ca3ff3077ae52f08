import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBackfillRun } from '../../src/cache/backfill.ts';
import { type Entry, storedForMs } from '../../src/cache/entry.ts';
import type { SeedItem, SeedResult } from '../../src/cache/store.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { idle } from '../fakes/idle.ts';
import { harness, nameOf } from './harness.ts';

const untimed = (events: readonly { readonly kind: string }[]): unknown[] =>
  events.map((event) => {
    assert.ok('durationMs' in event && typeof event.durationMs === 'number' && event.durationMs >= 0);
    const { durationMs: _, ...rest } = event;
    return rest;
  });
const eventOf = (node: string, stored: number, kept = 0, dropped = 0): object => ({
  kind: 'backfill',
  domain: 'goods',
  node,
  stored,
  kept,
  dropped,
});

test('nothing is written to a store that has lost nothing, also when a part is seen for the first time', async (t) => {
  const { hold, pass, epochs, batches, events, backfill } = harness(t);
  for (let key = 0; key < 10; key += 1) hold(key);
  await pass(3000);
  epochs.delete('odd');
  await pass(3000);
  epochs.set('odd', { part: 'odd', node: 'b:1', epoch: 'one' });
  epochs.set('new', { part: 'new', node: 'c:1', epoch: 'one' });
  await pass(3000);
  assert.deepEqual([batches, events, backfill.running()], [[], [], false]);
});

test('a part that lost its data gets its entries of L1 back, with their remaining life, and one event', async (t) => {
  const { hold, pass, loseData, values, events, clock } = harness(t);
  const entry = hold(2);
  for (const key of [3, 4, 6]) hold(key);
  await pass(5000);
  loseData('even');
  await pass(3000);
  assert.deepEqual([...values.keys()].sort(), ['sc1:goods:{2}', 'sc1:goods:{4}', 'sc1:goods:{6}']);
  const seeded = values.get('sc1:goods:{2}');
  assert.equal(seeded?.value, entry.encoded);
  const left = storedForMs(entry, clock.monotonicMs());
  assert.ok(seeded !== undefined && seeded.ttlMs >= left && seeded.ttlMs <= left + 3000);
  assert.deepEqual(untimed(events), [eventOf('a:1', 3)]);
});

test('present entries are not overwritten', async (t) => {
  const { hold, pass, loseData, values, events } = harness(t);
  for (const key of [2, 4]) hold(key);
  await pass(1000);
  loseData('even');
  const newer = { name: 'sc1:goods:{2}', value: Buffer.from('newer'), ttlMs: 1 };
  values.set(newer.name, newer);
  await pass(2000);
  assert.equal(values.get(newer.name), newer);
  assert.deepEqual(untimed(events), [eventOf('a:1', 1, 1)]);
});

test('only fresh, whole, servable entries are written back', async (t) => {
  const refused = new Set([8]);
  const outdated = new Set([14]);
  const rules = {
    ...unflushed,
    judge: (_: unknown, { bucket }: { bucket: number }) =>
      refused.has(bucket) ? ('flushed' as const) : outdated.has(bucket) ? ('outdated' as const) : ('whole' as const),
  };
  const { hold, pass, loseData, values } = harness(t, { rules });
  hold(2);
  hold(4, { degraded: true });
  hold(6, { freshForMs: 2500 });
  hold(8);
  hold(10, { freshForMs: 500 });
  hold(12, { empty: true });
  hold(14);
  await pass(1000);
  loseData('even');
  await pass(3000);
  assert.deepEqual([...values.keys()].sort(), ['sc1:goods:{12}', 'sc1:goods:{2}']);
});

test('popular entries come first, then used ones, then the rest, each once', async (t) => {
  const hottest = ['6', '999', '2'];
  const { hold, memory, pass, loseData, batches } = harness(t, { hottest: () => hottest, perSecond: 20 });
  for (const key of [2, 4, 6, 8, 10, 12]) hold(key);
  memory.get('8');
  memory.get('6');
  await pass(1000);
  loseData('even');
  await pass(3000);
  assert.equal(batches.flat().join(' '), '6 2 8 12 10 4');
});

test('the number of writes per second is bounded, in batches of at most 128', async (t) => {
  for (const [perSecond, largest] of [
    [10, 1],
    [200, 10],
    [100_000, 128],
  ] as const) {
    await t.test(`${perSecond} a second`, async (t) => {
      const { loseEven, pass, batches } = harness(t, { perSecond });
      await loseEven(3000);
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

test('each process writes its own share first, then entries that only it may hold', async (t) => {
  for (const rank of [0, 1]) {
    await t.test(`rank ${rank}`, async (t) => {
      // Even keys 0, 4, 8 … fall to rank 0 of 4, the others to rank 2.
      const { hold, pass, loseData, batches } = harness(t, {
        fleet: { live: () => 4, rank: () => 2 * rank },
        hottest: () => ['6', '8'],
      });
      for (const key of [0, 2, 4, 6, 8, 10]) hold(key);
      await pass(1000);
      loseData('even');
      await pass(2000);
      assert.equal(batches.flat().join(' '), rank === 0 ? '8 4 0 6 10 2' : '6 10 2 8 4 0');
    });
  }
});

test('a fleet that changes during a run neither leaves out nor repeats a key', async (t) => {
  let [live, rank] = [3, 1];
  const { loseEven, pass, batches } = harness(t, {
    fleet: { live: () => live, rank: () => rank },
    perSecond: 100,
  });
  await loseEven(200);
  await pass(1300);
  assert.ok(batches.flat().length > 5 && batches.flat().length < 60);
  [live, rank] = [2, 0];
  await pass(3000);
  assert.equal(batches.flat().length, 100);
  assert.equal(new Set(batches.flat()).size, 100);
});

/** A run over the entries of L1, all of which belong to node `a:1`. */
function run(entries: readonly Entry[], given: Partial<Parameters<typeof createBackfillRun>[0]> = {}) {
  const memory = createMemoryTier({ maxBytes: 1 << 28, emptyMaxBytes: 1 << 20 });
  for (const [key, entry] of entries.entries()) memory.set(`${key}`, entry);
  const seeded: string[] = [];
  const seedMany = async (items: readonly SeedItem[]): Promise<SeedResult[]> => {
    seeded.push(...items.map(({ name }) => name));
    return items.map(() => ({ kind: 'stored' }));
  };
  const made = createBackfillRun({
    store: { locate: () => ({ node: 'a:1' }), seedMany },
    memory,
    fleet: { live: () => 1, rank: () => 0 },
    rules: unflushed,
    nameOf,
    hottest: () => [],
    perSecond: 1,
    node: 'a:1',
    clock: createFakeClock(),
    ...given,
  });
  return { ...made, seeded };
}
const same = (count: number): readonly Entry[] => Array(count).fill(entryOf(createFakeClock()));

test('a large L1 is iterated in slices, even when no entry belongs to the node', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { finished } = run(same(20_000), { node: 'b:1' });
  let turns = 0;
  let counting = true;
  const count = (): void => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  count();
  assert.deepEqual(await finished, { stored: 0, kept: 0, dropped: 0, end: 'done' });
  counting = false;
  assert.ok(turns >= 50, `${turns} turns of the event loop`);
});

test('stop() ends a run at once, also while it waits for its rate', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { finished, stop } = run(same(10));
  await idle();
  stop();
  assert.deepEqual(await finished, { stored: 1, kept: 0, dropped: 0, end: 'stopped' });
});

test('an entry with a generation above the current one is not written back: a wiped store stays clean', async () => {
  const entries = [7, 8].map((generation) => entryOf(createFakeClock(), { generation }));
  const rules = { ...unflushed, generation: () => 7 };
  const { finished, seeded } = run(entries, { rules, perSecond: 100_000 });
  await finished;
  assert.deepEqual(seeded, [nameOf('0').storeName]);
});
