import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createZipf } from '../../loadtest/traffic/zipf.ts';
import { seededRandom } from '../../src/catalogue/demo/random.ts';

const DRAWS = 40_000;

test('a rank is drawn in proportion to one over its place', () => {
  const draw = createZipf({ size: 100, exponent: 1, random: seededRandom(7).next });
  const counts = new Array<number>(100).fill(0);
  for (let n = 0; n < DRAWS; n += 1) {
    const rank = draw();
    counts[rank] = (counts[rank] ?? 0) + 1;
  }
  const harmonic = Array.from({ length: 100 }, (_, rank) => 1 / (rank + 1)).reduce((sum, each) => sum + each, 0);
  for (const rank of [0, 1, 9, 49]) {
    const expected = DRAWS / (rank + 1) / harmonic;
    assert.ok(Math.abs((counts[rank] ?? 0) - expected) < 5 * Math.sqrt(expected), `rank ${rank}: ${counts[rank]}`);
  }
});

test('the ends of the random range draw the first and the last rank', () => {
  assert.equal(createZipf({ size: 10, exponent: 1, random: () => 0 })(), 0);
  assert.equal(createZipf({ size: 10, exponent: 1, random: () => 1 - 2 ** -53 })(), 9);
});
