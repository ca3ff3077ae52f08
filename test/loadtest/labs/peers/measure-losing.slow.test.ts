import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deadEngine, stampede } from '../../../../loadtest/labs/peers/losing.ts';
import { purgeEach } from '../../../../loadtest/labs/peers/replicas.ts';
import { fakePeer } from '../../../fakes/peer.ts';
import { withHarness } from './measure-harness.ts';

const PATHS = ['hot', 'a', 'b', 'c'].map((text) => `/search?q=${text}`);
const SIZES = { engineDelayMs: 200, hotRequests: 12, manyKeys: 3, requestsEach: 6 };
const KNOWN = [...Array(10).keys(), 'new1', 'new2'].map((text) => `/search?q=${text}`);
const DEAD = { ttlSeconds: 1.5, knownPages: 10, unseenPages: 2, seconds: 0.3, deadPerSecond: 50 };

// Each test has its own peers and engine, and waits for pages to expire.
describe('peers that lose their pages or their engine', { concurrency: 3 }, () => {
  for (const [name, coalesces, count, hotQueries, manyQueries] of [
    ['coalesces in the process asks the engine once for each replica', true, 3, 3, 3],
    ['does not coalesce asks the engine for every request', false, 2, 12, 6],
  ] as const)
    test(`a peer that ${name}`, async () => {
      await withHarness(async ({ lab, backend, start }) => {
        const replicas = await start(fakePeer({ coalesces }), { count });
        const { hot, many } = await stampede(lab, backend, replicas, PATHS, SIZES);
        assert.deepEqual([hot.queriesPerKey, many.queriesPerKey, hot.failedShare], [hotQueries, manyQueries, 0]);
        assert.ok((hot.p50Ms ?? 0) >= 195, `${hot.p50Ms} ms`);
        assert.equal(backend.delayMs(), 0);
      });
    });

  for (const [name, servesStale, expiredShare] of [
    ['serves stale pages answers all expired ones without an engine, and is fresh again after its return', true, 1],
    ['keeps no stale pages answers nothing once its pages have expired', false, 0],
  ] as const)
    test(`a peer that ${name}`, async () => {
      await withHarness(async ({ lab, backend, start }) => {
        const figures = await deadEngine(lab, backend, await start(fakePeer({ servesStale }), DEAD), KNOWN, DEAD);
        assert.deepEqual([figures.freshShare ?? 1, figures.expiredShare], [1, expiredShare]);
        assert.equal(figures.expiredP99Ms === undefined, !servesStale);
        assert.equal(figures.unseenOutcome, '503');
        assert.ok((figures.unseenP50Ms ?? 0) > 0 && figures.recoveredSeconds !== undefined);
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
