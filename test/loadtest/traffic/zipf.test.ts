import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../../loadtest/random.ts';
import { createZipf, type ZipfOptions } from '../../../loadtest/traffic/zipf.ts';

const DRAWS = 200_000;
const EXPONENTS: readonly Omit<ZipfOptions, 'size'>[] = [
  { exponent: 0.7 },
  { exponent: 0.9 },
  { exponent: 1 },
  { exponent: 1.04, offset: 10 },
  { exponent: 1.2 },
  { exponent: 3, offset: 1000 },
];

for (const shape of EXPONENTS) {
  for (const size of [1, 2, 300, 30_000]) {
    const named = `exponent ${shape.exponent}, offset ${shape.offset ?? 0}, ${size} ranks`;

    test(`the frequency of each rank follows the formula: ${named}`, () => {
      const { statistic, degrees } = chiSquare(drawn({ ...shape, size }), shares({ ...shape, size }));
      // Five standard deviations above the expected value: by chance once in a few hundred thousand seeds. The seed is fixed.
      assert.ok(statistic <= degrees + 5 * Math.sqrt(2 * degrees), `${statistic} at ${degrees} degrees of freedom`);
    });
  }
}

test('the smallest and the largest random number draw the first and the last rank', () => {
  for (const shape of EXPONENTS) {
    const draw = createZipf({ ...shape, size: 10 });
    assert.equal(
      draw(() => 0),
      0,
    );
    assert.equal(
      draw(() => 1 - 2 ** -53),
      9,
    );
  }
});

test('rejection sampling ends even for random numbers that are always rejected', () => {
  const draw = createZipf({ size: 2, exponent: 1 });
  let asked = 0;
  for (let n = 0; n < 10_000; n += 1) {
    draw(() => {
      asked += 1;
      assert.ok(asked < 10_000 * 20);
      return n / 10_000;
    });
  }
  assert.ok(asked > 10_000, 'nothing was rejected');
});

function drawn(options: ZipfOptions): Float64Array {
  const draw = createZipf(options);
  const random = createRandom(7).next;
  const counts = new Float64Array(options.size);
  for (let n = 0; n < DRAWS; n += 1) {
    const rank = draw(random);
    assert.ok(rank >= 0 && rank < options.size, `rank ${rank}`);
    counts[rank] = (counts[rank] ?? 0) + 1;
  }
  return counts;
}

function shares({ size, exponent, offset = 0 }: ZipfOptions): Float64Array {
  const weights = Float64Array.from({ length: size }, (_, rank) => (rank + 1 + offset) ** -exponent);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** Neighbouring ranks share a bin until 50 draws are expected in it; with fewer the test is not valid. */
function chiSquare(counts: Float64Array, expected: Float64Array): { statistic: number; degrees: number } {
  const bins: { seen: number; wanted: number }[] = [];
  let open = { seen: 0, wanted: 0 };
  for (const [rank, share] of expected.entries()) {
    open = { seen: open.seen + (counts[rank] ?? 0), wanted: open.wanted + share * DRAWS };
    if (open.wanted < 50) continue;
    bins.push(open);
    open = { seen: 0, wanted: 0 };
  }
  const last = bins.at(-1);
  if (last !== undefined) {
    last.seen += open.seen;
    last.wanted += open.wanted;
  }
  const statistic = bins.reduce((sum, { seen, wanted }) => sum + (seen - wanted) ** 2 / wanted, 0);
  return { statistic, degrees: bins.length - 1 };
}
