import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deadEngine, stampede } from '../../../../loadtest/labs/peers/losing.ts';
import { purgeEach } from '../../../../loadtest/labs/peers/replicas.ts';
import { fakePeer } from '../../../fakes/peer.ts';
import { withHarness } from './measure-harness.ts';

const PLAN = {
  engineDelayMs: 200,
  hot: { path: '/search?q=hot', requests: 12 },
  many: { paths: ['/search?q=a', '/search?q=b', '/search?q=c'], requestsEach: 6 },
};

// Each test has its own peers and engine, and waits for pages to expire.
describe('peers that lose their pages or their engine', { concurrency: 3 }, () => {
  test('a peer that coalesces in the process asks the engine once for each replica', async () => {
    await withHarness(async ({ lab, backend, start }) => {
      const { hot, many } = await stampede(
        lab,
        backend,
        await start(fakePeer({ coalesces: true }), { count: 3 }),
        PLAN,
      );
      assert.equal(hot.queriesPerKey, 3);
      assert.equal(many.queriesPerKey, 3);
      assert.equal(hot.failedShare, 0);
      assert.ok((hot.p50Ms ?? 0) >= 195, `${hot.p50Ms} ms`);
      assert.equal(backend.delayMs(), 0);
    });
  });

  test('a peer that does not coalesce asks the engine for every request', async () => {
    await withHarness(async ({ lab, backend, start }) => {
      const { hot, many } = await stampede(lab, backend, await start(fakePeer(), { count: 2 }), PLAN);
      assert.equal(hot.queriesPerKey, 12);
      assert.equal(many.queriesPerKey, 6);
    });
  });

  const DEAD = {
    ttlSeconds: 1.5,
    paths: Array.from({ length: 10 }, (_, at) => `/search?q=known${at}`),
    unseen: ['/search?q=new1', '/search?q=new2'],
    seconds: 0.3,
    perSecond: 50,
  };

  test('stale pages are served while the engine is dead, and the first answer after its return is fresh', async () => {
    await withHarness(async ({ lab, backend, start }) => {
      const replicas = await start(fakePeer({ servesStale: true }), DEAD);
      const figures = await deadEngine(lab, backend, replicas, DEAD);
      assert.equal(figures.freshShare ?? 1, 1);
      assert.equal(figures.expiredShare, 1);
      assert.equal(figures.unseenOutcome, '503');
      assert.ok((figures.unseenP50Ms ?? 0) > 0);
      assert.ok(figures.recoveredSeconds !== undefined);
    });
  });

  test('a peer that keeps no stale pages answers nothing once its pages have expired', async () => {
    await withHarness(async ({ lab, backend, start }) => {
      const figures = await deadEngine(lab, backend, await start(fakePeer(), DEAD), DEAD);
      assert.equal(figures.freshShare ?? 1, 1);
      assert.equal(figures.expiredShare, 0);
      assert.equal(figures.expiredP99Ms, undefined);
    });
  });
});

test('a purge that a replica refuses is repeated, and the repetitions are counted', async () => {
  let told = 0;
  const stubborn = async (): Promise<void> => {
    told += 1;
    if (told < 3) throw new Error('not now');
  };
  assert.equal(await purgeEach([{ purge: stubborn }, { purge: async () => undefined }]), 2);
  assert.equal(told, 3);
});
