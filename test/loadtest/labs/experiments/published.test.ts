import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLISHED as BATCHES, GOLDEN, publishedText } from '../../../../loadtest/labs/experiments/batch.ts';
import { engines } from '../../../../loadtest/labs/experiments/engines.ts';
import { WAYS } from '../../../../loadtest/labs/experiments/value-size/hash.ts';
import { PUBLISHED as VALUES } from '../../../../loadtest/labs/experiments/value-size/transfer.ts';

// Copied from the publication, not from the code: the published values beside a measurement must not drift.

test('batches: rate and p99 of single commands and of 10 to 500 at once, best from 100 to 200', () => {
  assert.deepEqual(
    BATCHES.map(({ pipeline, perSecond, p99Ms }) => [pipeline, perSecond, p99Ms]),
    [
      [1, 5000, 35],
      [10, 8000, 22],
      [50, 12_000, 18],
      [100, 18_500, 15],
      [200, 20_000, 14],
      [500, 19_800, 16],
    ],
  );
  assert.deepEqual(GOLDEN, { least: 100, most: 200 });
  const shown = [50, 51].map((pipeline) => publishedText({ pipeline })?.replaceAll('\u00a0', ' '));
  assert.deepEqual(shown, ['12,000/s, p99 18 ms', undefined]);
});

test('engines: time per INCR of three clients with one store and with three', () => {
  const measured = { usPerOp: 1, perSecond: 1, storeUsPerOp: 1, p99Ms: 1, storeCores: 1, generatorCores: 1 };
  const counters = ['Redis 7.0.15', 'keydb-server 6.3', 'Dragonfly 1.2', 'Valkey 8.0.1'].flatMap((engine) =>
    ([1, 3] as const).map((stores) => ({ ...measured, limit: 'store' as const, engine, stores })),
  );
  const known = counters.map(({ engine }) => ({ name: engine, flavour: engine, isConfigurable: true }));
  const rows = { mix: [], reads: [], counters, settings: [] };
  const { tables } = engines.findingOf({ known, ...rows, cores: { storeCount: 1 } });
  const shown = Object.fromEntries(tables[2]?.rows.map(({ name, published }) => [name, published]) ?? []);
  assert.deepEqual(shown, {
    'Redis 7.0.15, one store': '9.3 µs',
    'Redis 7.0.15, three stores': '6.68 µs',
    'keydb-server 6.3, one store': '10.8 µs',
    'keydb-server 6.3, three stores': '8.05 µs',
    'Dragonfly 1.2, one store': '12.3 µs',
    'Dragonfly 1.2, three stores': '14.6 µs',
    'Valkey 8.0.1, one store': undefined,
    'Valkey 8.0.1, three stores': undefined,
  });
});

test('values: 508k SET of 4 KB a second in pipelines of 5000, and a hash read in pieces', () => {
  assert.deepEqual(VALUES, {
    pipeline: 5000,
    pipelinedSetPerSecond: 508_000,
  });
  assert.deepEqual(
    WAYS.flatMap(({ fields, publishedMs }) => (publishedMs === undefined ? [] : [[fields, publishedMs]])),
    [
      [3000, 10_000],
      [300, 100],
      [30, 20],
    ],
  );
});
