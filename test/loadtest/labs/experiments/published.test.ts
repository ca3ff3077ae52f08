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
  const places = ['Redis 7.0.15', 'keydb-server 6.3', 'Dragonfly 1.2', 'Valkey 8.0.1'];
  const known = places.map((name) => ({ name, flavour: name, isConfigurable: true }));
  const rows = { mix: [], reads: [], counters: [], settings: [] };
  const { charts } = engines.findingOf({ known, ...rows, cores: { storeCount: 1 } });
  const drawn = charts.flatMap(({ series }) => series).filter(({ isPublished }) => isPublished);
  assert.deepEqual(
    drawn.map(({ name, values }) => [name, ...values]),
    [
      ['one store, published', 9.3, 10.8, 12.3, undefined],
      ['three stores, published', 6.68, 8.05, 14.6, undefined],
    ],
  );
});

test('values: 508k SET of 4 KB a second in pipelines of 5000, two rows of GET, and a hash read in pieces', () => {
  assert.deepEqual(VALUES, {
    pipeline: 5000,
    pipelinedSetPerSecond: 508_000,
    get: [
      { bytes: 4096, perSecond: 62_566 },
      { bytes: 4_194_304, perSecond: 57_666 },
    ],
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
