import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryTier, createSieve, type Sieve } from '../../../src/stores/memory/memory-tier.ts';
import { createFakeClock, seededRandom } from '../../fakes/clock.ts';
import { entryOf } from '../../fakes/entry.ts';

function sieveOf(keys: string, maxBytes = 100): Sieve<string> {
  const sieve = createSieve<string>(maxBytes);
  for (const key of keys) sieve.set(key, key, 1);
  return sieve;
}

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
