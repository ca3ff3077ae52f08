import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, LifetimePolicy } from '../../src/cache/entry.ts';
import type { StoreRead } from '../../src/cache/store.ts';
import { createTiers, type Lookup } from '../../src/cache/tiers.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf, fromStore } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { createFakeStore, readingFrom } from '../fakes/store.ts';

const NAME = { key: 'k', storeName: 'sc1:goods:{k}', canonical: 'goods@x?q=кроссовки', bucket: 1 };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LONGEST_MS = 0xffff_ffff;
const POLICY: LifetimePolicy = {
  ttlMs: MINUTE_MS,
  staleWhileRevalidateMs: 10_000,
  staleIfErrorMs: HOUR_MS,
  emptyTtlMs: 30_000,
  degradedTtlMs: 5000,
  jitter: 0.1,
};
const MAX_ENTRY_BYTES = 4096;

/** Processes of one domain that read one stored value. */
function harness() {
  const clock = createFakeClock();
  const memory = createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 });
  let stored: StoreRead = { kind: 'absent' };
  const tiersWith = (lifetimes: LifetimePolicy, to = memory) =>
    createTiers({
      domain: 'goods',
      memory: to,
      store: {
        ...createFakeStore({ clock }),
        read: readingFrom(async () => stored),
        readMany: async (names) => names.map(() => stored),
      },
      storeDeadlineMs: 50,
      maxEntryBytes: MAX_ENTRY_BYTES,
      lifetimes,
      rules: unflushed,
      clock,
      observe: () => {},
    });
  return {
    clock,
    memory,
    tiersWith,
    tiers: tiersWith(POLICY),
    /** A new process with an empty L1. */
    readByNewProcess: (lifetimes = POLICY): Promise<Lookup> =>
      fromStore(tiersWith(lifetimes, createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 })), NAME),
    plant: (entry: Entry) => {
      stored = { kind: 'value', value: Buffer.from(entry.encoded) };
    },
    plantBytes: (value: Buffer) => {
      stored = { kind: 'value', value };
    },
  };
}

const wordOf = (lookup: Lookup): string => (lookup.kind === 'found' ? lookup.freshness : lookup.reason);
const LONG = { freshForMs: LONGEST_MS, revalidateForMs: LONGEST_MS, errorForMs: LONGEST_MS };

test('an entry that claims a life of 49 days lives as long as the policy of its domain allows', async () => {
  const { clock, plant, readByNewProcess } = harness();
  plant(entryOf(clock, LONG));
  const seen: string[] = [];
  for (const stepMs of [0, 65_000, 2000, 10_000, HOUR_MS - 12_000, 2000]) {
    clock.advance(stepMs);
    seen.push(wordOf(await readByNewProcess()));
  }
  assert.deepEqual(seen, ['fresh', 'fresh', 'stale', 'stale-if-error', 'stale-if-error', 'expired']);
});

test('each lifetime is cut to the policy alone, while the others are within it', async () => {
  const within = { freshForMs: 1000, revalidateForMs: 1000, errorForMs: 1000 };
  for (const name of ['freshForMs', 'revalidateForMs', 'errorForMs'] as const) {
    const { clock, plant, readByNewProcess } = harness();
    plant(entryOf(clock, { ...within, [name]: LONGEST_MS }));
    const found = await readByNewProcess();
    assert.ok(found.kind === 'found');
    assert.ok(found.entry[name] <= HOUR_MS, name);
  }
});

test('the copy of such an entry in L1 becomes stale with the policy too', async () => {
  const { clock, tiers, plant } = harness();
  plant(entryOf(clock, LONG));
  await fromStore(tiers, NAME);
  assert.equal(wordOf(tiers.fromMemory(NAME)), 'fresh');
  clock.advance(67_000);
  assert.equal(wordOf(tiers.fromMemory(NAME)), 'stale');
});

test('an empty or partial page is cut to the lifetimes of its kind', async () => {
  for (const [parts, freshForMs] of [
    [{ empty: true }, 33_000],
    [{ degraded: true }, 5000],
  ] as const) {
    const { clock, plant, readByNewProcess } = harness();
    plant(entryOf(clock, { ...LONG, ...parts }));
    const found = await readByNewProcess();
    assert.ok(found.kind === 'found');
    assert.equal(found.entry.freshForMs, freshForMs);
  }
});

test('a shortened policy shortens stored entries at once; a lengthened policy lengthens none', async () => {
  const { clock, plant, readByNewProcess } = harness();
  plant(entryOf(clock, { freshForMs: MINUTE_MS, revalidateForMs: 8000, errorForMs: 9000 }));
  clock.advance(15_000);
  assert.equal(wordOf(await readByNewProcess({ ...POLICY, ttlMs: 10_000, jitter: 0 })), 'stale');
  const found = await readByNewProcess({ ...POLICY, ttlMs: DAY_MS });
  assert.ok(found.kind === 'found');
  assert.deepEqual(
    [found.entry.freshForMs, found.entry.revalidateForMs, found.entry.errorForMs],
    [MINUTE_MS, 8000, 9000],
  );
});

test('an entry of a clock two hours ahead is fresh; an entry of a clock further ahead is stale at every read', async () => {
  const { clock, plant, readByNewProcess } = harness();
  plant(entryOf(clock, { createdAtMs: clock.wallMs() + 2 * HOUR_MS }));
  assert.equal(wordOf(await readByNewProcess()), 'fresh');
  plant(entryOf(clock, { createdAtMs: clock.wallMs() + 365 * DAY_MS }));
  for (let day = 0; day < 3; day += 1) {
    assert.equal(wordOf(await readByNewProcess()), 'stale', `day ${day}`);
    clock.advance(DAY_MS);
  }
});

test('a value above the maximum size is a counted miss, in single reads, batches and late replies, and is not copied', async () => {
  const { clock, memory, tiers, plant, plantBytes } = harness();
  const large = entryOf(clock, { body: Buffer.alloc(MAX_ENTRY_BYTES) });
  plant(large);
  assert.equal(wordOf(await fromStore(tiers, NAME)), 'oversized');
  assert.deepEqual((await tiers.fromStoreMany([NAME])).map(wordOf), ['oversized']);
  assert.equal(wordOf(tiers.open(NAME, large.encoded)), 'oversized');
  plantBytes(Buffer.alloc(1 << 20));
  assert.equal(wordOf(await fromStore(tiers, NAME)), 'oversized', 'refused before it is decoded');
  assert.equal(memory.peek('k'), undefined);
});

test('an entry of exactly the maximum size is read', async () => {
  const { clock, plant, readByNewProcess } = harness();
  const spare = MAX_ENTRY_BYTES - entryOf(clock, { body: Buffer.alloc(0) }).encoded.length;
  plant(entryOf(clock, { body: Buffer.alloc(spare) }));
  assert.equal(wordOf(await readByNewProcess()), 'fresh');
});

test('an entry with more results than a page may have is corrupt', async () => {
  const { clock, plant, readByNewProcess } = harness();
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);
  plant(entryOf(clock, { resultIds: ids(200), body: Buffer.alloc(0) }));
  assert.equal(wordOf(await readByNewProcess()), 'fresh');
  plant(entryOf(clock, { resultIds: ids(900), body: Buffer.alloc(0) }));
  assert.equal(wordOf(await readByNewProcess()), 'corrupt');
});
