import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { seededRandom } from '../../../loadtest/random.ts';
import { createMemoryTier, createSieve, ENTRY_OVERHEAD_BYTES } from '../../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { entryOf } from '../../fakes/entry.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('after any operations it holds at most its budget, and its counts are exact', () => {
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

test('a key that is read again outlives keys that were read once', () => {
  const sieve = createSieve<string>(100);
  for (let i = 0; i < 10; i += 1) sieve.set(`hot${i}`, 'x', 5);
  for (let i = 0; i < 1000; i += 1) {
    for (let hot = 0; hot < 10; hot += 1) sieve.get(`hot${hot}`);
    sieve.set(`once${i}`, 'x', 5);
  }
  assert.equal(Array.from({ length: 10 }, (_, i) => sieve.peek(`hot${i}`)).filter(Boolean).length, 10);
  assert.ok(sieve.evictions() > 900);
});

test('a value larger than the budget is not kept, and removes the older value of its key', () => {
  const sieve = createSieve<string>(100);
  assert.equal(sieve.set('k', 'small', 10), true);
  assert.equal(sieve.set('k', 'huge', 101), false);
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

test('a key that changes from empty to not empty, or back, is held once', () => {
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

test('the accounted bytes are at least the growth of the heap and its buffers', () => {
  const clock = createFakeClock();
  const random = seededRandom(1);
  const tier = createMemoryTier({ maxBytes: 512 << 20, emptyMaxBytes: 1 << 20 });
  // On a busy machine one collection may leave garbage of the code that was compiled meanwhile.
  const used = (): number =>
    Math.min(
      ...Array.from({ length: 4 }, () => {
        collect();
        const { heapUsed, external } = process.memoryUsage();
        return heapUsed + external;
      }),
    );
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

const ALL = 'abcdefghij';
type Sieve<V> = ReturnType<typeof createSieve<V>>;
const heldIn = (sieve: Sieve<string>): string => [...ALL].filter((key) => sieve.peek(key) !== undefined).join('');

function sieveOf(keys: string, maxBytes = keys.length): Sieve<string> {
  const sieve = createSieve<string>(maxBytes);
  for (const key of keys) sieve.set(key, key, 1);
  return sieve;
}

for (const [fact, act, held] of [
  ['the oldest unused key is evicted first', (sieve) => sieve.get('a'), 'acd'],
  ['overwriting counts as a use', (sieve) => sieve.set('a', 'again', 1), 'acd'],
  ['peeking does not count as a use', (sieve) => sieve.peek('a'), 'bcd'],
] satisfies [fact: string, act: (sieve: Sieve<string>) => unknown, held: string][]) {
  test(fact, () => {
    const sieve = sieveOf('abc');
    act(sieve);
    sieve.set('d', 'd', 1);
    assert.equal(heldIn(sieve), held);
  });
}

test('the hand continues from where it stopped, and spares a used key only once', () => {
  const sieve = sieveOf('abcd');
  sieve.get('a');
  sieve.set('e', 'e', 1);
  assert.equal(heldIn(sieve), 'acde');
  sieve.set('f', 'f', 1);
  assert.equal(heldIn(sieve), 'adef', 'c, where the hand stands, and not a, which it has passed');
  for (const key of 'ghi') sieve.set(key, key, 1);
  assert.ok(!heldIn(sieve).includes('d'));
});

test('deleting the key under the hand moves the hand to the next, and later evictions are counted exactly', () => {
  const sieve = sieveOf('abcd');
  sieve.get('a');
  sieve.set('e', 'e', 1);
  assert.equal(heldIn(sieve), 'acde', 'the hand stands at c');
  assert.equal(sieve.delete('c'), true);
  sieve.set('f', 'f', 1);
  assert.equal(heldIn(sieve), 'adef');
  assert.equal(sieve.bytes(), 4);
  sieve.set('g', 'g', 1);
  assert.equal(heldIn(sieve), 'aefg');
  assert.deepEqual([sieve.size(), sieve.bytes(), sieve.evictions()], [4, 4, 2]);
});

test('deleting the newest key under the hand starts the hand again at the oldest', () => {
  const sieve = sieveOf('abc');
  for (const key of 'ab') sieve.get(key);
  sieve.set('d', 'd', 1);
  assert.equal(heldIn(sieve), 'abd', 'c is evicted, and the hand is past the end');
  sieve.get('b');
  sieve.set('e', 'e', 1);
  assert.equal(heldIn(sieve), 'bde');
  for (const key of 'bde') sieve.delete(key);
  assert.deepEqual([sieve.size(), sieve.bytes()], [0, 0]);
  for (const key of 'fghi') sieve.set(key, key, 1);
  assert.equal(heldIn(sieve), 'ghi');
});

test('a larger value for a known key evicts others', () => {
  const sieve = sieveOf('abc');
  sieve.set('a', 'again', 2);
  assert.deepEqual([heldIn(sieve), sieve.bytes(), sieve.peek('a')], ['ac', 3, 'again']);
});

test('in the memory tier a get is a use and a peek is none, for pages with results and without', () => {
  const clock = createFakeClock();
  for (const empty of [false, true]) {
    const entry = entryOf(clock, { empty });
    const roomForTwo = 2 * (entry.encoded.length + ENTRY_OVERHEAD_BYTES);
    for (const use of ['get', 'peek'] as const) {
      const tier = createMemoryTier({ maxBytes: roomForTwo, emptyMaxBytes: roomForTwo });
      tier.set('a', entry);
      tier.set('b', entry);
      assert.ok(tier[use]('a') !== undefined);
      tier.set('c', entry);
      assert.equal(tier.peek('a') !== undefined, use === 'get', `${use}, empty ${empty}`);
      assert.equal(tier.peek('b') !== undefined, use === 'peek', `${use}, empty ${empty}`);
    }
  }
});

const named = (sieve: Sieve<string>): string => [...sieve.keys()].join('');

test('used keys come first, then the others, newest first in both', () => {
  const sieve = sieveOf('abcdef');
  for (const key of 'bde') sieve.get(key);
  sieve.peek('a');
  assert.equal(named(sieve), 'edbfca');
  assert.equal(named(sieve), 'edbfca', 'a walk does not count as a use');
  assert.equal(named(sieveOf('')), '');
});

test('a key that is removed during a walk is not yielded, and the walk continues', () => {
  for (const used of ['', 'abcdef']) {
    const sieve = sieveOf('abcdef');
    for (const key of used) sieve.get(key);
    const seen: string[] = [];
    for (const key of sieve.keys()) {
      seen.push(key);
      if (key === 'e') for (const gone of 'edc') sieve.delete(gone);
    }
    assert.equal(seen.join(''), 'feba');
  }
});

test('a walk whose current key is evicted, and then its neighbours, still ends', () => {
  const sieve = sieveOf('abc', 3);
  const walk = sieve.keys()[Symbol.iterator]();
  assert.equal(walk.next().value, 'c');
  for (const key of 'defghi') sieve.set(key, key, 1);
  const rest = [...{ [Symbol.iterator]: () => walk }];
  assert.deepEqual(rest, [], 'all older keys are gone, and new keys need not be yielded');
});

test('a key that is first used during a walk is not left out, and two walks do not disturb each other', () => {
  const sieve = sieveOf('abcdef');
  sieve.get('a');
  const one = sieve.keys()[Symbol.iterator]();
  const seen = [one.next().value];
  assert.deepEqual(seen, ['a'], 'f–b were skipped as unused');
  for (const key of 'ca') sieve.get(key);
  assert.equal(named(sieve), 'cafedb');
  for (let next = one.next(); !next.done; next = one.next()) seen.push(next.value);
  assert.equal(seen.join(''), 'afedcb');
});

test('after any operations during a walk, all keys that stay are yielded', () => {
  const random = seededRandom(3);
  for (let round = 0; round < 200; round += 1) {
    const sieve = createSieve<number>(40);
    for (let i = 0; i < 40; i += 1) sieve.set(`k${i}`, i, 1);
    for (let i = 0; i < 20; i += 1) sieve.get(`k${Math.floor(40 * random())}`);
    const stays = new Set(sieve.keys());
    const seen = new Set<string>();
    for (const key of sieve.keys()) {
      seen.add(key);
      const other = `k${Math.floor(60 * random())}`;
      const what = random();
      if (what < 0.3) sieve.get(other);
      else if (what < 0.45) sieve.delete(other);
      else if (what < 0.65) sieve.set(other, 0, 1);
      for (const each of stays) if (sieve.peek(each) === undefined) stays.delete(each);
    }
    for (const key of stays) assert.ok(seen.has(key), `${key}, round ${round}`);
  }
});

test('the memory tier yields pages with results before pages without', () => {
  const clock = createFakeClock();
  const tier = createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 20 });
  for (const key of ['a', 'none', 'b']) tier.set(key, entryOf(clock, { empty: key === 'none' }));
  tier.get('none');
  tier.get('a');
  assert.deepEqual([...tier.keys()], ['a', 'b', 'none']);
});

test('a full tier admits a page of the store at its second sight, and a page that it holds or has room for at once', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock, { body: Buffer.alloc(4000) });
  const tier = createMemoryTier({ maxBytes: 10 * (entry.encoded.length + ENTRY_OVERHEAD_BYTES), emptyMaxBytes: 1 });
  for (let n = 0; n < 10; n += 1) {
    assert.ok(tier.admits(`k${n}`, entry), 'there is room');
    tier.set(`k${n}`, entry);
  }
  assert.ok(tier.admits('k3', entry), 'a key that it holds');
  assert.equal(tier.admits('new', entry), false);
  assert.ok(tier.admits('new', entry));
  tier.delete('k3');
  assert.ok(tier.admits('other', entry), 'there is room again');
});

test('the memory of refused keys is short: a key whose next use is far away stays refused', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock, { body: Buffer.alloc(4000) });
  const tier = createMemoryTier({ maxBytes: 10 * (entry.encoded.length + ENTRY_OVERHEAD_BYTES), emptyMaxBytes: 1 });
  for (let n = 0; n < 10; n += 1) tier.set(`k${n}`, entry);
  let admitted = 0;
  for (let n = 0; n < 20_000; n += 1) if (tier.admits(`cycle ${n % 4000}`, entry)) admitted += 1;
  assert.ok(admitted < 200, `${admitted} of 20,000`);
});

test('a miss of a key that was evicted is a ghost hit once, and a miss of any other key is none', () => {
  const clock = createFakeClock();
  for (const empty of [false, true]) {
    const entry = entryOf(clock, { empty });
    const roomForTwo = 2 * (entry.encoded.length + ENTRY_OVERHEAD_BYTES);
    const tier = createMemoryTier({ maxBytes: roomForTwo, emptyMaxBytes: roomForTwo });
    for (const key of ['a', 'b', 'c']) tier.set(key, entry);
    assert.equal(tier.peek('a'), undefined, 'a is evicted');
    for (const key of ['b', 'c', 'never']) tier.get(key);
    tier.delete('b');
    tier.get('b');
    assert.equal(tier.usage().ghostHits, 0, `empty ${empty}`);
    tier.get('a');
    tier.get('a');
    assert.equal(tier.usage().ghostHits, 1, `empty ${empty}`);
  }
});

test('traffic over a little more keys than fit has many ghost hits, and over far more keys only a few', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock, { body: Buffer.alloc(4000) });
  const share = (keys: number): number => {
    const random = seededRandom(7);
    const tier = createMemoryTier({ maxBytes: 400 * (entry.encoded.length + ENTRY_OVERHEAD_BYTES), emptyMaxBytes: 1 });
    let misses = 0;
    for (let n = 0; n < 20_000; n += 1) {
      const key = `key ${Math.floor(keys * random())}`;
      if (tier.get(key) !== undefined) continue;
      misses += 1;
      tier.set(key, entry);
    }
    return tier.usage().ghostHits / misses;
  };
  assert.ok(share(600) > 0.5, `${share(600)}`);
  assert.ok(share(20_000) < 0.05, `${share(20_000)}`);
});
