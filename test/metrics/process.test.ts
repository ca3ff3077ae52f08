import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { createHistogram } from 'node:perf_hooks';
import { test } from 'node:test';
import { seededRandom } from '../../loadtest/random.ts';
import { createBucketReader, openFilesLimitOf } from '../../src/metrics/process.ts';
import { scrape, start } from './harness.ts';

test('the counts of buckets are exact at every reading, within the precision of the histogram', () => {
  const histogram = createHistogram();
  const bounds = [1000, 5000, 20_000, 100_000];
  const read = createBucketReader(histogram, bounds);
  const expected = [0, 0, 0, 0, 0];
  const random = seededRandom(7);
  assert.deepEqual([...read()], expected);
  for (const size of [1, 1, 2, 3, 500, 20_000, 0]) {
    for (let index = 0; index < size; index += 1) {
      const value = Math.ceil(2 ** (random() * 18));
      // Values this near to a bound may be counted on its other side.
      if (bounds.some((bound) => Math.abs(value - bound) <= bound / 500)) continue;
      histogram.record(value);
      const bucket = bounds.findIndex((bound) => value <= bound);
      const at = bucket < 0 ? bounds.length : bucket;
      expected[at] = (expected[at] ?? 0) + 1;
    }
    assert.deepEqual([...read()], expected, `after ${size} more`);
  }
});

test('opened files raise the count of open descriptors, which is below the maximum', async (context) => {
  const metrics = start(context);
  const figures = async () => {
    const { value } = await scrape(metrics);
    return { open: value('process_open_fds') ?? 0, max: value('process_max_fds') ?? 0 };
  };
  const before = await figures();
  const files = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'));
  const after = await figures();
  for (const file of files) closeSync(file);
  assert.ok(after.open >= before.open + 40, `${before.open}, then ${after.open}`);
  assert.ok(after.max > after.open);
  return undefined;
});

test('the maximum of open files is the soft limit, which may be infinite or unknown', () => {
  const limits = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              unlimited            unlimited            seconds   \nMax open files            ${soft.padEnd(20)} 524288               files     \n`;
  assert.equal(openFilesLimitOf(limits('1024')), 1024);
  assert.equal(openFilesLimitOf(limits('unlimited')), Number.POSITIVE_INFINITY);
  assert.equal(openFilesLimitOf('Max processes 5'), undefined);
});
