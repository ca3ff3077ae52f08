import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createMemoryTier,
  createSieve,
  ENTRY_OVERHEAD_BYTES,
  type Sieve,
} from '../../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { entryOf } from '../../fakes/entry.ts';

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
