import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { keyOf } from '../../../src/search/key.ts';
import { entryOf } from '../../fakes/entry.ts';
import { flushHarness, pagesOf } from './harness.ts';

test('a flush says how many pages it affects, in memory and in the store', async (t) => {
  const harness = flushHarness(t);
  const keys = harness.hold(200);
  const inRange = keys.filter(({ bucket }) => bucket < 2500).length;
  for (const mode of ['refresh', 'drop'] as const) {
    const { affected } = await harness.flush.flush({ mode, fraction: 0.25, from: 0 });
    assert.deepEqual(affected, { memory: inRange, store: { pages: inRange, exact: true } });
  }
  const { affected } = await harness.flush.flush({ mode: 'drop', fraction: 1 });
  assert.deepEqual(affected, { memory: 200, store: { pages: 200, exact: true } });
});

test('a flush that erases does not count the store; the erasure does', async (t) => {
  const harness = flushHarness(t);
  harness.hold(20);
  const { affected } = await harness.flush.flush({ mode: 'erase', fraction: 1 });
  assert.deepEqual(affected, { memory: 20, store: 'not-counted' });
});

test('when a node cannot be counted, the store is not counted, and the flush is done', async (t) => {
  const harness = flushHarness(t);
  harness.hold(20);
  harness.content.refuse('b:1', 'b:1 is away');
  const { affected, after } = await harness.flush.flush({ mode: 'drop', fraction: 1 });
  assert.deepEqual(affected, { memory: 20, store: 'not-counted' });
  assert.equal(after.revision, 1);
});

test('for a domain without a store only memory is counted', async (t) => {
  const harness = flushHarness(t, { store: false });
  harness.hold(20);
  const { affected } = await harness.flush.flush({ mode: 'drop', fraction: 1 });
  assert.deepEqual(affected, { memory: 20, store: 'no-store' });
});

/** Pages of two queries; the text of one is a prefix of the other. */
function held(t: TestContext, holds?: (storeName: string) => Promise<boolean | undefined>) {
  const harness = flushHarness(t, holds === undefined ? { store: false } : { holds });
  for (const canonical of ['goods@p?q=a', 'goods@p?q=a&page=2', 'goods@p?q=a&sort=price', 'goods@p?q=ab']) {
    harness.memory.set(keyOf(canonical, 'goods').key, entryOf(harness.clock, { canonical }));
  }
  return harness;
}

test('a purge counts every page of its query in memory, and looks the first one up in the store', async (t) => {
  const asked: string[] = [];
  const harness = held(t, async (name) => {
    asked.push(name);
    return true;
  });
  const { affected } = await harness.flush.purge(pagesOf('a'));
  assert.deepEqual(affected, { memory: 3, firstInStore: 'held' });
  assert.deepEqual(asked, [keyOf('goods@p?q=a', 'goods').storeName]);
});

test('a page that was purged before is not counted again; a page that was computed since then is', async (t) => {
  const harness = held(t);
  const { after } = await harness.flush.purge(pagesOf('a'));
  assert.equal((await harness.flush.purge(pagesOf('a'))).affected.memory, 0);
  const canonical = 'goods@p?q=a';
  const generation = after.generation + 1;
  harness.memory.set(keyOf(canonical, 'goods').key, entryOf(harness.clock, { canonical, generation }));
  assert.equal((await harness.flush.purge(pagesOf('a'))).affected.memory, 1);
});

for (const [what, answer, firstInStore] of [
  ['that the store does not hold', async () => false, 'absent'],
  ['while the store does not answer', async () => undefined, 'unknown'],
  ['of a domain without a store', undefined, 'no-store'],
] as const) {
  test(`a purge of an unknown query, ${what}, finds nothing and says where it looked`, async (t) => {
    const { flush } = held(t, answer);
    assert.deepEqual((await flush.purge(pagesOf('b'))).affected, { memory: 0, firstInStore });
  });
}
