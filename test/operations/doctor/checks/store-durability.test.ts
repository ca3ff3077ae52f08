import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '../../../../src/operations/doctor/check.ts';
import { DURABILITY_CHECKS } from '../../../../src/operations/doctor/checks/store-durability.ts';
import type { StoreFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  evidenceOf,
  healthyWindow,
  laterNode,
  lookerOf,
  type NodeChange,
  nodeWith,
  onlyOf,
  raisedBy,
  snapshotWith,
  storeWindow,
  storeWith,
  WALL_MS,
  windowOf,
} from '../harness.ts';

const CONTROL: Partial<StoreFacts> = { name: 'control store', domains: [], isCache: false };
const BOTH: Partial<StoreFacts> = { name: 'store of goods, control store' };
const REFUSED = { config: { skipped: 'CONFIG GET is refused: NOPERM' } };
const look = (id: string) => lookerOf(DURABILITY_CHECKS, id);

/** All that a check says of one node, in a second of this growth. */
function allSaid(
  id: string,
  change: NodeChange,
  growth: Readonly<Record<string, number>> = { total_commands_processed: 500 },
  store: Partial<StoreFacts> = {},
): readonly Observation[] {
  const node = nodeWith(change);
  return look(id)(storeWindow([node], [laterNode(node, growth)], { store }));
}

const said = (...args: Parameters<typeof allSaid>): Observation => onlyOf(allSaid(...args));

test('a healthy node has no finding about persistence or replication', () => {
  assert.deepEqual(raisedBy(DURABILITY_CHECKS, healthyWindow()), []);
});

test('a cache with save points or an append-only file is told, with the commands that end it', () => {
  const saving = said('store-persistence', { config: { save: '3600 1' }, info: { aof_enabled: 1 } });
  assert.equal(evidenceOf(saving), 'A cache is kept on disk: save is "3600 1", appendonly is yes.');
  assert.ok(saving.state === 'raise');
  assert.deepEqual(saving.advice.slice(0, 2), [
    'redis-cli -h 127.0.0.1 -p 6379 CONFIG SET save ""',
    'redis-cli -h 127.0.0.1 -p 6379 CONFIG SET appendonly no',
  ]);
  assert.equal(said('store-persistence', {}).state, 'fine');
});

test('persistence is right where control documents are', () => {
  for (const store of [CONTROL, BOTH]) {
    assert.deepEqual(allSaid('store-persistence', { info: { aof_enabled: 1 } }, {}, store), []);
  }
});

test('persistence is right on a server where control documents have a database of their own', () => {
  const node = nodeWith({ info: { aof_enabled: 1 }, config: { save: '3600 1' } });
  const stores = snapshotWith({ stores: [storeWith({}, [node]), storeWith(CONTROL, [node])] });
  assert.deepEqual(look('store-persistence')(windowOf(stores, stores)), []);
});

test('without CONFIG GET an append-only file is still seen, and save points are not denied', () => {
  assert.match(evidenceOf(said('store-persistence', { info: { aof_enabled: 1 }, parts: REFUSED })), /save is unknown/);
  assert.deepEqual(said('store-persistence', { parts: REFUSED }), {
    subject: '127.0.0.1:6379 (store of goods)',
    state: 'skipped',
    reason: 'CONFIG GET is refused: NOPERM',
  });
});

test('a long fork counts while more forks are to be expected', () => {
  const now = Math.floor(WALL_MS / 1000);
  const forked = (info: NodeChange['info'], save = '3600 1') =>
    said('store-fork', { config: { save }, info: { latest_fork_usec: 150_000, ...info } }, { server_time_usec: 0 });
  const saved = { rdb_last_save_time: now - 600, rdb_saves: 3 };
  assert.match(evidenceOf(forked(saved)), /stopped the server for 150\sms, with 381\sMiB in use; the last save was 10/);
  assert.equal(forked({ ...saved, latest_fork_usec: 90_000 }).state, 'fine');
  assert.equal(forked({ ...saved, rdb_last_save_time: now - 4000 }).state, 'fine');
  // The time of the start is no save.
  assert.equal(forked({ ...saved, rdb_saves: 0 }).state, 'fine');
  // The fault ends with its cause, although the figure stays.
  assert.equal(forked(saved, '').state, 'fine');
  assert.match(evidenceOf(forked({ rdb_bgsave_in_progress: 1 }, '')), /its child is still saving/);
});

test('a fork in the window counts whatever it was for', () => {
  const change = { info: { latest_fork_usec: 150_000 } };
  assert.match(evidenceOf(said('store-fork', change, { total_forks: 1 })), /it was in this window/);
});

test('an fsync that writes wait for is told, and no earlier one', () => {
  const info = { aof_enabled: 1, aof_delayed_fsync: 7 };
  const found = said('store-delayed-fsync', { info }, { total_commands_processed: 1, aof_delayed_fsync: 2 });
  assert.equal(evidenceOf(found), '2 writes waited for a slow fsync in the window, 9 since the start.');
  assert.equal(said('store-delayed-fsync', { info }).state, 'fine');
  assert.equal(said('store-delayed-fsync', {}).state, 'fine');
  const node = nodeWith({ info });
  assert.equal(onlyOf(look('store-delayed-fsync')(storeWindow([], [node]))).state, 'skipped');
});

test('two servers that save at one address share a disk; one that two stores name is one', () => {
  const nodes = [1, 2].map((n) =>
    nodeWith({
      address: `10.0.0.1:700${n}`,
      info: { run_id: `run-${n}`, aof_enabled: 1 },
      config: { appendonly: 'yes' },
    }),
  );
  const found = onlyOf(look('store-shared-disk')(storeWindow(nodes, nodes)));
  assert.match(
    evidenceOf(found),
    /^2 servers at this address keep their data on disk: 10\.0\.0\.1:7001, 10\.0\.0\.1:7002/,
  );
  const [first] = nodes;
  assert.ok(first);
  const stores = snapshotWith({ stores: [storeWith({}, [first]), storeWith(CONTROL, [first])] });
  assert.equal(onlyOf(look('store-shared-disk')(windowOf(stores, stores))).state, 'fine');
  const apart = [first, nodeWith({ address: '10.0.0.2:7001', info: { run_id: 'run-3', aof_enabled: 1 } })];
  assert.deepEqual(
    look('store-shared-disk')(storeWindow(apart, apart)).map(({ state }) => state),
    ['fine', 'fine'],
  );
});

test('a shared disk is not denied where nobody tells the save points', () => {
  const nodes = [1, 2].map((n) =>
    nodeWith({ address: `10.0.0.1:700${n}`, info: { run_id: `run-${n}` }, parts: REFUSED }),
  );
  assert.equal(onlyOf(look('store-shared-disk')(storeWindow(nodes, nodes))).state, 'skipped');
});

test('a save that failed is told until one succeeds', () => {
  const failed = {
    info: { rdb_last_bgsave_status: 'err' },
    config: { save: '3600 1', 'stop-writes-on-bgsave-error': 'yes' },
  };
  const found = said('store-bgsave-failed', failed);
  assert.match(evidenceOf(found), /^INFO tells an error in rdb_last_bgsave_status; .*MISCONF/);
  const writes = { ...failed, config: { save: '3600 1', 'stop-writes-on-bgsave-error': 'no' } };
  assert.doesNotMatch(evidenceOf(said('store-bgsave-failed', writes)), /MISCONF/, 'no write is refused');
  const past = { ...failed, config: { save: '' } };
  assert.equal(said('store-bgsave-failed', past).state, 'fine', 'a cache that saves no more has nothing to mend');
  assert.equal(said('store-bgsave-failed', {}).state, 'fine');
  assert.equal(said('store-bgsave-failed', { info: { rdb_last_bgsave_status: undefined } }).state, 'skipped');
});
