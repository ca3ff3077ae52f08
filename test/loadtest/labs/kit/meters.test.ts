import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { drivenBy } from '../../../../loadtest/labs/kit/driven.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { limitOf, othersCores, storeCoresDuring, timesOf } from '../../../../loadtest/labs/kit/meters.ts';
import { processorsHere } from '../../../../loadtest/stack/processors.ts';

test('the limit is the part that is full', () => {
  assert.equal(limitOf({ storeCores: 0.97, generatorCores: 0.4 }), 'store');
  assert.equal(limitOf({ storeCores: 0.4, generatorCores: 0.97 }), 'generator');
  assert.equal(limitOf({ storeCores: 0.97, generatorCores: 0.97 }), 'both');
  assert.equal(limitOf({ storeCores: 0.5, generatorCores: 0.5 }), 'neither');
});

test('a core is still full when other processes take some of it, and 80 % is not full', () => {
  assert.equal(limitOf({ storeCores: 0.86, generatorCores: 0.8 }), 'store');
  assert.equal(limitOf({ storeCores: 0.8, generatorCores: 0.86 }), 'generator');
  assert.equal(limitOf({ storeCores: 0.8, generatorCores: 0.8 }), 'neither');
});

test('a generator with two threads is not full when it uses one core', () => {
  const room = { storeCores: 1, generatorCores: 2 };
  assert.equal(limitOf({ storeCores: 0.5, generatorCores: 1 }, room), 'neither');
  assert.equal(limitOf({ storeCores: 0.5, generatorCores: 1.9 }, room), 'generator');
});

test('stores and generators get half of the processors each, and share a single one', () => {
  assert.deepEqual(coresOf('0-1'), { store: '0', generator: '1', storeCount: 1, generatorCount: 1 });
  assert.deepEqual(coresOf('0-3,6'), { store: '0,1', generator: '2,3,6', storeCount: 2, generatorCount: 3 });
  assert.deepEqual(coresOf('4'), { store: '4', generator: '4', storeCount: 1, generatorCount: 1 });
});

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

const options = { cores: coresOf(processorsHere()), say: () => undefined, signal: new AbortController().signal };

/** A driver that prints the text it is given. */
const drivenWith = (driven: { watchedCores: readonly number[]; processorSeconds: number; seconds: number }) =>
  inLab(options, (lab) => {
    const main = join(lab.folder, 'prints.mjs');
    writeFileSync(main, `console.log(${JSON.stringify(JSON.stringify(driven))});`);
    return drivenBy(lab, { main, plan: {}, limitMs: 120_000 });
  });

test('the store cores of a load are those of the busiest store: three stores at half a core are no limit', async () => {
  const halves = await drivenWith({ watchedCores: [0.4, 0.5, 0.3], processorSeconds: 1, seconds: 2 });
  assert.deepEqual([halves.storeCores, halves.generatorCores, halves.limit], [0.5, 0.5, 'neither']);
  const oneFull = await drivenWith({ watchedCores: [0.1, 0.95], processorSeconds: 1, seconds: 2 });
  assert.deepEqual([oneFull.storeCores, oneFull.limit], [0.95, 'store']);
});

/** The text of /proc/stat on Linux, for counts of ticks of 10 ms. */
function times(ticks: { atMs: number; each?: readonly number[]; ownTicks?: number; stolen?: number }) {
  const [first = 0, second = 0] = ticks.each ?? [];
  const line = (name: string, user: number): string => `${name} ${user} 10 20 9999 99 50 60 ${ticks.stolen ?? 0} 0 0`;
  const stat = `${line('cpu ', 999_999)}\n${line('cpu0', first)}\n${line('cpu1', second)}\n${line('cpu10', 77_777)}\nintr 1`;
  const own = `7 (a ) name) S 1 7 7 0 -1 0 1 2 3 4 ${ticks.ownTicks ?? 0} 1 2 3 20 0 1 0 5 6`;
  return timesOf({ stat, own, allowed: '0-1', atMs: ticks.atMs });
}

test('the processor time of the machine minus our own is the time of other processes', () => {
  const before = times({ atMs: 0 });
  const after = times({ atMs: 10_000, each: [500, 300], ownTicks: 600 });
  assert.equal(othersCores(before, after), 0.2);
});

test('without readings the result is undefined', () => {
  assert.equal(othersCores(undefined, times({ atMs: 1 })), undefined);
  assert.equal(othersCores(times({ atMs: 1 }), undefined), undefined);
  assert.equal(othersCores(times({ atMs: 1 }), times({ atMs: 1 })), undefined);
});
