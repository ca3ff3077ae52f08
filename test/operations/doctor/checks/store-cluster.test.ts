import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RedisStack, startCluster } from '../../../../loadtest/stack/redis.ts';
import type { CheckResult, Window } from '../../../../src/operations/doctor/check.ts';
import { CLUSTER_CHECKS } from '../../../../src/operations/doctor/checks/store-cluster.ts';
import type { NodeFacts, StoreFacts } from '../../../../src/operations/doctor/facts.ts';
import { pluck } from '../../../pluck.ts';
import { until } from '../../../until.ts';
import {
  CONTROL,
  evidenceOf,
  laterNode,
  lookOf,
  type NodeChange,
  nodeWith,
  raisedBy,
  realNode,
  seenIn,
  statesIn,
  stillWindow,
  storeWindow,
  storeWith,
} from '../harness.ts';

const CLUSTER: Partial<StoreFacts> = { kind: 'cluster' };
const WHOLE = {
  cluster_state: 'ok',
  cluster_slots_assigned: '16384',
  cluster_slots_fail: '0',
  cluster_slots_pfail: '0',
};

function master(n: number, change: NodeChange = {}, fields: Readonly<Record<string, string>> = {}): NodeFacts {
  return nodeWith({
    address: `10.0.0.${n}:6379`,
    ...change,
    info: { run_id: `run-${n}`, ...change.info },
    parts: { cluster: { known: { ...WHOLE, ...fields } }, ...change.parts },
  });
}

const still = (nodes: readonly NodeFacts[], store: Partial<StoreFacts> = CLUSTER): Window =>
  storeWindow(nodes, nodes, { store });

test('a healthy cluster has no finding', () => {
  const nodes = [1, 2, 3].map((n) => master(n));
  const later = nodes.map((node) => laterNode(node));
  assert.deepEqual(raisedBy(CLUSTER_CHECKS, storeWindow(nodes, later, { store: CLUSTER })), []);
});

test('slots without a master are critical, seen through any node that answers', () => {
  const covered = (...fields: readonly Readonly<Record<string, string>>[]): CheckResult =>
    seenIn('store-cluster-state', still(fields.map((one, at) => master(at + 1, {}, one))));
  assert.match(
    evidenceOf(covered({}, { cluster_slots_fail: '5461' })),
    /^10\.0\.0\.2:6379 tells cluster_state:ok; 16,384 of 16,384 slots are assigned, 5,461 have failed/,
  );
  assert.equal(covered({ cluster_state: 'fail' }).state, 'raise');
  assert.equal(covered({ cluster_slots_assigned: '16000' }).state, 'raise');
  assert.equal(covered({}, { cluster_slots_pfail: '5461' }).state, 'hold');
  assert.equal(covered({}, {}).state, 'fine');
  const [dead, alive] = [master(1, { parts: { info: { skipped: 'refused' } } }), master(2)];
  assert.equal(seenIn('store-cluster-state', still([dead, alive])).state, 'fine');
});

test('coverage is skipped where CLUSTER is refused, and is no question outside a cluster', () => {
  const refused = master(1, { parts: { cluster: { skipped: 'CLUSTER INFO is refused' } } });
  assert.deepEqual(lookOf('store-cluster-state')(still([refused])), [
    { subject: 'store of goods', state: 'skipped', reason: 'CLUSTER INFO is refused' },
  ]);
  assert.deepEqual(lookOf('store-cluster-state')(still([refused], {})), []);
});

/** A second of a cluster, by GETs at each master and commands of the doctor at the first. */
function second(gets: readonly number[], own = 0): readonly CheckResult[] {
  const nodes = gets.map((_, at) => master(at + 1, { info: { cmdstat_scan: 'calls=0,usec=0' } }));
  const later = nodes.map((node, at) =>
    laterNode(node, {
      total_commands_processed: (gets[at] ?? 0) + own,
      cmdstat_get: gets[at] ?? 0,
      'cmdstat_memory|usage': at === 0 ? own : 0,
    }),
  );
  return lookOf('store-hot-shard')(storeWindow(nodes, later, { store: CLUSTER }));
}

test('a shard with most of the commands is hot', () => {
  const found = second([3000, 100, 100]);
  assert.deepEqual(pluck(found, 'state'), ['raise', 'fine', 'fine']);
  assert.ok(found[0]);
  assert.equal(found[0].subject, '10.0.0.1:6379 (store of goods)');
  assert.match(evidenceOf(found[0]), /3,000\/s commands, 2\.8\s× the mean of 3 masters \(1,067\/s\)/);
  assert.equal(second([1000, 300, 300])[0]?.state, 'hold');
});

test('uneven traffic is no hot shard while it is small, nor are the commands of the doctor', () => {
  // 500 searches a second, four fifths of them for one shard.
  assert.equal(second([400, 50, 50])[0]?.state, 'fine');
  assert.equal(second([1700, 1000, 900])[0]?.state, 'fine');
  assert.equal(second([100, 100, 100], 5000)[0]?.state, 'fine');
});

test('a shard is not compared while another has no figures', () => {
  const nodes = [1, 2, 3].map((n) => master(n));
  const later = nodes.map((node) => laterNode(node, { cmdstat_get: 3000, total_commands_processed: 3000 }));
  const states = statesIn('store-hot-shard', storeWindow(nodes.slice(1), later, { store: CLUSTER }));
  assert.deepEqual(states, ['skipped', 'skipped', 'skipped']);
});

/** A window of these stores, each with these nodes. */
function stores(...each: readonly (readonly [Partial<StoreFacts>, NodeFacts])[]): Window {
  return stillWindow({ stores: each.map(([store, node]) => storeWith(store, [node])) });
}

test('control documents on a cache that evicts are told, by the run of the server and not by its address', () => {
  const alias = master(1, { address: 'cache.internal:6379' });
  assert.match(
    evidenceOf(seenIn('store-shared-server', stores([{}, master(1)], [CONTROL, alias]))),
    /^It is store of goods, control store, and evicts by allkeys-lru at 1\sGiB/,
  );
  const both = { name: 'store of goods, control store' };
  assert.equal(seenIn('store-shared-server', stores([both, master(1)])).state, 'raise');
  const volatile = master(1, { info: { maxmemory_policy: 'volatile-lru' } });
  assert.equal(seenIn('store-shared-server', stores([both, volatile])).state, 'fine');
  assert.equal(seenIn('store-shared-server', stores([{}, master(1)], [CONTROL, master(2)])).state, 'fine');
  assert.deepEqual(lookOf('store-shared-server')(stores([{}, master(1)])), []);
});

test('two domains on one server are told, a store and its candidate are not', () => {
  const jobs = { name: 'store of jobs', domains: ['jobs'] };
  assert.match(
    evidenceOf(seenIn('store-shared-domains', stores([{}, master(1)], [jobs, master(1)]))),
    /^It keeps pages of 2 domains: goods, jobs\.$/,
  );
  const candidate = { name: 'candidate next of goods' };
  assert.equal(seenIn('store-shared-domains', stores([{}, master(1)], [candidate, master(1)])).state, 'fine');
});

let stack: RedisStack;
before(async () => {
  stack = await startCluster({ flavour: 'redis', masters: 3 });
});
after(() => stack?.stop());

test('a real cluster is whole, and is not while slots belong to nobody', async () => {
  const read = async (): Promise<CheckResult> =>
    seenIn('store-cluster-state', still(await Promise.all(stack.nodes.map((node) => realNode(node)))));
  const [first] = stack.nodes;
  assert.ok(first);
  assert.equal((await read()).state, 'fine');
  await first.command('CLUSTER', 'DELSLOTSRANGE', 0, 99);
  assert.match(evidenceOf(await read()), /; 16,284 of 16,384 slots are assigned, 0 have failed/);
  await first.command('CLUSTER', 'ADDSLOTSRANGE', 0, 99);
  await until('the cluster to be whole', async () => (await read()).state === 'fine');
});

test('a real cluster has one hot shard while one key of it is asked alone', async () => {
  const read = (): Promise<readonly NodeFacts[]> => Promise.all(stack.nodes.map((node) => realNode(node)));
  const [first] = stack.nodes;
  assert.ok(first);
  const earlier = await read();
  await first.command('EVAL', "for i = 1, 3000 do redis.call('GET', KEYS[1]) end", 1, '{06S}');
  const states = statesIn('store-hot-shard', storeWindow(earlier, await read(), { store: CLUSTER }));
  assert.deepEqual(states, ['raise', 'fine', 'fine']);
});
