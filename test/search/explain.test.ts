import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from '../../src/cache/codec.ts';
import type { PageChange } from '../../src/cache/entry.ts';
import type { EntryRules } from '../../src/cache/invalidation.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { type Explanation, explain, type TierExplanation } from '../../src/search/explain.ts';
import { prepareSearch } from '../../src/search/key.ts';
import type { MissPath } from '../../src/search/miss-path.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf, LONG_LIVED } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { createFakeStore } from '../fakes/store.ts';
import { plain } from '../plain.ts';

const DOMAIN: SearchDomain = { name: 'goods', attributes: [], context: [], answerProfile: 'p' };
const PARAMETERS = { pairs: [['q', 'диван']] } as const;
const LIVES = { freshForMs: 100_000, revalidateForMs: 20_000, errorForMs: 600_000 };

function harness() {
  const clock = createFakeClock();
  const store = createFakeStore({ clock });
  const memory = createMemoryTier({ maxBytes: 1 << 20, emptyMaxBytes: 1 << 16 });
  const name = prepareSearch(PARAMETERS, [DOMAIN]);
  const entry = entryOf(clock, { ...LIVES, canonical: name.canonical, generation: 3, costMs: 40 });
  const made = {
    clock,
    store,
    memory,
    name,
    entry,
    rules: unflushed as EntryRules,
    lastMiss: undefined as ReturnType<MissPath['lastMiss']>,
    explain: (alone = false): Promise<Explanation> =>
      explain(PARAMETERS, {
        domain: DOMAIN,
        memory,
        clock,
        rules: made.rules,
        storeDeadlineMs: 50,
        lifetimes: LONG_LIVED,
        maxEntryBytes: 1 << 16,
        store: alone ? undefined : store,
        lastMiss: (key) => (key === name.key ? made.lastMiss : undefined),
      }),
    states: async (): Promise<readonly TierExplanation['state'][]> =>
      (await made.explain()).tiers.map(({ state }) => state),
  };
  return made;
}

test('a search that was never asked is absent from both tiers, and has no last miss', async () => {
  const { explain: told } = harness();
  const { tiers, ...rest } = await told();
  assert.deepEqual(tiers, [
    { tier: 'l1', state: 'absent' },
    { tier: 'l2', state: 'absent' },
  ]);
  assert.equal(rest.lastMiss, undefined);
  assert.deepEqual((await told(true)).tiers, [{ tier: 'l1', state: 'absent' }], 'without a store');
});

test('an entry is shown with its age, its remaining life and its cost, in each tier that holds it', async () => {
  const { memory, store, name, entry, clock, explain: told } = harness();
  await store.write(name.storeName, entry.encoded, 3_600_000);
  clock.advance(30_000);
  const { tiers } = await told();
  assert.deepEqual(tiers[0], { tier: 'l1', state: 'absent' });
  assert.deepEqual(plain(tiers[1]), {
    tier: 'l2',
    state: 'fresh',
    bytes: entry.encoded.length,
    coding: 'identity',
    ageSeconds: 30,
    freshForSeconds: 70,
    generation: 3,
    engineCostMs: 40,
    etag: entry.etag,
    results: entry.fingerprints.length,
  });
  memory.set(name.key, entry);
  assert.deepEqual((await told()).tiers[0], { ...tiers[1], tier: 'l1' });
});

test('as its age grows an entry is fresh, then stale, then in its stale-if-error window (`failing`), then expired (`expired`)', async () => {
  const { memory, name, entry, clock, states } = harness();
  memory.set(name.key, entry);
  const seen: string[] = [];
  for (const stepMs of [99_999, 1, 20_000, 580_000]) {
    clock.advance(stepMs);
    seen.push(`${(await states())[0]}`);
  }
  assert.deepEqual(seen, ['fresh', 'stale', 'failing', 'expired']);
});

test('decisions of operators are named; an outdated entry is stale while it would be fresh', async () => {
  const made = harness();
  made.memory.set(made.name.key, made.entry);
  const seen: string[] = [];
  for (const verdict of ['flushed', 'suppressed', 'outdated', 'whole'] as const) {
    made.rules = { ...unflushed, judge: () => verdict };
    seen.push(`${(await made.states())[0]}`);
  }
  assert.deepEqual(seen, ['flushed', 'suppressed', 'stale', 'fresh']);
});

test('the change that made a page stale is shown, with the id of a document on the page', async () => {
  const made = harness();
  const page = { results: [{ id: '122' }, { id: '123' }] };
  const held = { ...made.entry, body: Buffer.from(JSON.stringify(page)) };
  const show = async (change: PageChange) => {
    made.memory.set(made.name.key, { ...held, feed: { position: 1, judged: 1, change, interest: undefined } });
    return plain((await made.explain()).tiers[0]?.change);
  };
  made.rules = { ...unflushed, judge: () => 'outdated', secondsSince: (position) => position * 4 };
  const [onPage, elsewhere] = [fingerprint('123'), fingerprint('9')];
  const changed = await show({ kind: 'changed', fingerprint: onPage, position: 3 });
  assert.deepEqual(changed, { kind: 'changed', secondsAgo: 12, document: '123' });
  const entered = await show({ kind: 'entered', fingerprint: elsewhere, position: 2 });
  assert.deepEqual(entered, { kind: 'entered', secondsAgo: 8 });
  assert.deepEqual(await show({ kind: 'unknown' }), { kind: 'unknown' });
});

test('a store fault and bytes that are no entry are shown as such', async () => {
  const { store, name, explain: told, states } = harness();
  await store.write(name.storeName, Buffer.from('nonsense'), 60_000);
  assert.deepEqual((await told()).tiers[1], { tier: 'l2', state: 'corrupt', bytes: 8 });
  store.meet({ kind: 'fault', fault: 'node-open' });
  assert.deepEqual((await told()).tiers[1], { tier: 'l2', state: 'fault', detail: 'node-open' });
  store.meet({ kind: 'none' });
  assert.deepEqual(await states(), ['absent', 'corrupt']);
});

test('the last miss is shown with its reason and its age', async () => {
  const made = harness();
  made.lastMiss = { reason: 'store-slow', atMs: made.clock.monotonicMs() };
  made.clock.advance(42_000);
  assert.deepEqual((await made.explain()).lastMiss, { reason: 'store-slow', secondsAgo: 42 });
});
