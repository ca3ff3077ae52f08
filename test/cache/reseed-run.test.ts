import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type BackfillRun, createBackfillRun } from '../../src/cache/backfill.ts';
import { unflushed } from '../../src/cache/invalidation.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { idle } from '../fakes/idle.ts';
import { nameOf } from './reseed-scene.ts';

function run(t: TestContext, { entries, node }: { entries: number; node: string }): BackfillRun {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const memory = createMemoryTier({ maxBytes: 1 << 28, emptyMaxBytes: 1 << 20 });
  const entry = entryOf(clock);
  for (let key = 0; key < entries; key += 1) memory.set(`${key}`, entry);
  return createBackfillRun({
    store: { locate: () => ({ node: 'a:1' }), seedMany: async (items) => items.map(() => ({ kind: 'stored' })) },
    memory,
    fleet: { live: () => 1, rank: () => 0 },
    rules: unflushed,
    nameOf,
    hottest: () => [],
    perSecond: 1,
    node,
    clock,
  });
}

test('a large L1 is walked in slices, though nothing in it is for the node', async (t) => {
  const { finished } = run(t, { entries: 20_000, node: 'b:1' });
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

test('told to stop it ends at once, also while it waits for its rate', async (t) => {
  const { finished, stop } = run(t, { entries: 10, node: 'a:1' });
  await idle();
  stop();
  assert.deepEqual(await finished, { stored: 1, kept: 0, dropped: 0, end: 'stopped' });
});

test('an entry of a generation that nobody has given out is not written back: a wiped store stays rid of it', async () => {
  const clock = createFakeClock();
  const memory = createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 });
  memory.set('1', entryOf(clock, { generation: 7 }));
  memory.set('2', entryOf(clock, { generation: 8 }));
  const seeded: string[] = [];
  const { finished } = createBackfillRun({
    store: {
      locate: () => ({ node: 'a:1' }),
      seedMany: async (items) => {
        seeded.push(...items.map(({ name }) => name));
        return items.map(() => ({ kind: 'stored' }));
      },
    },
    memory,
    fleet: { live: () => 1, rank: () => 0 },
    rules: { ...unflushed, generation: () => 7 },
    nameOf,
    hottest: () => [],
    perSecond: 100_000,
    node: 'a:1',
    clock,
  });
  await finished;
  assert.deepEqual(seeded, [nameOf('1').storeName]);
});
