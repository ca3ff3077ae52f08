import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY_CHECKS } from '../../../../src/operations/doctor/checks/store-keys.ts';
import type { KeysFacts, NodeFacts } from '../../../../src/operations/doctor/facts.ts';
import { evidenceOf, HEALTHY_NODE, lookerOf, nodeWith, onlyOf, raisedBy, storeWindow } from '../harness.ts';

const KEYS = 'known' in HEALTHY_NODE.keys ? HEALTHY_NODE.keys.known : assert.fail();
const MIB = 2 ** 20;
const ENTRY = 'sc1:goods:{AAAAAAAAAAAAAAAAAAAAAA}';
const COUNTERS = 'sc1:goods:{popular:goods}:3';

const holding = (change: Partial<KeysFacts>): NodeFacts =>
  nodeWith({ parts: { keys: { known: { ...KEYS, ...change } } } });

/** The observation of one check, of a node with this sample. */
function seen(id: string, node: NodeFacts, store = {}) {
  return onlyOf(lookerOf(KEY_CHECKS, id)(storeWindow([HEALTHY_NODE], [node], { store })));
}
const stateOf = (...args: Parameters<typeof seen>) => seen(...args).state;

test('an empty store has no finding about its keys', () => {
  const empty = holding({ sampled: 0, total: 0, sizes: [], biggest: [], ours: 0 });
  assert.deepEqual(raisedBy(KEY_CHECKS, storeWindow([empty], [empty])), []);
});

test('every check of keys is skipped where they cannot be sampled', () => {
  const refused = nodeWith({ parts: { keys: { skipped: 'SCAN is refused' } } });
  for (const { id } of KEY_CHECKS) {
    const observation = seen(id, refused);
    assert.equal(observation.state === 'skipped' && observation.reason, 'SCAN is refused', id);
  }
});

test('keys are sampled on masters alone', () => {
  const replica = nodeWith({ role: 'replica', parts: { keys: { skipped: 'not a master' } } });
  const window = storeWindow([replica], [replica]);
  for (const { look } of KEY_CHECKS) assert.deepEqual(look(window), []);
});

// --- sizes ------------------------------------------------------------------------------------------------------------

const biggest = (...keys: readonly (readonly [string, number])[]): NodeFacts =>
  holding({ biggest: keys.map(([name, bytes]) => ({ name, type: 'string', bytes })) });

test('a value of 1 MiB is found with its name and the histogram of the sample', () => {
  const observation = seen('store-big-keys', biggest(['session', 2 * MIB], ['other:big', 5_000_000]));
  assert.equal(observation.state, 'raise');
  const evidence = evidenceOf(observation).replaceAll('\u00a0', ' ');
  assert.match(evidence, /other:big \(string, 4\.8 MiB\), session \(string, 2 MiB\)/);
  assert.match(evidence, /1,000 of 100,000 keys were sampled: 50 ≤ 1 KiB, 900 ≤ 10 KiB, 50 ≤ 100 KiB\.$/);
});

test('a value above one half of 1 MiB keeps a finding', () => {
  assert.equal(stateOf('store-big-keys', biggest(['session', 600_000])), 'hold');
  assert.equal(stateOf('store-big-keys', biggest(['session', 500_000])), 'fine');
});

test('a large page is found, the counters of serpcache are not', () => {
  assert.equal(stateOf('store-big-keys', biggest([ENTRY, MIB])), 'raise');
  assert.equal(stateOf('store-big-keys', biggest([COUNTERS, 12 * MIB])), 'fine');
  assert.doesNotMatch(evidenceOf(seen('store-big-keys', biggest([COUNTERS, 12 * MIB], ['x', MIB]))), /popular/);
});

const long = (...keys: readonly (readonly [string, number])[]): NodeFacts =>
  holding({ longest: keys.map(([name, members]) => ({ name, members, type: 'hash', bytes: 500_000 })) });

test('a hash of 10,000 fields is found, the counters of serpcache are not', () => {
  assert.match(evidenceOf(seen('store-big-collections', long(['other:hash', 20_000]))), /other:hash \(hash of 20,000/);
  assert.equal(stateOf('store-big-collections', long(['other:hash', 6000])), 'hold');
  assert.equal(stateOf('store-big-collections', long(['other:hash', 4000])), 'fine');
  assert.equal(stateOf('store-big-collections', long([COUNTERS, 10_000], ['sc1:goods:fleet', 12_000])), 'fine');
});

test('evidence from a part of the keys says how many were sampled', () => {
  const part = (change: Partial<KeysFacts>): NodeFacts => ({ ...holding(change), address: '127.0.0.1:6379' });
  const entry = { name: ENTRY, type: 'hash', bytes: 3 * MIB, members: 20_000 };
  const sample = { biggest: [entry], longest: [{ ...entry, name: 'other' }], oursWithoutExpiry: 5 };
  const many = { sizes: [{ maxBytes: MIB, count: 0 }], ...sample };
  for (const id of ['store-big-keys', 'store-big-collections', 'store-no-expiry']) {
    assert.match(evidenceOf(seen(id, part(many))), /1,000 of 100,000 keys were sampled/, id);
  }
  // Keys that expired since they were sampled.
  assert.match(evidenceOf(seen('store-big-keys', part({ ...many, total: 10 }))), /1,000 of 1,000 keys were sampled/);
});

// --- expiry and owners ------------------------------------------------------------------------------------------------

test('three entries without an expiry are found, and one keeps the finding', () => {
  assert.equal(stateOf('store-no-expiry', holding({ oursWithoutExpiry: 3 })), 'raise');
  assert.equal(stateOf('store-no-expiry', holding({ oursWithoutExpiry: 1 })), 'hold');
  assert.equal(stateOf('store-no-expiry', holding({ oursWithoutExpiry: 0 })), 'fine');
});

test('a cache is shared when a tenth of a hundred keys belong to others', () => {
  assert.equal(stateOf('store-foreign-keys', holding({ foreign: 100 })), 'raise');
  assert.equal(stateOf('store-foreign-keys', holding({ foreign: 60 })), 'hold');
  assert.equal(stateOf('store-foreign-keys', holding({ foreign: 40 })), 'fine');
  assert.equal(stateOf('store-foreign-keys', holding({ sampled: 99, foreign: 99 })), 'skipped');
});

test('expiry and owners matter on caches alone', () => {
  const window = storeWindow([HEALTHY_NODE], [holding({ foreign: 900, oursWithoutExpiry: 90 })], {
    store: { isCache: false },
  });
  for (const id of ['store-no-expiry', 'store-foreign-keys']) assert.deepEqual(lookerOf(KEY_CHECKS, id)(window), []);
});

test('without a large value in a part of the keys nobody knows of the others', () => {
  for (const id of ['store-big-keys', 'store-big-collections']) {
    const said = seen(id, holding({ seen: 500 }));
    assert.ok(said.state === 'skipped', id);
    assert.match(said.reason, /500 of 100,000 keys were seen so far/);
  }
});
