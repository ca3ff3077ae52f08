import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SentinelStack, startSentinel } from '../../../../loadtest/stack/redis.ts';
import type { CheckResult } from '../../../../src/operations/doctor/check.ts';
import { REPLICATION_CHECKS } from '../../../../src/operations/doctor/checks/store-replication.ts';
import type { NodeFacts, StoreFacts } from '../../../../src/operations/doctor/facts.ts';
import { until } from '../../../until.ts';
import {
  adviceOf,
  assertRaised,
  BOTH,
  CONTROL,
  evidenceOf,
  HEALTHY_NODE,
  laterNode,
  lookOf,
  type NodeChange,
  nodeWith,
  onlyOf,
  raisedBy,
  realNode,
  seenIn,
  statesIn,
  stillWindow,
  storeWindow,
  storeWith,
} from '../harness.ts';

const MIB = 2 ** 20;

interface Stream {
  /** Bytes that the replica is behind. */
  readonly behind?: number;
  readonly lagSeconds?: number;
  /** Bytes written in the second of the window. */
  readonly written?: number;
  readonly state?: string;
}

const START = 500 * MIB;

/** A window of a second of a master with one replica. */
function streamed(
  { behind = 0, lagSeconds = 0, written = 0, state = 'online' }: Stream,
  change: NodeChange = {},
  growth: Readonly<Record<string, number>> = {},
) {
  const info = { connected_slaves: 1, master_repl_offset: START, repl_backlog_active: 1, ...change.info };
  const master = nodeWith({ ...change, info });
  const offset = state === 'online' ? START + written - behind : 0;
  const line = `ip=10.0.0.2,port=6379,state=${state},offset=${offset},lag=${lagSeconds}`;
  const later = laterNode(master, { total_commands_processed: 100, master_repl_offset: written, ...growth });
  return storeWindow([master], [nodeWith({ info: { slave0: line } }, later)]);
}

const saidOf = (id: string, ...args: Parameters<typeof streamed>): CheckResult => seenIn(id, streamed(...args));

test('a replica of a cache is told with its cost, a replica of the control store is not', () => {
  const found = saidOf('store-replicas', { written: 2 * MIB });
  assert.match(evidenceOf(found), /^1 replica holds pages .*; each receives 2\sMiB\/s and uses 381\sMiB\.$/);
  assert.equal(seenIn('store-replicas', storeWindow([HEALTHY_NODE], [HEALTHY_NODE])).state, 'fine');
  const master = nodeWith({ info: { connected_slaves: 1 } });
  assert.deepEqual(lookOf('store-replicas')(storeWindow([master], [master], { store: CONTROL })), []);
});

test('a replica in step under load is only told as a replica', () => {
  // Two seconds of writes are the most that a healthy replica has not acknowledged.
  const window = streamed({ written: 4 * MIB, behind: 8 * MIB, lagSeconds: 1 });
  assert.deepEqual(raisedBy(REPLICATION_CHECKS, window), ['store-replicas: 127.0.0.1:6379 (store of goods)']);
});

test('a replica that is further behind than its acknowledgements explain lags', () => {
  assertRaised(
    saidOf('store-replica-lag', { written: 3 * MIB, behind: 7.5 * MIB, lagSeconds: 3 }),
    /replica 10\.0\.0\.2:6379 is 7\.5\sMiB behind and acknowledged 3 s ago; 3\sMiB\/s are written, and the backlog holds 1\sMiB/,
  );
  assert.equal(saidOf('store-replica-lag', { written: 3 * MIB, behind: 6.6 * MIB }).state, 'hold');
  assert.equal(saidOf('store-replica-lag', { written: 3 * MIB, behind: 6 * MIB }).state, 'fine');
});

test('the lag is measured by the backlog, within bounds', () => {
  const behindOf = (behind: number, backlog: number): string =>
    saidOf('store-replica-lag', { behind }, { info: { repl_backlog_size: backlog } }).state;
  assert.equal(behindOf(3 * MIB, 20 * MIB), 'raise');
  assert.equal(behindOf(3 * MIB, 64 * MIB), 'fine');
  assert.equal(behindOf(8 * MIB, 1024 * MIB), 'raise');
});

test('no advice lowers the backlog or the output limit in force', () => {
  const lagging = (backlog: number): string =>
    adviceOf(saidOf('store-replica-lag', { behind: 9 * MIB }, { info: { repl_backlog_size: backlog } }));
  assert.match(lagging(MIB), /repl-backlog-size 64mb/);
  assert.doesNotMatch(lagging(64 * MIB), /repl-backlog-size/);
  const copied = (change: NodeChange): string =>
    adviceOf(saidOf('store-full-resync', {}, { ...change, info: { sync_full: 4, ...change.info } }, { sync_full: 1 }));
  assert.match(copied({}), /repl-backlog-size 64mb\n.*"replica 1024mb 512mb 120"/);
  const limits = (text: string): NodeChange => ({ config: { 'client-output-buffer-limit': text } });
  assert.match(copied(limits('slave 268435456 1073741824 300')), /"replica 1024mb 1024mb 300"/);
  assert.doesNotMatch(copied(limits('slave 2147483648 1073741824 120')), /output-buffer/);
  assert.doesNotMatch(copied(limits('slave 0 0 0')), /output-buffer/);
  const refused = copied({ info: { repl_backlog_size: 256 * MIB }, parts: { config: { skipped: 'refused' } } });
  assert.doesNotMatch(refused, /output-buffer|repl-backlog/);
});

test('a silent replica lags, and one in a full copy has no place in the stream yet', () => {
  assert.equal(saidOf('store-replica-lag', { lagSeconds: 10 }).state, 'raise');
  assert.equal(saidOf('store-replica-lag', { lagSeconds: 9 }).state, 'fine');
  assert.equal(saidOf('store-replica-lag', { state: 'send_bulk' }).state, 'fine');
  // Online, without its first acknowledgement.
  assert.equal(saidOf('store-replica-lag', { behind: START }).state, 'fine');
  const window = streamed({ lagSeconds: 10 });
  assert.equal(seenIn('store-replica-lag', { ...window, before: { ...window.before, stores: [] } }).state, 'skipped');
});

test('a full copy is told while it begins, and while it runs', () => {
  assert.match(
    evidenceOf(saidOf('store-full-resync', {}, { info: { sync_full: 4 } }, { sync_full: 1 })),
    /^1 full copies for replicas began in the window, 5 since the start\.$/,
  );
  assert.match(evidenceOf(saidOf('store-full-resync', { state: 'wait_bgsave' })), /10\.0\.0\.2:6379 \(wait_bgsave\)/);
  assert.equal(saidOf('store-full-resync', {}, { info: { sync_full: 4 } }).state, 'fine');
});

const REFUSED = { config: { skipped: 'CONFIG GET is refused: NOPERM' } };

function allPersisted(change: NodeChange, store: Partial<StoreFacts> = {}): readonly CheckResult[] {
  const node = nodeWith(change);
  return lookOf('store-persistence')(storeWindow([node], [laterNode(node)], { store }));
}

const persisted = (change: NodeChange): CheckResult => onlyOf(allPersisted(change));

test('a cache with save points or an append-only file is told, with the commands that end it', () => {
  const saving = persisted({ config: { save: '3600 1' }, info: { aof_enabled: 1 } });
  assert.equal(evidenceOf(saving), 'A cache is kept on disk: save is "3600 1", appendonly is yes.');
  assert.ok(saving.state === 'raise');
  assert.deepEqual(saving.advice.slice(0, 2), [
    'redis-cli -h 127.0.0.1 -p 6379 CONFIG SET save ""',
    'redis-cli -h 127.0.0.1 -p 6379 CONFIG SET appendonly no',
  ]);
  assert.equal(persisted({}).state, 'fine');
});

test('persistence is right where control documents are', () => {
  for (const store of [CONTROL, BOTH]) {
    assert.deepEqual(allPersisted({ info: { aof_enabled: 1 } }, store), []);
  }
});

test('persistence is right on a server where control documents have a database of their own', () => {
  const node = nodeWith({ info: { aof_enabled: 1 }, config: { save: '3600 1' } });
  const window = stillWindow({ stores: [storeWith({}, [node]), storeWith(CONTROL, [node])] });
  assert.deepEqual(lookOf('store-persistence')(window), []);
});

test('without CONFIG GET an append-only file is still seen, and save points are not denied', () => {
  assert.match(evidenceOf(persisted({ info: { aof_enabled: 1 }, parts: REFUSED })), /save is unknown/);
  assert.deepEqual(persisted({ parts: REFUSED }), {
    subject: '127.0.0.1:6379 (store of goods)',
    state: 'skipped',
    reason: 'CONFIG GET is refused: NOPERM',
  });
});

let stack: SentinelStack;
before(async () => {
  stack = await startSentinel({ flavour: 'valkey' });
});
after(() => stack?.stop());

test('a real replica that starts over is seen at its master, and afterwards no more', async () => {
  const [master, replica] = stack.nodes;
  assert.ok(master && replica);
  const read = async (): Promise<readonly NodeFacts[]> => [
    await realNode(master, 'master'),
    await realNode(replica, 'replica'),
  ];
  const statesOf = (from: readonly NodeFacts[], to: readonly NodeFacts[]): readonly string[] =>
    statesIn('store-full-resync', storeWindow(from, to));
  const isUp = async (): Promise<boolean> =>
    String(await replica.command('INFO', 'replication')).includes('master_link_status:up');
  const first = await read();
  await replica.command('REPLICAOF', 'NO', 'ONE');
  await replica.command('REPLICAOF', master.host, master.port);
  await until('the replica to be in step', isUp);
  const second = await read();
  assert.equal(statesOf(first, second)[0], 'raise');
  await until('the master to see it', async () =>
    String(await master.command('INFO', 'replication')).includes('state=online'),
  );
  assert.deepEqual(statesOf(await read(), await read()), ['fine', 'fine']);
});

test('a real replica that has stopped falls behind, and one that goes on does not', async () => {
  const [master, replica] = stack.nodes;
  assert.ok(master && replica);
  const write = async (): Promise<void> => {
    for (let at = 0; at < 16; at += 1) await master.command('SET', `other:${at}`, 'x'.repeat(500_000));
  };
  // Nothing is written between the two readings, so no acknowledgement that is still to come explains the distance.
  const state = async (): Promise<string> => {
    const [earlier, later] = [await realNode(master, 'master'), await realNode(master, 'master')];
    return seenIn('store-replica-lag', storeWindow([earlier], [later])).state;
  };
  await write();
  await until('the acknowledgement of the replica', async () => (await state()) === 'fine');
  await replica.pause();
  try {
    await write();
    assert.equal(await state(), 'raise');
  } finally {
    replica.resume();
  }
  await until('the replica to catch up', async () => (await state()) === 'fine');
});
