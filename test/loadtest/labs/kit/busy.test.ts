import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { peakDuring, storeCoresDuring } from '../../../../loadtest/labs/kit/meters.ts';

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
  let workedMs = 0;
  const work = async (): Promise<string> => {
    const beganMs = performance.now();
    await sleep(25);
    workedMs = performance.now() - beganMs;
    return 'done';
  };
  const startedMs = performance.now();
  const during = await storeCoresDuring([meter(4), meter(12), meter(0)], work);
  const tookMs = performance.now() - startedMs;
  assert.equal(during.result, 'done');
  const measuredMs = during.seconds * 1000;
  assert.ok(measuredMs >= workedMs && measuredMs <= tookMs, `${workedMs} ≤ ${measuredMs} ≤ ${tookMs} ms`);
  const usedMs = during.eachCores.map((cores) => Math.round(cores * during.seconds * 1e6) / 1000);
  assert.deepEqual(usedMs, [4, 12, 0]);
  assert.equal(during.storeCores, during.eachCores[1]);
});

test('the highest reading is kept, and a failed reading is ignored', async () => {
  const seen = [3, 9, new Error('busy'), 4];
  const look = async (): Promise<number> => {
    const one = seen.shift() ?? 1;
    if (one instanceof Error) throw one;
    return one;
  };
  const untilAllAreRead = async (): Promise<string> => {
    while (seen.length > 0) await sleep(5);
    return 'done';
  };
  assert.deepEqual(await peakDuring(untilAllAreRead, look, 5), { result: 'done', peak: 9 });
  const failing = peakDuring(
    async () => {
      throw new Error('the load failed');
    },
    async () => 1,
    5,
  );
  await assert.rejects(failing, /the load failed/);
});
