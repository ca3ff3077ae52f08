import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Entry, storedForMs } from '../../src/cache/entry.ts';
import type { CacheEvent } from '../../src/cache/events.ts';
import type { EntryRules } from '../../src/cache/invalidation.ts';
import type { MemoryTier } from '../../src/cache/memory.ts';
import type { StoreRead } from '../../src/cache/store.ts';
import { createTiers, type Tiers } from '../../src/cache/tiers.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';
import { entryOf, fromStore, LONG_LIVED } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { createFakeStore, readingFrom } from '../fakes/store.ts';

const NAME = { key: 'k', storeName: 'sc1:goods:{k}', canonical: 'goods@x?q=кроссовки', bucket: 1 };

interface Harness {
  readonly tiers: Tiers;
  readonly memory: MemoryTier;
  readonly clock: FakeClock;
  readonly events: CacheEvent[];
  /** The store's reply to the next reads. */
  reads: StoreRead;
}

function harness(rules: EntryRules = unflushed): Harness {
  const clock = createFakeClock();
  const memory = createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 });
  const events: CacheEvent[] = [];
  const made: Omit<Harness, 'tiers'> = { memory, clock, events, reads: { kind: 'absent' } };
  const tiers = createTiers({
    domain: 'goods',
    memory,
    store: {
      ...createFakeStore({ clock }),
      read: readingFrom(async () => made.reads),
      readMany: async (names) => names.map(() => made.reads),
    },
    storeDeadlineMs: 50,
    maxEntryBytes: 1 << 16,
    lifetimes: LONG_LIVED,
    rules,
    clock,
    observe: (event) => events.push(event),
  });
  return Object.assign(made, { tiers });
}

const LIVES = { freshForMs: 1000, revalidateForMs: 500, errorForMs: 2000 };
const page = (clock: FakeClock, body: string, parts: Parameters<typeof entryOf>[1] = {}): Entry =>
  entryOf(clock, { ...LIVES, ...parts, body: Buffer.from(body) });
const heldIn = ({ memory }: Harness): string | undefined => memory.peek('k')?.body.toString();
const put = (made: Harness, body: string, parts: Parameters<typeof entryOf>[1] = {}) =>
  made.tiers.set(NAME, page(made.clock, body, parts), { storeIsUp: true });
const value = (entry: Entry): StoreRead => ({ kind: 'value', value: Buffer.from(entry.encoded) });

interface Written {
  /** Made 10 ms before the held page. */
  readonly older?: true;
  readonly degraded?: true;
  readonly freshForMs?: number;
}
const LONG = { freshForMs: 100_000 };

/** A page is held, and another one comes after this time. */
for (const [fact, held, afterMs, comes, isReplaced] of [
  ['an older page does not replace a newer one while both are fresh', {}, 0, { older: true }, false],
  ['an older page does not replace a newer one when neither is fresh', {}, 1100, { older: true }, false],
  ['a page of the same age replaces the held one', {}, 0, {}, true],
  ['a newer page replaces an older one', {}, 10, {}, true],
  ['a partial page replaces no fresh whole page', {}, 10, { degraded: true }, false],
  ['a partial page replaces no stale whole page', {}, 1010, { degraded: true }, false],
  ['a partial page replaces no whole page of the stale-if-error window', {}, 2910, { degraded: true }, false],
  ['a partial page replaces a whole one that has expired', {}, 3000, { degraded: true }, true],
  ['a partial page is replaced by a whole page, even an older one', { degraded: true }, 0, { older: true }, true],
  ['an older page replaces a newer one when it alone is fresh', {}, 1100, { older: true, ...LONG }, true],
  ['an older page replaces a newer one that has expired', {}, 5000, { older: true, ...LONG }, true],
] satisfies [string, Written, number, Written, boolean][]) {
  test(`${fact} in L1`, () => {
    const made = harness();
    const { older, ...parts }: Written = comes;
    const early = page(made.clock, 'coming', parts);
    made.clock.advance(10);
    put(made, 'held', held);
    made.clock.advance(afterMs);
    const coming = older ? early : page(made.clock, 'coming', parts);
    assert.equal(made.tiers.set(NAME, coming, { storeIsUp: true }).l1, isReplaced);
    assert.equal(heldIn(made), isReplaced ? 'coming' : 'held');
  });
}

test('an older page from the store does not replace the newer one in L1', async () => {
  const made = harness();
  made.reads = value(page(made.clock, 'older'));
  made.clock.advance(10);
  put(made, 'newer');
  await fromStore(made.tiers, NAME);
  assert.equal(heldIn(made), 'newer');
});

test('a partial page replaces a suppressed whole page, and no whole page that a drill has flushed', () => {
  for (const reason of ['flushed', 'suppressed'] as const) {
    let decided = true;
    const made = harness({ ...unflushed, judge: (entry) => (decided && !entry.degraded ? reason : 'whole') });
    put(made, 'whole');
    assert.deepEqual(made.tiers.fromMemory(NAME), { kind: 'missed', reason });
    put(made, 'partial', { degraded: true });
    decided = false;
    assert.equal(heldIn(made), reason === 'flushed' ? 'whole' : 'partial', reason);
  }
});

test('a page with a deleted document is a miss, and an older page replaces it', () => {
  const made = harness({ ...unflushed, judge: (entry) => (`${entry.body}`.includes('deleted') ? 'deleted' : 'whole') });
  put(made, 'deleted');
  assert.deepEqual(made.tiers.fromMemory(NAME), { kind: 'missed', reason: 'deleted' });
  put(made, 'refreshed', { createdAtMs: made.clock.wallMs() - 100 });
  assert.equal(heldIn(made), 'refreshed');
});

test('a changed page is found for when the engine fails, with its reason, and expires as usual', () => {
  const made = harness({ ...unflushed, judge: (entry) => (`${entry.body}`.includes('changed') ? 'changed' : 'whole') });
  put(made, 'changed');
  const found = made.tiers.fromMemory(NAME);
  assert.ok(found.kind === 'found' && found.freshness === 'stale-if-error' && found.reason === 'changed');
  made.clock.advance(4000);
  assert.deepEqual(made.tiers.fromMemory(NAME), { kind: 'missed', reason: 'expired' });
  put(made, 'changed');
  put(made, 'refreshed');
  assert.equal(heldIn(made), 'refreshed');
});

test('a partial page replaces a flushed one that has expired', () => {
  const made = harness({ ...unflushed, judge: (entry) => (entry.degraded ? 'whole' : 'flushed') });
  put(made, 'whole');
  made.clock.advance(3000);
  put(made, 'partial', { degraded: true });
  assert.equal(heldIn(made), 'partial');
});

test('an outdated page of the stale-if-error window stays in that window', () => {
  const made = harness({ ...unflushed, judge: () => 'outdated' });
  put(made, 'whole');
  made.clock.advance(1600);
  const found = made.tiers.fromMemory(NAME);
  assert.equal(found.kind === 'found' && found.freshness, 'stale-if-error');
});

test('an outdated page is stale while it would be fresh, expires as usual, and is replaced by any newer page', () => {
  const decided = new Set<number>();
  const made = harness({ ...unflushed, judge: ({ generation }) => (decided.has(generation) ? 'outdated' : 'whole') });
  const old = page(made.clock, 'old', { generation: 1 });
  made.tiers.set(NAME, old, { storeIsUp: true });
  decided.add(1);
  const stale = made.tiers.fromMemory(NAME);
  assert.equal(stale.kind === 'found' && stale.freshness, 'stale');
  made.clock.advance(10);
  put(made, 'new', { generation: 2 });
  made.tiers.set(NAME, old, { storeIsUp: true });
  assert.equal(heldIn(made), 'new');
  decided.add(2);
  made.clock.advance(10_000);
  assert.deepEqual(made.tiers.fromMemory(NAME), { kind: 'missed', reason: 'expired' });
});

test('a stale entry of the store is found as stale and put into L1', async () => {
  const made = harness();
  made.reads = value(page(made.clock, 'stale'));
  made.clock.advance(1200);
  const found = await fromStore(made.tiers, NAME);
  assert.ok(found.kind === 'found' && found.freshness === 'stale');
  assert.equal(heldIn(made), 'stale');
});

test('an expired or refused entry of the store is not put into L1', async () => {
  const expired = harness();
  expired.reads = value(page(expired.clock, 'expired'));
  expired.clock.advance(3000);
  assert.deepEqual(await fromStore(expired.tiers, NAME), { kind: 'missed', reason: 'expired' });
  assert.equal(heldIn(expired), undefined);
  const flushed = harness({ ...unflushed, judge: () => 'flushed' });
  flushed.reads = value(page(flushed.clock, 'flushed'));
  assert.deepEqual(await flushed.tiers.fromStoreMany([NAME]), [{ kind: 'missed', reason: 'flushed' }]);
  assert.equal(heldIn(flushed), undefined);
});

test('a late entry ends the wait only when it is fresh; a stale entry is put into L1', async () => {
  for (const [ageMs, taken] of [
    [10, true],
    [1200, false],
    [1600, false],
  ] as const) {
    const made = harness();
    const late = Promise.resolve(Buffer.from(page(made.clock, 'late').encoded));
    made.reads = { kind: 'fault', fault: 'store-slow', late };
    made.clock.advance(ageMs);
    const lookup = await fromStore(made.tiers, NAME);
    assert.ok(lookup.kind === 'missed' && lookup.reason === 'store-slow');
    assert.equal((await lookup.late)?.body.toString(), taken ? 'late' : undefined, `${ageMs} ms`);
    assert.equal(heldIn(made), 'late');
  }
});

test('a value that is a view of a larger buffer is copied before L1 keeps it', async () => {
  const made = harness();
  const { encoded } = page(made.clock, 'view');
  const socket = Buffer.alloc(64 * 1024);
  encoded.copy(socket, 100);
  const view = socket.subarray(100, 100 + encoded.length);
  made.reads = { kind: 'value', value: view };
  const found = await fromStore(made.tiers, NAME);
  assert.ok(found.kind === 'found');
  socket.fill(0);
  for (const entry of [found.entry, made.memory.peek('k')]) {
    assert.ok(entry !== undefined);
    assert.equal(entry.encoded.buffer.byteLength, entry.encoded.length);
    assert.equal(entry.body.buffer, entry.encoded.buffer);
    assert.equal(entry.body.toString(), 'view');
  }
});

test('a late value that is a view of a larger buffer is copied too', async () => {
  const made = harness();
  const { encoded } = page(made.clock, 'view');
  const socket = Buffer.concat([encoded, Buffer.alloc(5000)]);
  const late = Promise.resolve(socket.subarray(0, encoded.length));
  made.reads = { kind: 'fault', fault: 'store-slow', late };
  const lookup = await fromStore(made.tiers, NAME);
  assert.ok(lookup.kind === 'missed');
  const entry = await lookup.late;
  assert.equal(entry?.encoded.buffer.byteLength, encoded.length);
});

test('a store keeps an entry to the end of the revalidation window when that is the longer one', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock, { freshForMs: 100, revalidateForMs: 5000, errorForMs: 500 });
  assert.equal(storedForMs(entry, clock.monotonicMs()), 5100);
  clock.advance(200);
  assert.equal(storedForMs(entry, clock.monotonicMs()), 4900);
});

test('a full L1 takes an entry of a search at its second sight, and an entry of a refresh at once', async () => {
  const made = harness();
  const large = page(made.clock, 'x'.repeat(50_000));
  for (let n = 0; n < 30; n += 1) made.memory.set(`other ${n}`, large);
  made.reads = value(large);
  const search = async (name: typeof NAME) => {
    const [lookup] = await made.tiers.fromStoreMany([name]);
    return [lookup?.kind, made.memory.peek(name.key) !== undefined];
  };
  const once = async (): Promise<unknown> => (await fromStore(made.tiers, NAME)).kind;
  assert.deepEqual([await once(), made.memory.peek('k')], ['found', undefined]);
  assert.equal(await once(), 'found');
  assert.notEqual(made.memory.peek('k'), undefined);

  const second = { ...NAME, key: 'second' };
  assert.deepEqual(await search(second), ['found', false]);
  assert.deepEqual(await search(second), ['found', true]);

  const third = { ...NAME, key: 'third' };
  const read = await fromStore(made.tiers, third);
  if (read.kind === 'found') made.tiers.hold(third, read.entry);
  assert.notEqual(made.memory.peek('third'), undefined);
});

test('a refresh that shares the read of a search still has its entry in L1', async () => {
  const made = harness();
  const large = page(made.clock, 'x'.repeat(50_000));
  for (let n = 0; n < 30; n += 1) made.memory.set(`other ${n}`, large);
  made.reads = value(large);
  const searched = fromStore(made.tiers, NAME);
  const refreshed = await fromStore(made.tiers, NAME);
  if (refreshed.kind === 'found') made.tiers.hold(NAME, refreshed.entry);
  assert.equal((await searched).kind, 'found');
  assert.notEqual(made.memory.peek('k'), undefined);
});

test('an error while a value is judged ends the read of every caller with that error', async () => {
  const made = harness({ ...unflushed, judge: () => assert.fail('judged') });
  made.reads = value(page(made.clock, 'page'));
  const both = [fromStore(made.tiers, NAME), fromStore(made.tiers, NAME)];
  for (const each of both) await assert.rejects(each, /judged/);
  await assert.rejects(fromStore(made.tiers, NAME), /judged/, 'the key is free again');
});
