import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Window } from '../../../../src/operations/doctor/check.ts';
import { CHECKS } from '../../../../src/operations/doctor/checks/checks.ts';
import type { NodeFacts, Snapshot, StoreFacts } from '../../../../src/operations/doctor/facts.ts';
import { nodesOf } from '../../../../src/operations/doctor/window.ts';
import { BOTH, CONTROL, laterNode, nodeWith, snapshotWith, stillWindow, storeWith, windowOf } from '../harness.ts';

const NONE = { domains: [], isCache: false };
const COUNTERS: Partial<StoreFacts> = { ...NONE, name: 'counter store' };

/** A window of these stores, each with a view of one server. */
function windowWith(stores: readonly Partial<StoreFacts>[], before = nodeWith(), after = laterNode(before)): Window {
  const at = (node: NodeFacts): Snapshot => snapshotWith({ stores: stores.map((store) => storeWith(store, [node])) });
  return windowOf(at(before), at(after));
}

const usesIn = (window: Window): readonly string[] => nodesOf(window).map(({ use }) => use());

test('the use of a server is by all stores on it, also those with a database of their own', () => {
  assert.deepEqual(usesIn(windowWith([{}])), ['cache']);
  assert.deepEqual(usesIn(windowWith([{}, CONTROL])), ['mixed', 'mixed']);
  assert.deepEqual(usesIn(windowWith([{}, COUNTERS])), ['mixed', 'mixed']);
  assert.deepEqual(usesIn(windowWith([BOTH])), ['mixed']);
  assert.deepEqual(usesIn(windowWith([CONTROL])), ['lasting']);
});

test('two names of one server are one by its run, and two servers are not', () => {
  const named = storeWith({}, [nodeWith({ address: 'redis-1:6379' })]);
  const stores = (run: string): Window =>
    stillWindow({
      stores: [named, storeWith(CONTROL, [nodeWith({ address: '10.0.0.1:6379', info: { run_id: run } })])],
    });
  const [same] = nodesOf(windowWith([{}]));
  assert.ok(same);
  assert.deepEqual(usesIn(stores(same.text('run_id') ?? '')), ['mixed', 'mixed']);
  assert.deepEqual(usesIn(stores('another')), ['cache', 'lasting']);
});

test('a server keeps control documents although their store did not answer this time', () => {
  const silent = nodeWith({ parts: { info: { skipped: 'connect ETIMEDOUT' } } });
  assert.deepEqual(usesIn(stillWindow({ stores: [storeWith(), storeWith(CONTROL, [silent])] })), ['mixed']);
});

const DROPS = /CONFIG SET (?:save ""|appendonly no|maxmemory-policy allkeys|stop-writes-on-bgsave-error no)/;

/** Every fault of a server whose usual remedy drops data. */
function faultyWindow(stores: readonly Partial<StoreFacts>[], info = {}): Window {
  const before = nodeWith({
    info: {
      maxmemory_policy: 'noeviction',
      used_memory: 1_073_000_000,
      aof_enabled: 1,
      connected_slaves: 1,
      ...info,
    },
    config: { save: '3600 1', appendonly: 'yes', 'maxmemory-policy': 'noeviction' },
  });
  return windowWith(stores, before, laterNode(before, { sync_full: 1, evicted_keys: 500 }));
}

const advised = (window: Window): string =>
  CHECKS.flatMap(({ look }) => look(window))
    .flatMap((one) => (one.state === 'raise' || one.state === 'hold' ? one.advice : []))
    .join('\n');

test('no check advises to drop what lasts, and for a pure cache they do', () => {
  assert.match(advised(faultyWindow([{}])), DROPS);
  for (const info of [{}, { maxmemory: 0 }, { maxmemory: 0, maxmemory_policy: 'allkeys-lru' }]) {
    for (const stores of [[BOTH], [{}, CONTROL], [CONTROL], [{}, COUNTERS]]) {
      const advice = advised(faultyWindow(stores, info));
      assert.notEqual(advice, '');
      assert.doesNotMatch(advice, DROPS, JSON.stringify({ stores, info }));
    }
  }
});
