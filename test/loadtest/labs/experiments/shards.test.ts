import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardsCommand } from '../../../../loadtest/labs/experiments/shards/command.ts';
import { countersOf, memoryFigures } from '../../../../loadtest/labs/experiments/shards/counters.ts';
import { type ShardRow, shardsLesson } from '../../../../loadtest/labs/experiments/shards/lesson.ts';
import { settledCommands } from '../../../../loadtest/labs/experiments/shards/settled-commands.ts';
import { PUBLISHED_MIX } from '../../../../loadtest/labs/kit/mix.ts';
import { createRandom } from '../../../../src/catalogue/demo/ad.ts';

test('more shards in the same memory with the same hits and evictions: the cure is temporary', () => {
  const { holds, sentence } = shardsLesson(rowsOf({ hitRatio: 0.72, evictions: 1100 }), 1);
  assert.equal(holds, 'yes');
  assert.match(sentence, /from 220\/s to 1,100\/s as the load grew from x1 to x5/);
  assert.match(sentence, /0\.3 of a core with 1, 0\.05 with 6/);
});

test('more shards that no longer evict are a cure, and the lesson does not hold', () => {
  const { holds, sentence } = shardsLesson(rowsOf({ hitRatio: 0.95, evictions: 0 }), 1);
  assert.equal(holds, 'no');
  assert.match(sentence, /evictions at x5 were 0\/s, against 1,100\/s with one shard/);
});

test('evictions that return with a different hit ratio make the lesson hold in part', () => {
  const { holds, sentence } = shardsLesson(rowsOf({ hitRatio: 0.6, evictions: 1100 }), 1);
  assert.equal(holds, 'partly');
  assert.match(sentence, /differs by 13\spoints/);
});

test('half the evictions, or evictions that do not grow with the load, do not count as returned', () => {
  assert.equal(shardsLesson(rowsOf({ evictions: 500 }), 1).holds, 'partly');
  assert.equal(shardsLesson(rowsOf({ calmEvictions: 1100 }), 1).holds, 'partly');
});

test('a full driver gives no result about the shards', () => {
  assert.match(shardsLesson(rowsOf({ limit: 'generator' }), 4).sentence, /the driver was full/);
});

test('shards that share a full core are reported', () => {
  assert.match(shardsLesson(rowsOf({ limit: 'store' }), 1).sentence, /all shards shared one core/);
  assert.doesNotMatch(shardsLesson(rowsOf({ limit: 'store' }), 6).sentence, /shared/);
});

test('hits are a share of the reads between two readings, and evictions a rate, summed over all shards', async () => {
  const shard = (keyspace_hits: string, keyspace_misses: string, evicted_keys: string) => ({
    info: async () => ({ keyspace_hits, keyspace_misses, evicted_keys }),
  });
  const before = await countersOf([shard('100', '50', '7'), shard('10', '5', '3')]);
  assert.deepEqual(before, { hits: 110, misses: 55, evicted: 10 });
  const after = await countersOf([shard('160', '60', '27'), shard('40', '5', '13')]);
  assert.deepEqual(memoryFigures(before, after, 2), { hitRatio: 0.9, evictionsPerSecond: 15 });
});

test('a settled store holds the most requested keys, not the last keys in order', () => {
  const keys = [...settledCommands({ ...PUBLISHED_MIX, keys: 900 }, createRandom(1).next)].map(([, key]) =>
    Number(String(key).replace('memtier-', '')),
  );
  const middle = keys.slice(-300).filter((key) => key >= 300 && key < 600).length;
  assert.equal(keys.length, 1350);
  assert.ok(middle > 180, `${middle} of the last 300 are of the middle third`);
});

test('a command starts its own shards, loads each of them, and stops each of them', () => {
  const command = shardsCommand({
    shards: 3,
    mix: PUBLISHED_MIX,
    maxBytes: 1000,
    clients: 20,
    perClientPerSecond: 66.7,
  });
  assert.doesNotMatch(command, /6379|cluster-mode/);
  assert.equal(command.match(/for port in 6381 6382 6383; do /g)?.length, 5);
  assert.match(command, /--rate-limiting=67 & done; wait; .*-p \$port shutdown nosave; done$/);
});

function rowsOf(six: {
  readonly hitRatio?: number;
  readonly evictions?: number;
  /** At x1. */
  readonly calmEvictions?: number;
  readonly limit?: ShardRow['limit'];
}): readonly ShardRow[] {
  const { hitRatio = 0.72, evictions = 1100, calmEvictions = evictions / 5, limit = 'neither' } = six;
  return [
    row({ shards: 1, growth: 1, evictionsPerSecond: 225, busiestCores: 0.06 }),
    row({ shards: 6, growth: 1, evictionsPerSecond: calmEvictions, busiestCores: 0.01, hitRatio }),
    row({ shards: 1, growth: 5, evictionsPerSecond: 1100, busiestCores: 0.3 }),
    row({ shards: 6, growth: 5, evictionsPerSecond: evictions, busiestCores: 0.05, hitRatio }),
    row({ shards: 1, perSecond: 60_000 }),
    row({ shards: 6, perSecond: 58_000, hitRatio, limit }),
  ];
}

function row(own: Partial<ShardRow>): ShardRow {
  return {
    shards: 1,
    perSecond: 4000,
    p99Ms: 1,
    hitRatio: 0.73,
    evictionsPerSecond: 225,
    busiestCores: 0.1,
    storeCores: 0.1,
    generatorCores: 0.3,
    limit: 'neither',
    command: '',
    ...own,
  };
}
