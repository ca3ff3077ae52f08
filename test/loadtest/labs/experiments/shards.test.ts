import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countersOf,
  memoryFigures,
  type ShardRow,
  settledCommands,
  shards,
} from '../../../../loadtest/labs/experiments/shards.ts';
import { PUBLISHED_MIX } from '../../../../loadtest/labs/kit/mix.ts';
import { createRandom } from '../../../../loadtest/random.ts';
import { figureOf } from './harness.ts';

function row(own: Partial<ShardRow>): ShardRow {
  return {
    shards: 1,
    growth: undefined,
    perSecond: 60_000,
    p99Ms: 1,
    hitRatio: 0.73,
    evictionsPerSecond: 225,
    busiestCores: 0.1,
    storeCores: 0.1,
    generatorCores: 0.3,
    limit: 'neither',
    ...own,
  };
}

interface Six {
  readonly hitRatio?: number;
  readonly evictions?: number;
  /** Evictions at x1. */
  readonly calmEvictions?: number;
  readonly limit?: ShardRow['limit'];
}

const findingOf = ({ hitRatio = 0.72, evictions = 1100, calmEvictions = evictions / 5, limit = 'neither' }: Six) =>
  shards.findingOf({
    rows: [
      row({ growth: 1 }),
      row({ shards: 6, growth: 1, evictionsPerSecond: calmEvictions, hitRatio }),
      row({ growth: 5, evictionsPerSecond: 1100 }),
      row({ shards: 6, growth: 5, evictionsPerSecond: evictions, hitRatio }),
      row({}),
      row({ shards: 6, perSecond: 58_000, hitRatio, limit }),
    ],
  });

for (const [name, six, verdict, evictions] of [
  ['the same hits and evictions: the cure is temporary', {}, 'yes', 1],
  ['more shards that no longer evict are a cure', { hitRatio: 0.95, evictions: 0 }, 'no', 0],
  ['other hits, and evictions that do not grow', { hitRatio: 0.6, calmEvictions: 1100 }, 'no', 0],
  ['other hits, and half of the evictions', { hitRatio: 0.6, evictions: 550 }, 'no', 0.5],
  ['evictions that grow by little', { calmEvictions: 1050 }, 'yes', 1],
] as const)
  test(name, () => {
    const found = findingOf(six);
    assert.equal(found.verdict, verdict);
    assert.equal(figureOf(found, /evictions of 6 shards ÷ of 1, x5/), evictions);
  });

test('a full driver gives no result about the shards', () => {
  assert.equal(figureOf(findingOf({ limit: 'generator' }), /as fast as possible/), undefined);
  assert.ok(figureOf(findingOf({ limit: 'neither' }), /as fast as possible/));
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
