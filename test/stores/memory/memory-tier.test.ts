import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { createMemoryTier, createSieve, ENTRY_OVERHEAD_BYTES } from '../../../src/stores/memory/memory-tier.ts';
import { createFakeClock, seededRandom } from '../../fakes/clock.ts';
import { entryOf } from '../../fakes/entry.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('never holds more bytes than its budget, and always adds up, whatever is done to it', () => {
  const operation = fc.tuple(
    fc.constantFrom('set', 'get', 'delete'),
    fc.nat({ max: 30 }),
    fc.integer({ min: 1, max: 120 }),
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 400 }), (operations) => {
      const sieve = createSieve<number>(300);
      const sizes = new Map<string, number>();
      for (const [what, number, bytes] of operations) {
        const key = `k${number}`;
        if (what === 'set') {
          sieve.set(key, number, bytes);
          sizes.set(key, bytes);
        } else if (what === 'get') sieve.get(key);
        else sieve.delete(key);
        const held = [...sizes].filter(([each]) => sieve.peek(each) !== undefined);
        assert.equal(sieve.size(), held.length);
        assert.equal(
          sieve.bytes(),
          held.reduce((sum, [, each]) => sum + each, 0),
        );
        assert.ok(sieve.bytes() <= 300);
      }
    }),
    { numRuns: 300 },
  );
});

test('what is asked for again outlives what was asked for once', () => {
  const sieve = createSieve<string>(100);
  for (let i = 0; i < 10; i += 1) sieve.set(`hot${i}`, 'x', 5);
  for (let i = 0; i < 1000; i += 1) {
    for (let hot = 0; hot < 10; hot += 1) sieve.get(`hot${hot}`);
    sieve.set(`once${i}`, 'x', 5);
  }
  assert.equal(Array.from({ length: 10 }, (_, i) => sieve.peek(`hot${i}`)).filter(Boolean).length, 10);
  assert.ok(sieve.evictions() > 900);
});

test('a value larger than the budget is not kept, and an older one of its key goes', () => {
  const sieve = createSieve<string>(100);
  sieve.set('k', 'small', 10);
  sieve.set('k', 'huge', 101);
  assert.equal(sieve.peek('k'), undefined);
  assert.deepEqual([sieve.size(), sieve.bytes()], [0, 0]);
});

test('a flood of empty pages evicts no page with results', () => {
  const clock = createFakeClock();
  const tier = createMemoryTier({ maxBytes: 200_000, emptyMaxBytes: 20_000 });
  const page = entryOf(clock);
  for (let i = 0; i < 100; i += 1) tier.set(`page${i}`, page);
  for (let i = 0; i < 10_000; i += 1) tier.set(`none${i}`, entryOf(clock, { empty: true }));
  assert.equal(tier.usage().entries, 100);
  assert.ok(tier.usage().emptyBytes <= 20_000);
});

test('a key that turns empty, or back, is held once', () => {
  const clock = createFakeClock();
  const tier = createMemoryTier({ maxBytes: 100_000, emptyMaxBytes: 100_000 });
  tier.set('k', entryOf(clock));
  tier.set('k', entryOf(clock, { empty: true }));
  assert.deepEqual([tier.usage().entries, tier.usage().emptyEntries, tier.get('k')?.empty], [0, 1, true]);
  tier.set('k', entryOf(clock));
  assert.deepEqual([tier.usage().entries, tier.usage().emptyEntries, tier.get('k')?.empty], [1, 0, false]);
  assert.equal(tier.delete('k'), true);
  assert.equal(tier.delete('k'), false);
});

test('the accounted bytes are no less than what the heap and its buffers grow by', { timeout: 60_000 }, () => {
  const clock = createFakeClock();
  const random = seededRandom(1);
  const tier = createMemoryTier({ maxBytes: 512 << 20, emptyMaxBytes: 1 << 20 });
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  const resultIds = Array.from({ length: 20 }, (_, i) => `${i}`);
  for (let i = 0; i < 20_000; i += 1) {
    tier.set(`key-${i}-${random()}`, entryOf(clock, { body: Buffer.alloc(600), resultIds }));
  }
  const grown = used() - before;
  const { bytes, entries } = tier.usage();
  assert.equal(entries, 20_000);
  assert.ok(bytes > ENTRY_OVERHEAD_BYTES * entries);
  assert.ok(grown <= bytes, `grew by ${grown}, accounted ${bytes}`);
  assert.ok(grown > bytes / 2, `the overhead is overstated: grew by ${grown}, accounted ${bytes}`);
});
