import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createProgress } from '../../../src/operations/warm/warm.ts';

test('queries that end in any order are settled in the order of the file, each with its result', () => {
  const settlements = fc.array(fc.constantFrom('cached', 'computed', 'invalid', 'failed'), { maxLength: 40 });
  const orders = settlements.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray([...all.keys()], { minLength: all.length })),
  );
  fc.assert(
    fc.property(orders, ([all, order]) => {
      const progress = createProgress();
      progress.take(all.length);
      const ended = new Set<number>();
      for (const place of order) {
        progress.settle(place, all[place] ?? 'failed');
        ended.add(place);
        let prefix = 0;
        while (ended.has(prefix)) prefix += 1;
        const { settled, ...counts } = progress.counts();
        assert.equal(settled, prefix);
        for (const kind of ['cached', 'computed', 'invalid', 'failed'] as const) {
          assert.equal(counts[kind], all.slice(0, prefix).filter((one) => one === kind).length);
        }
      }
      assert.equal(progress.taken(), all.length);
    }),
  );
});
