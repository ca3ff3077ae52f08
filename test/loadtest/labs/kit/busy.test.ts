import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { busyOf, storeCoresDuring } from '../../../../loadtest/labs/kit/meters.ts';

/** A store that has used 500 ms of processor time, and uses the given time in addition before each reading. */
function meter(usedMs: number) {
  let looks = -1;
  return {
    processorMs: () => {
      looks += 1;
      return 500 + looks * usedMs;
    },
  };
}

test('store cores are processor time over elapsed time, and the busiest store counts', async () => {
  const startedMs = performance.now();
  const during = await storeCoresDuring([meter(4), meter(12), meter(0)], () => sleep(25, 'done'));
  const tookMs = performance.now() - startedMs;
  assert.equal(during.result, 'done');
  assert.ok(during.seconds >= 0.02 && during.seconds <= tookMs / 1000, `${during.seconds} s of ${tookMs} ms`);
  const usedMs = during.eachCores.map((cores) => Math.round(cores * during.seconds * 1e6) / 1000);
  assert.deepEqual(usedMs, [4, 12, 0]);
  assert.equal(during.storeCores, during.eachCores[1]);
});

test('without stores the use is 0', async () => {
  assert.equal((await storeCoresDuring([], async () => 1)).storeCores, 0);
});

test('the use of a generator is its processor time over its own elapsed time', () => {
  assert.deepEqual(busyOf(0.7, { processorSeconds: 1, seconds: 4 }), { storeCores: 0.7, generatorCores: 0.25 });
});
