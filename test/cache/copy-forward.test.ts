import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntryParts } from '../../src/cache/codec.ts';
import { storedForMs } from '../../src/cache/entry.ts';
import type { EntryRules, EntryVerdict } from '../../src/cache/invalidation.ts';
import type { SeedItem } from '../../src/cache/store.ts';
import { createTiers } from '../../src/cache/tiers.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf, fromStore, LONG_LIVED } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { createFakeStore, readingFrom } from '../fakes/store.ts';

const NAME = { key: 'k', storeName: 'sc1:goods:{k}', canonical: 'goods@x?q=кроссовки', bucket: 1 };

/** The copies after one read of a page that only the old store of a cut-over has. */
async function copiesOf(parts: Partial<EntryParts> & { readonly ageMs?: number }, rules: EntryRules = unflushed) {
  const clock = createFakeClock();
  const { ageMs = 0, ...own } = parts;
  const entry = entryOf(clock, { generation: rules.generation(), ...own });
  clock.advance(ageMs);
  const copies: SeedItem[] = [];
  const tiers = createTiers({
    ...{ domain: 'goods', storeDeadlineMs: 50, maxEntryBytes: 1 << 16, lifetimes: LONG_LIVED, rules, clock },
    memory: createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 }),
    store: {
      ...createFakeStore({ clock }),
      read: readingFrom(async () => ({ kind: 'value', value: Buffer.from(entry.encoded), behind: true })),
      seedMany: async (items) => {
        copies.push(...items);
        return items.map(() => ({ kind: 'stored' }));
      },
    },
    observe: () => {},
  });
  const found = await fromStore(tiers, NAME);
  await nextTurn();
  return { found, copies, entry, clock };
}

const judging = (verdict: EntryVerdict): EntryRules => ({ ...unflushed, judge: () => verdict });

test('a page of the old store is copied to the new one unchanged, for the rest of its life', async () => {
  const { found, copies, entry, clock } = await copiesOf({ ageMs: 7000 });
  assert.equal(found.kind, 'found');
  const [copy] = copies;
  assert.deepEqual(copy?.value, entry.encoded, 'with its generation and the time of its computation');
  assert.equal(copy?.ttlMs, storedForMs(entry, clock.monotonicMs()));
});

test('a stale page is copied too, because it may still be served', async () => {
  const { copies } = await copiesOf({ freshForMs: 1000, revalidateForMs: 60_000, errorForMs: 0, ageMs: 2000 });
  assert.equal(copies.length, 1);
});

test('a page below a floor, a purged, a suppressed and an expired one is not copied', async () => {
  for (const verdict of ['flushed', 'suppressed'] as const) {
    const { found, copies } = await copiesOf({}, judging(verdict));
    assert.deepEqual([found.kind, copies], ['missed', []], verdict);
  }
  const { copies } = await copiesOf({ freshForMs: 1000, revalidateForMs: 1000, errorForMs: 0, ageMs: 5000 });
  assert.deepEqual(copies, []);
});

test('a page of a generation that no document has is served and not copied', async () => {
  const { found, copies } = await copiesOf({ generation: unflushed.generation() + 1 });
  assert.deepEqual([found.kind, copies], ['found', []]);
});
