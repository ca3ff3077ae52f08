import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestsFor, rowOf } from '../../../../loadtest/labs/kit/benchmark.ts';
import { coresOf } from '../../../../loadtest/labs/kit/lab.ts';
import { limitOf, othersCores, storeCoresDuring } from '../../../../loadtest/labs/kit/meters.ts';
import { fillCommands, gaussianKey, PUBLISHED_MIX, valueBytes } from '../../../../loadtest/labs/kit/mix.ts';
import { runProgram } from '../../../../loadtest/labs/kit/programs.ts';
import { alternately, medianRun, onceMore } from '../../../../loadtest/labs/kit/rounds.ts';
import { createRandom } from '../../../../loadtest/random.ts';

test('the row of a benchmark is read by its columns, whatever is printed around it', () => {
  const head = '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms"';
  const row = '"EVAL f("GET", key)","825090.25","0.378","0.1","0.319","0.687","0.847","1.287"';
  assert.deepEqual(rowOf(`WARNING: no config\n${head},"max_latency_ms"\n${row}\n`), {
    perSecond: 825090.25,
    meanMs: 0.378,
    p50Ms: 0.319,
    p99Ms: 0.847,
    maxMs: 1.287,
  });
  assert.throws(() => rowOf('Could not connect\n'), /printed no rps: Could not connect/);
});

test('there are enough requests to fill the time, and at least one for each client', () => {
  assert.equal(requestsFor(10_000, { clients: 50, seconds: 1.5 }), 15_000);
  assert.equal(requestsFor(100, { clients: 200, seconds: 0.5 }), 200);
  assert.equal(requestsFor(3, { clients: 1, seconds: 1 }), 50);
});

for (const [rows, kept, measured] of [
  [['calm', 'other'], 'calm', 1],
  [['disturbed', 'calm'], 'calm', 2],
  [['disturbed', 'disturbed twice', 'calm'], 'disturbed twice', 2],
] as const)
  test(`of ${rows.join(', ')} the row that counts is ${kept}`, async () => {
    let [at, again] = [0, 0];
    const row = await onceMore(
      async () => rows[at++] ?? 'none',
      (one) => one.startsWith('disturbed'),
      () => {
        again += 1;
      },
    );
    assert.deepEqual([row, at, again], [kept, measured, measured - 1]);
  });

test('variants alternate, forwards and backwards, and each keeps its median run', async () => {
  const order: string[] = [];
  const figures: Record<string, number[]> = { a: [9, 1, 5], b: [2, 3, 1] };
  const all = await alternately(
    ['a', 'b'],
    3,
    async (variant, before: readonly number[]) => {
      order.push(variant);
      return figures[variant]?.[before.length] ?? 0;
    },
    (run) => run,
  );
  assert.deepEqual([order.join(''), all], ['abbaab', [5, 2]]);
  assert.equal(medianRun([4, 2], Number), 2);
});

const many = (draw: (random: () => number) => number): number[] => {
  const random = createRandom(7).next;
  return Array.from({ length: 20_000 }, () => draw(random));
};
const shareOf = (values: readonly number[], holds: (value: number) => boolean): number =>
  values.filter(holds).length / values.length;

test('keys are normally distributed, and sizes of values evenly, both ends included', () => {
  const keys = many((random) => gaussianKey(600, random));
  assert.ok(keys.every((key) => Number.isInteger(key) && key >= 0 && key < 600));
  const within = shareOf(keys, (key) => Math.abs(key - 300) < 100);
  assert.ok(within > 0.66 && within < 0.71, `${within}`);
  const sizes = many((random) => valueBytes({ ...PUBLISHED_MIX, leastBytes: 3, mostBytes: 6 }, random));
  for (const size of [3, 4, 5, 6]) assert.ok(Math.abs(shareOf(sizes, (one) => one === size) - 0.25) < 0.02, `${size}`);
  const commands = [...fillCommands({ keys: 50, leastBytes: 10, mostBytes: 20 }, createRandom(1).next)];
  assert.equal(new Set(commands.map(([, key]) => String(key))).size, 50);
});

test('a program that fails, is missing or takes too long is reported', async () => {
  const node = (code: string, limitMs = 120_000) =>
    runProgram({ command: process.execPath, args: ['-e', code], limitMs });
  await assert.rejects(node('console.error("no such key"); process.exit(3)'), /ended with 3: no such key/);
  await assert.rejects(
    runProgram({ command: 'no-such-program', args: [], limitMs: 1000 }),
    /no-such-program: there is no no-such-program in PATH; install it/,
  );
  await assert.rejects(node('setInterval(() => 0, 100)', 300), /not done after 300 ms/);
});

for (const [storeCores, generatorCores, limit] of [
  [0.86, 0.8, 'store'],
  [0.8, 0.86, 'generator'],
  [0.97, 0.97, 'both'],
  [0.8, 0.8, 'neither'],
] as const)
  test(`${storeCores} and ${generatorCores} busy cores: the limit is ${limit}`, () =>
    assert.equal(limitOf({ storeCores, generatorCores }), limit));

test('a generator with two threads is not full when it uses one core', () => {
  const room = { storeCores: 1, generatorCores: 2 };
  assert.equal(limitOf({ storeCores: 0.5, generatorCores: 1 }, room), 'neither');
  assert.equal(limitOf({ storeCores: 0.5, generatorCores: 1.9 }, room), 'generator');
});

test('stores and generators get half of the processors each, and share a single one', () => {
  assert.deepEqual(coresOf('0-3,6'), { store: '0,1', generator: '2,3,6', storeCount: 2, generatorCount: 3 });
  assert.deepEqual(coresOf('4'), { store: '4', generator: '4', storeCount: 1, generatorCount: 1 });
});

test('store cores are processor time over elapsed time, and the busiest store counts', async () => {
  const meter = (usedMs: number) => {
    let ms = 500 - usedMs;
    return {
      processorMs: () => {
        ms += usedMs;
        return ms;
      },
    };
  };
  const during = await storeCoresDuring([meter(4), meter(12), meter(0)], () => sleep(25, 'done'));
  assert.equal(during.result, 'done');
  const usedMs = during.eachCores.map((cores) => Math.round(cores * during.seconds * 1e6) / 1000);
  assert.deepEqual([usedMs, during.storeCores], [[4, 12, 0], during.eachCores[1]]);
});

test('the processor time of the machine minus our own is the time of other processes', () => {
  const before = { atMs: 0, processesMs: 100, stolenMs: 7, ownMs: 50 };
  assert.equal(othersCores(before, { atMs: 10_000, processesMs: 8100, stolenMs: 7, ownMs: 6050 }), 0.2);
});
