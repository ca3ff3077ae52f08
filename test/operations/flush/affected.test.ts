import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { keyOf } from '../../../src/search/key.ts';
import { entryOf } from '../../fakes/entry.ts';
import { flushHarness, pagesOf } from './harness.ts';

test('a flush says how many pages it affects, in memory and in the store', async (t) => {
  const scene = flushHarness(t);
  const keys = scene.hold(200);
  const inRange = keys.filter(({ bucket }) => bucket < 2500).length;
  for (const mode of ['refresh', 'drop'] as const) {
    const { affected } = await scene.flush.flush({ mode, fraction: 0.25, from: 0 });
    assert.deepEqual(affected, { memory: inRange, store: { pages: inRange, exact: true } });
  }
  const { affected } = await scene.flush.flush({ mode: 'drop', fraction: 1 });
  assert.deepEqual(affected, { memory: 200, store: { pages: 200, exact: true } });
});

test('what an erasure removes from the store is left to the erasure to count', async (t) => {
  const scene = flushHarness(t);
  scene.hold(20);
  const { affected } = await scene.flush.flush({ mode: 'erase', fraction: 1 });
  assert.deepEqual(affected, { memory: 20, store: 'not-counted' });
});

test('a node that cannot be counted leaves the store uncounted, and the flush is done all the same', async (t) => {
  const scene = flushHarness(t);
  scene.hold(20);
  scene.content.refuse('b:1', 'b:1 is away');
  const { affected, after } = await scene.flush.flush({ mode: 'drop', fraction: 1 });
  assert.deepEqual(affected, { memory: 20, store: 'not-counted' });
  assert.equal(after.revision, 1);
});

test('a domain without a store has memory alone to count', async (t) => {
  const scene = flushHarness(t, { store: false });
  scene.hold(20);
  const { affected } = await scene.flush.flush({ mode: 'drop', fraction: 1 });
  assert.deepEqual(affected, { memory: 20, store: 'no-store' });
});

/** Pages of two queries, one of which begins like the other. */
function held(t: TestContext, holds?: (storeName: string) => Promise<boolean | undefined>) {
  const scene = flushHarness(t, holds === undefined ? { store: false } : { holds });
  for (const canonical of ['goods@p?q=a', 'goods@p?q=a&page=2', 'goods@p?q=a&sort=price', 'goods@p?q=ab']) {
    scene.memory.set(keyOf(canonical, 'goods').key, entryOf(scene.clock, { canonical }));
  }
  return scene;
}

test('a purge counts every page of its query in memory, and looks the first one up in the store', async (t) => {
  const asked: string[] = [];
  const scene = held(t, async (name) => {
    asked.push(name);
    return true;
  });
  const { affected } = await scene.flush.purge(pagesOf('a'));
  assert.deepEqual(affected, { memory: 3, firstInStore: 'held' });
  assert.deepEqual(asked, [keyOf('goods@p?q=a', 'goods').storeName]);
});

test('a page that was purged before is not counted again; one that was computed since is', async (t) => {
  const scene = held(t);
  const { after } = await scene.flush.purge(pagesOf('a'));
  assert.equal((await scene.flush.purge(pagesOf('a'))).affected.memory, 0);
  const canonical = 'goods@p?q=a';
  const generation = after.generation + 1;
  scene.memory.set(keyOf(canonical, 'goods').key, entryOf(scene.clock, { canonical, generation }));
  assert.equal((await scene.flush.purge(pagesOf('a'))).affected.memory, 1);
});

for (const [what, answer, firstInStore] of [
  ['that the store does not hold', async () => false, 'absent'],
  ['while the store does not answer', async () => undefined, 'unknown'],
  ['of a domain without a store', undefined, 'no-store'],
] as const) {
  test(`a purge of a query nobody asked, ${what}, finds nothing and says where it looked`, async (t) => {
    const { flush } = held(t, answer);
    assert.deepEqual((await flush.purge(pagesOf('b'))).affected, { memory: 0, firstInStore });
  });
}
