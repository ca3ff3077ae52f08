import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import {
  fillCommand,
  fillCommands,
  gaussianKey,
  memtierCommand,
  memtierFill,
  PUBLISHED_MIX,
  valueBytes,
} from '../../../../loadtest/labs/kit/mix.ts';
import { createRandom } from '../../../../loadtest/random.ts';

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

test('the command that repeats the published mix is memtier with its ratio, sizes, keys and distribution', () => {
  assert.equal(
    memtierCommand(PUBLISHED_MIX, { clients: 50, pipeline: 10, more: '--rate-limiting=9' }),
    'memtier_benchmark -s 127.0.0.1 -p 6379 -t 1 -c 50 --pipeline=10 --ratio=1:4 --data-size-range=100-6000 ' +
      '--key-maximum=99999 --key-pattern=G:G --distinct-client-seed --randomize --test-time=10 --rate-limiting=9',
  );
});

test('the fill command of a row sets every key once, with the names and value sizes that the row reads', () => {
  const sent = (fill: string) => {
    const [words = ''] = fill.split(' | redis-cli');
    return execFileSync('sh', ['-c', words], { encoding: 'utf8' }).trim().split('\n');
  };
  const lines = sent(fillCommand('SET page:%012d', { keys: 99, leastBytes: 9000, mostBytes: 9002 }));
  assert.deepEqual([lines.length, new Set(lines).size, lines[7]?.split(' ')[1]], [99, 99, 'page:000000000007']);
  const sizes = lines.map((line) => line.split(' ')[2]?.length ?? 0);
  assert.deepEqual([Math.min(...sizes), Math.max(...sizes)], [9000, 9002]);
  assert.deepEqual(sent(fillCommand('HSET h f%d', { keys: 2, leastBytes: 3, mostBytes: 3 })), [
    'HSET h f0 xxx',
    'HSET h f1 xxx',
  ]);
  assert.match(
    memtierFill({ ...PUBLISHED_MIX, keys: 5 }, { isTls: true }),
    /k < 5;.* "SET memtier-%d ".* -p 6379 --tls --cacert ca\.crt --pipe$/,
  );
});
