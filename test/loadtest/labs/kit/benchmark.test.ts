import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestsFor, roomFor, rowOf } from '../../../../loadtest/labs/kit/benchmark.ts';
import { coresOf } from '../../../../loadtest/labs/kit/lab.ts';
import { fillCommands, gaussianKey, PUBLISHED_MIX, valueBytes } from '../../../../loadtest/labs/kit/mix.ts';
import { runProgram } from '../../../../loadtest/labs/kit/programs.ts';
import { alternately, medianRun, onceMore } from '../../../../loadtest/labs/kit/rounds.ts';
import { createRandom } from '../../../../loadtest/random.ts';

const HEAD =
  '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"';

test('the row of a benchmark is read by its columns, whatever is printed around it', () => {
  assert.deepEqual(
    rowOf(`WARNING: no config\n${HEAD}\n"GET","825090.25","0.378","0.1","0.319","0.687","0.847","1.287"\n`),
    {
      perSecond: 825090.25,
      latencyMs: { mean: 0.378, p50: 0.319, p95: 0.687, p99: 0.847, max: 1.287 },
    },
  );
});

test('a benchmark without a row reports its output instead', () => {
  assert.throws(() => rowOf('Could not connect\n'), /printed no rps: Could not connect/);
});

test('there are enough requests to fill the time, and at least one for each client', () => {
  assert.equal(requestsFor(10_000, { clients: 50, seconds: 1.5 }), 15_000);
  assert.equal(requestsFor(100, { clients: 200, seconds: 0.5 }), 200);
  assert.equal(requestsFor(3, { clients: 1, seconds: 1 }), 50);
});

test('a generator has a core for each of its threads, up to the number of cores', () => {
  assert.deepEqual(roomFor({}, coresOf('0-7')), { storeCores: 1, generatorCores: 1 });
  assert.equal(roomFor({ threads: 3 }, coresOf('0-7')).generatorCores, 3);
  assert.equal(roomFor({ threads: 50 }, coresOf('0-7')).generatorCores, 4);
});

const measuredAs = async (...rows: readonly string[]) => {
  let [measured, again] = [0, 0];
  const row = await onceMore(
    async () => rows[measured++] ?? 'none',
    (one) => one.startsWith('disturbed'),
    () => {
      again += 1;
    },
  );
  return { row, measured, again };
};

test('a disturbed row is measured a second time, which is reported, and not a third time', async () => {
  assert.deepEqual(await measuredAs('calm', 'other'), { row: 'calm', measured: 1, again: 0 });
  assert.deepEqual(await measuredAs('disturbed', 'calm'), { row: 'calm', measured: 2, again: 1 });
  assert.deepEqual(await measuredAs('disturbed', 'disturbed twice', 'calm'), {
    row: 'disturbed twice',
    measured: 2,
    again: 1,
  });
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
  assert.equal(order.join(''), 'abbaab');
  assert.deepEqual(all, [5, 2]);
  assert.equal(
    medianRun([4, 2], (run) => run),
    2,
  );
});

const many = (draw: (random: () => number) => number): number[] => {
  const random = createRandom(7).next;
  return Array.from({ length: 20_000 }, () => draw(random));
};
const shareOf = (values: readonly number[], holds: (value: number) => boolean): number =>
  values.filter(holds).length / values.length;

test('keys follow a normal distribution: two thirds are within one standard deviation of the mean', () => {
  const keys = many((random) => gaussianKey(600, random));
  assert.ok(keys.every((key) => Number.isInteger(key) && key >= 0 && key < 600));
  const within = shareOf(keys, (key) => Math.abs(key - 300) < 100);
  assert.ok(within > 0.66 && within < 0.71, `${within}`);
  assert.ok(shareOf(keys, (key) => key < 300) > 0.48);
});

test('value sizes are uniformly distributed, both ends included', () => {
  const sizes = many((random) => valueBytes({ ...PUBLISHED_MIX, leastBytes: 3, mostBytes: 6 }, random));
  for (const size of [3, 4, 5, 6]) assert.ok(Math.abs(shareOf(sizes, (one) => one === size) - 0.25) < 0.02, `${size}`);
});

test('a fill sets every key once, with values of the requested sizes', () => {
  const commands = [...fillCommands({ keys: 50, leastBytes: 10, mostBytes: 20 }, createRandom(1).next)];
  assert.equal(new Set(commands.map(([, key]) => String(key))).size, 50);
  assert.ok(commands.every(([name, , value]) => name === 'SET' && Buffer.byteLength(value ?? '') >= 10));
  assert.ok(commands.every(([, , value]) => Buffer.byteLength(value ?? '') <= 20));
});

const node = (code: string, more: { limitMs?: number; signal?: AbortSignal; input?: Iterable<Buffer> } = {}) =>
  runProgram({ command: process.execPath, args: ['-e', code], limitMs: 120_000, ...more });

test('processor time is the time the program used, not its duration', async () => {
  const idle = await node('setTimeout(() => console.log("done"), 600)');
  assert.equal(idle.output, 'done\n');
  assert.ok(idle.processorSeconds < idle.seconds, JSON.stringify(idle));
  // It is read at intervals, so the program lives on for a while.
  const busy = await node(`
    while (process.cpuUsage().user < 400_000) for (let turn = 0; turn < 1e6; turn += 1);
    console.log(process.cpuUsage().user / 1e6);
    setTimeout(() => {}, 300);
  `);
  assert.ok(busy.processorSeconds > Number(busy.output) / 2, JSON.stringify(busy));
});

test('a program that fails, is missing or takes too long is reported', async () => {
  await assert.rejects(node('console.error("no such key"); process.exit(3)'), /ended with 3: no such key/);
  await assert.rejects(
    runProgram({ command: 'no-such-program', args: [], limitMs: 1000 }),
    /no-such-program: there is no no-such-program in PATH; install it/,
  );
  await assert.rejects(node('setInterval(() => 0, 100)', { limitMs: 300 }), /not done after 300 ms/);
});
