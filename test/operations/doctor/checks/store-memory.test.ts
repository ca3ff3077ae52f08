import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RedisStack, startStandalone } from '../../../../loadtest/stack/redis.ts';
import type { CheckResult } from '../../../../src/operations/doctor/check.ts';
import { KEY_CHECKS, MEMORY_CHECKS } from '../../../../src/operations/doctor/checks/store-memory.ts';
import type { KeysFacts, NodeFacts, StoreFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  adviceOf,
  BOTH,
  CONTROL,
  evidenceOf,
  HEALTHY_NODE,
  laterNode,
  lookOf,
  type NodeChange,
  nodeWith,
  raisedBy,
  seenIn,
  storeWindow,
  told,
} from '../harness.ts';
import type { Fields } from '../healthy-redis.ts';

const KEYS = told(HEALTHY_NODE.keys);
const MIB = 2 ** 20;
const ENTRY = 'sc1:goods:{AAAAAAAAAAAAAAAAAAAAAA}';
const COUNTERS = 'sc1:goods:{popular:goods}:3';

const holding = (change: Partial<KeysFacts>): NodeFacts =>
  nodeWith({ parts: { keys: { known: { ...KEYS, ...change } } } });

/** The observation of one check, of a node with this sample. */
function seen(id: string, node: NodeFacts, store = {}) {
  return seenIn(id, storeWindow([HEALTHY_NODE], [node], { store }));
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

const biggest = (...keys: readonly (readonly [string, number])[]): NodeFacts =>
  holding({ biggest: keys.map(([name, bytes]) => ({ name, type: 'string', bytes })) });

test('a value of 1 MiB is found with its name and the histogram, and one above a half keeps the finding', () => {
  const observation = seen('store-big-keys', biggest(['session', 2 * MIB], ['other:big', 5_000_000]));
  assert.equal(observation.state, 'raise');
  const evidence = evidenceOf(observation).replaceAll('\u00a0', ' ');
  assert.match(evidence, /other:big \(string, 4\.8 MiB\), session \(string, 2 MiB\)/);
  assert.match(evidence, /1,000 of 100,000 keys were sampled: 50 ≤ 1 KiB, 900 ≤ 10 KiB, 50 ≤ 100 KiB\.$/);
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
  for (const id of ['store-no-expiry', 'store-foreign-keys']) assert.deepEqual(lookOf(id)(window), []);
});

test('without a large value in a part of the keys nobody knows of the others', () => {
  for (const id of ['store-big-keys', 'store-big-collections']) {
    const said = seen(id, holding({ seen: 500 }));
    assert.ok(said.state === 'skipped', id);
    assert.match(said.reason, /500 of 100,000 keys were seen so far/);
  }
});

/** The observation of one node that does not change. */
function said(id: string, change: NodeChange, store: Partial<StoreFacts> = {}): CheckResult {
  const node = nodeWith(change);
  return seenIn(id, storeWindow([node], [laterNode(node)], { store }));
}

/** The observation of the healthy node after this growth. */
function saidOf(id: string, growth: Fields, change: NodeChange = {}, seconds = 1): CheckResult {
  const node = nodeWith(change);
  return seenIn(id, storeWindow([node], [laterNode(node, growth)], { seconds }));
}

test('a check whose figure INFO lacks is skipped, and one without earlier figures as well', () => {
  const bare = nodeWith({
    info: Object.fromEntries(Object.keys(told(HEALTHY_NODE.info)).map((name) => [name, undefined])),
    parts: { memoryAdvice: { skipped: 'MEMORY is refused' } },
  });
  const states = MEMORY_CHECKS.flatMap(({ id, look }) =>
    look(storeWindow([], [bare])).map(({ state }) => `${id} ${state}`),
  );
  assert.deepEqual(
    states,
    MEMORY_CHECKS.map(({ id }) => `${id} skipped`),
  );
});

test('a cache without maxmemory is told, with a limit for this machine', () => {
  const found = said('store-no-maxmemory', { info: { maxmemory: 0, maxmemory_policy: 'noeviction' } });
  assert.equal(found.state, 'raise');
  assert.match(evidenceOf(found), /maxmemory is 0, and 381\sMiB are used of the machine’s 23\.5\sGiB/);
  assert.match(adviceOf(found), /redis-cli -h 127\.0\.0\.1 -p 6379 CONFIG SET maxmemory 16873mb/);
  assert.match(adviceOf(found), /CONFIG SET maxmemory-policy allkeys-lru/);
  assert.equal(said('store-no-maxmemory', {}).state, 'fine');
});

test('the advice puts the policy in force before the limit', () => {
  const advice = adviceOf(said('store-no-maxmemory', { info: { maxmemory: 0, maxmemory_policy: 'noeviction' } }));
  assert.ok(advice.indexOf('maxmemory-policy') < advice.indexOf('CONFIG SET maxmemory 1'));
  const mixed = adviceOf(said('store-no-maxmemory', { info: { maxmemory: 0 } }, BOTH));
  assert.match(mixed, /^redis-cli .* CONFIG SET maxmemory-policy volatile-lru\n/);
});

test('an advised limit is above the memory in use, and a share of the machine for each store server there', () => {
  const limitOf = (used: number, count: number): string | undefined => {
    const nodes = Array.from({ length: count }, (_, at) =>
      nodeWith({ address: `10.0.0.1:700${at}`, info: { maxmemory: 0, used_memory: used, run_id: `run-${at}` } }),
    );
    const [found] = lookOf('store-no-maxmemory')(storeWindow(nodes, nodes));
    assert.ok(found);
    return /CONFIG SET maxmemory (\w+)/.exec(adviceOf(found))?.[1];
  };
  assert.equal(limitOf(400e6, 1), '16873mb');
  assert.equal(limitOf(400e6, 3), '5624mb');
  assert.equal(limitOf(7e9, 3), '6676mb');
});

test('a control store needs no limit', () => {
  const node = nodeWith({ info: { maxmemory: 0 } });
  assert.deepEqual(lookOf('store-no-maxmemory')(storeWindow([node], [node], { store: CONTROL })), []);
});

test('noeviction is wrong for a cache with a limit, eviction for the control store', () => {
  const noeviction = { info: { maxmemory_policy: 'noeviction' } };
  assert.match(evidenceOf(said('store-policy', noeviction)), /noeviction with a limit of 1\sGiB, 381\sMiB of it used/);
  assert.equal(said('store-policy', noeviction, CONTROL).state, 'fine');
  assert.match(adviceOf(said('store-policy', noeviction, BOTH)), /maxmemory-policy volatile-lru/);
  assert.match(evidenceOf(said('store-policy', {}, CONTROL)), /allkeys-lru .*: a control document may be evicted/);
  // Without a limit a policy is not in force.
  assert.equal(said('store-policy', { info: { maxmemory: 0, maxmemory_policy: 'noeviction' } }).state, 'fine');
});

test('volatile-lru suits a cache while its keys have an expiry', () => {
  const volatile = (db0: string) => said('store-policy', { info: { maxmemory_policy: 'volatile-lru', db0 } });
  assert.equal(volatile('keys=100000,expires=90000,avg_ttl=0').state, 'fine');
  assert.equal(volatile('keys=900,expires=0,avg_ttl=0').state, 'fine');
  assert.match(evidenceOf(volatile('keys=100000,expires=40000,avg_ttl=0')), /60,000 of 100,000 keys have no expiry/);
});

const written = (writes: number) => ({ cmdstat_set: writes, total_commands_processed: writes });

test('evictions are told from ten in a window, one a second and a hundredth of the writes on', () => {
  const evicted = (count: number, writes: number, seconds = 1) =>
    saidOf('store-evictions', { ...written(writes), evicted_keys: count }, {}, seconds);
  assert.match(
    evidenceOf(evicted(400, 400)),
    /400\/s keys are evicted beside 400\/s writes; 381\sMiB of 1\sGiB are used/,
  );
  assert.equal(evicted(10, 400).state, 'raise');
  assert.equal(evicted(9, 400).state, 'hold');
  assert.equal(evicted(12, 400, 15).state, 'hold');
  assert.equal(evicted(5, 400, 15).state, 'fine');
  assert.equal(evicted(20, 4000).state, 'fine');
  assert.equal(evicted(0, 400).state, 'fine');
});

test('without commandstats every eviction counts', () => {
  const bare = { info: { cmdstat_get: undefined, cmdstat_set: undefined, cmdstat_info: undefined } };
  assert.equal(saidOf('store-evictions', { evicted_keys: 20, total_commands_processed: 4000 }, bare).state, 'raise');
});

test('fragmentation counts when much memory is used and lost', () => {
  const held = (ratio: number, used = 400e6, lost = used * (ratio - 1)) =>
    said('store-fragmentation', {
      info: { mem_fragmentation_ratio: ratio, used_memory: used, mem_fragmentation_bytes: lost },
    });
  assert.match(evidenceOf(held(1.6)), /holds 610\sMiB for 381\sMiB in use \(1\.6\s×\); 229\sMiB are lost/);
  assert.equal(held(1.4).state, 'hold');
  assert.equal(held(1.2).state, 'fine');
  // A nearly empty server: its process is larger than its data.
  assert.equal(held(10, 1.2e6).state, 'fine');
  assert.equal(held(1.5, 110e6).state, 'fine');
});

let stack: RedisStack;
before(async () => {
  stack = await startStandalone({ flavour: 'redis' });
});
after(() => stack?.stop());

test('MEMORY DOCTOR of a real server becomes the names of its problems', async () => {
  const [node] = stack.nodes;
  assert.ok(node);
  const advice = async (): Promise<string> => String(await node.command('MEMORY', 'DOCTOR'));
  const saidBy = (text: string, used: number) =>
    said('store-memory-advice', { info: { used_memory: used }, parts: { memoryAdvice: { known: text } } });
  assert.equal(saidBy(await advice(), 6e6).state, 'fine');
  const used = async (): Promise<number> =>
    Number(/used_memory:(\d+)/.exec(String(await node.command('INFO', 'memory')))?.[1]);
  await node.command('SET', 'other:kept', 'x'.repeat(6_000_000));
  const gone = ['other:1', 'other:2', 'other:3'];
  for (const name of gone) await node.command('SET', name, 'x'.repeat(10_000_000));
  // The peak is taken when commands end.
  await node.command('INFO', 'memory');
  await node.command('DEL', ...gone);
  for (let at = 0; at < 50 && (await used()) > 10e6; at += 1) await node.command('PING');
  const peak = await advice();
  assert.match(peak, /\* Peak memory:/);
  const alone = saidBy(peak.replaceAll(/^\s*\* (?!Peak memory)/gm, ''), await used());
  assert.equal(alone.state, 'fine', 'a peak in the past is harmless');
  const found = saidBy(`${peak}\n * High total RSS: This instance has more`, await used());
  assert.match(evidenceOf(found), /^MEMORY DOCTOR names: [^.\n]*high total rss[^.\n]*; [\d.]+\sMiB are used\.$/);
  assert.equal(saidBy(await advice(), 2e6).state, 'fine');
});
