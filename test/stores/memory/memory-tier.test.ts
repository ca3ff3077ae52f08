import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import {
  createMemoryTier,
  createSieve,
  ENTRY_OVERHEAD_BYTES,
  type Sieve,
} from '../../../src/stores/memory/memory-tier.ts';
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

const ALL = 'abcdefghij';
const heldIn = (sieve: Sieve<string>): string => [...ALL].filter((key) => sieve.peek(key) !== undefined).join('');

function sieveOf(keys: string, maxBytes = keys.length): Sieve<string> {
  const sieve = createSieve<string>(maxBytes);
  for (const key of keys) sieve.set(key, key, 1);
  return sieve;
}

test('the oldest that was not used goes first', () => {
  const sieve = sieveOf('abc');
  sieve.get('a');
  sieve.set('d', 'd', 1);
  assert.equal(heldIn(sieve), 'acd');
});

test('the hand goes on from where it stopped, and is kind to the used only once', () => {
  const sieve = sieveOf('abcd');
  sieve.get('a');
  sieve.set('e', 'e', 1);
  assert.equal(heldIn(sieve), 'acde');
  sieve.set('f', 'f', 1);
  assert.equal(heldIn(sieve), 'adef', 'c, where the hand stands, and not a, which it has passed');
  for (const key of 'ghi') sieve.set(key, key, 1);
  assert.ok(!heldIn(sieve).includes('d'));
});

test('deleting the one under the hand moves the hand to the next, and later evictions add up', () => {
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

test('deleting the newest under the hand starts the hand again from the oldest', () => {
  const sieve = sieveOf('abc');
  for (const key of 'ab') sieve.get(key);
  sieve.set('d', 'd', 1);
  assert.equal(heldIn(sieve), 'abd', 'c went, and the hand ran off the end');
  sieve.get('b');
  sieve.set('e', 'e', 1);
  assert.equal(heldIn(sieve), 'bde');
  for (const key of 'bde') sieve.delete(key);
  assert.deepEqual([sieve.size(), sieve.bytes()], [0, 0]);
  for (const key of 'fghi') sieve.set(key, key, 1);
  assert.equal(heldIn(sieve), 'ghi');
});

test('overwriting counts as a use', () => {
  const sieve = sieveOf('abc');
  sieve.set('a', 'again', 1);
  sieve.set('d', 'd', 1);
  assert.equal(heldIn(sieve), 'acd');
  assert.equal(sieve.peek('a'), 'again');
});

test('a larger value for a known key makes room among the others', () => {
  const sieve = sieveOf('abc');
  sieve.set('a', 'again', 2);
  assert.deepEqual([heldIn(sieve), sieve.bytes()], ['ac', 3]);
});

test('peeking does not count as a use', () => {
  const sieve = sieveOf('abc');
  sieve.peek('a');
  sieve.set('d', 'd', 1);
  assert.equal(heldIn(sieve), 'bcd');
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

test('the used come first, then the others, each newest first', () => {
  const sieve = sieveOf('abcdef');
  for (const key of 'bde') sieve.get(key);
  sieve.peek('a');
  assert.equal(named(sieve), 'edbfca');
  assert.equal(named(sieve), 'edbfca', 'walking is no use');
  assert.equal(named(sieveOf('')), '');
});

test('what leaves under a walk is not named, and the walk goes on', () => {
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

test('a walk that stands on what is evicted, and on what is evicted after it, still ends', () => {
  const sieve = sieveOf('abc', 3);
  const walk = sieve.keys()[Symbol.iterator]();
  assert.equal(walk.next().value, 'c');
  for (const key of 'defghi') sieve.set(key, key, 1);
  const rest = [...{ [Symbol.iterator]: () => walk }];
  assert.deepEqual(rest, [], 'all that was older has gone, and newcomers need not be named');
});

test('what is first used while a walk is under way is not left out, and two walks do not disturb each other', () => {
  const sieve = sieveOf('abcdef');
  sieve.get('a');
  const one = sieve.keys()[Symbol.iterator]();
  const seen = [one.next().value];
  assert.deepEqual(seen, ['a'], 'f–b were passed over, unused');
  for (const key of 'ca') sieve.get(key);
  assert.equal(named(sieve), 'cafedb');
  for (let next = one.next(); !next.done; next = one.next()) seen.push(next.value);
  assert.equal(seen.join(''), 'afedcb');
});

test('whatever happens meanwhile, all that stays is named', () => {
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

test('the memory tier names pages with results before those without', () => {
  const clock = createFakeClock();
  const tier = createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 20 });
  for (const key of ['a', 'none', 'b']) tier.set(key, entryOf(clock, { empty: key === 'none' }));
  tier.get('none');
  tier.get('a');
  assert.deepEqual([...tier.keys()], ['a', 'b', 'none']);
});
