import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientsFacts, NodeFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  adviceOf,
  assertRaised,
  evidenceOf,
  HEALTHY_NODE,
  laterNode,
  lookOf,
  nodeWith,
  onlyOf,
  seen,
  stateOf,
  stillWindow,
  storeWindow,
  storeWith,
  told,
} from '../harness.ts';

const CLIENTS = told(HEALTHY_NODE.clients);
const clients = (change: Partial<ClientsFacts>): Partial<NodeFacts> => ({
  clients: { known: { ...CLIENTS, ...change } },
});

const unreachable = lookOf('store-unreachable');
const silentAs = (role: NodeFacts['role'], address = '127.0.0.1:6379'): NodeFacts =>
  nodeWith({ address, role, parts: { info: { skipped: `connect ECONNREFUSED ${address}` } } });

test('a master that did not answer INFO is unreachable, and the evidence has the reason', () => {
  const observation = onlyOf(unreachable(storeWindow([nodeWith()], [silentAs('master')])));
  assert.equal(observation.subject, '127.0.0.1:6379 (store of goods)');
  assert.match(evidenceOf(observation), /^The master .*ECONNREFUSED/);
  assert.equal(onlyOf(unreachable(storeWindow([silentAs('master')], [nodeWith()]))).state, 'fine');
});

test('silent replicas and sentinels are no subject', () => {
  assert.deepEqual(unreachable(storeWindow([], [silentAs('replica'), silentAs('sentinel')])), []);
});

test('a store of which no node tells the others is unreachable as a whole', () => {
  const stores = [storeWith({ nodes: { skipped: 'connect ETIMEDOUT' } })];
  const observation = onlyOf(unreachable(stillWindow({ stores })));
  assert.equal(observation.subject, 'store of goods');
  assert.match(evidenceOf(observation), /ETIMEDOUT/);
});

test('a server that lets nobody in is unreachable, and the credentials are named; a right that is missing is not', () => {
  const refusing = (words: string): NodeFacts =>
    nodeWith({ parts: { info: { skipped: `INFO is refused: ${words}` } } });
  const disabled = 'WRONGPASS invalid username-password pair or user is disabled.';
  for (const words of [disabled, 'NOAUTH Authentication required.']) {
    const found = onlyOf(unreachable(storeWindow([], [refusing(words)])));
    assert.ok(found.state === 'raise', words);
    assert.match(found.advice.join('\n'), /^Set username and password of this store/);
  }
  const noRight = refusing("NOPERM this user has no permissions to run the 'info' command");
  assert.equal(onlyOf(unreachable(storeWindow([], [noRight]))).state, 'skipped');
  const late = nodeWith({ parts: { info: { skipped: 'there was no time left for it' } } });
  assert.equal(onlyOf(unreachable(storeWindow([], [late]))).state, 'skipped', 'it was not asked');
});

/** A node later, whose other clients sent this many commands. */
const opened = (count: number, connected = 12, commands = 100_000): NodeFacts =>
  laterNode(nodeWith({ info: { connected_clients: connected } }), {
    total_connections_received: count,
    total_commands_processed: commands,
    cmdstat_get: commands,
  });

test('eighty new connections a second beside twelve are a churn, and its client is named', () => {
  const young = { address: '10.0.0.5', name: 'php', count: 8, young: 8 };
  const after = { ...opened(80), ...clients({ top: [...CLIENTS.top, young] }) };
  assertRaised(seen('store-connection-churn', HEALTHY_NODE, after), /10\.0\.0\.5 “php” with 8 of 8/);
  assert.doesNotMatch(evidenceOf(seen('store-connection-churn', HEALTHY_NODE, opened(80))), /young/);
});

for (const [what, count, connected, seconds, state] of [
  ['nine a second keep a churn', 9, 12, 1, 'hold'],
  ['four a second are none', 4, 12, 1, 'fine'],
  ['those that are few beside the ones that stay are none', 20, 1000, 1, 'fine'],
  ['fifty a second are a churn beside thousands of idle ones', 50, 4000, 1, 'raise'],
  ['twenty-five a second beside thousands keep a churn', 25, 4000, 1, 'hold'],
  ['twenty-four a second beside thousands are none', 24, 4000, 1, 'fine'],
  ['those of a fleet that restarts in a window of fifteen seconds are none', 400, 400, 15, 'hold'],
  ['those of a very short window tell nothing', 80, 12, 0.1, 'skipped'],
] as const) {
  test(`new connections: ${what}`, () => {
    assert.equal(stateOf('store-connection-churn', HEALTHY_NODE, opened(count, connected), { seconds }), state);
  });
}

for (const [what, count, commands, state] of [
  ['a third of the work', 80, 160, 'raise'],
  ['a small part of it', 20, 20_000, 'fine'],
  ['most of it, and seven a second', 7, 20, 'hold'],
] as const) {
  test(`new connections beside thousands that stay: ${what}`, () => {
    const idle = nodeWith({ info: { connected_clients: 4000 } });
    assert.equal(stateOf('store-connection-churn', idle, opened(count, 4000, commands)), state);
  });
}

test('neither INFO nor the handshakes count beside the connections and the commands of others', () => {
  const growth = { total_connections_received: 12, cmdstat_get: 100, cmdstat_info: 500, cmdstat_hello: 500 };
  const after = laterNode(HEALTHY_NODE, { ...growth, total_commands_processed: 1100 });
  assert.match(
    evidenceOf(seen('store-connection-churn', HEALTHY_NODE, after)),
    /^12 connections are opened a second, 10\.7\s% of all commands and connections, beside 12 that .*; the CPU is at 0\s% of a core, PING takes 0\.09 ms, at worst 0\.11 ms\.$/,
  );
});

test('a server without INFO commandstats is judged by the life of its connections', () => {
  const silent = nodeWith({ info: { total_commands_processed: undefined } });
  const found = seen('store-connection-churn', silent, laterNode(silent, { total_connections_received: 20 }));
  assertRaised(found, /a second beside 12 that are there: one lives 600\sms/);
});

test('a server that was restarted tells nothing about a churn', () => {
  const restarted = nodeWith({ info: { run_id: 'another', total_connections_received: 1000 } });
  assert.equal(stateOf('store-connection-churn', HEALTHY_NODE, restarted), 'skipped');
});

test('one refused connection is enough', () => {
  const after = laterNode(nodeWith({ info: { connected_clients: 10_000 } }), { rejected_connections: 1 });
  assert.match(evidenceOf(seen('store-rejected-connections', HEALTHY_NODE, after)), /10,000 of 10,000/);
  // Refused at an earlier time.
  const earlier = nodeWith({ info: { rejected_connections: 500 } });
  assert.equal(stateOf('store-rejected-connections', earlier), 'fine');
  const untold = nodeWith({ info: { rejected_connections: undefined } });
  assert.equal(stateOf('store-rejected-connections', untold), 'skipped');
});

test('the table of clients is nearly full at four fifths, and the links of a cluster count', () => {
  const at = (connected: number, links = 0): NodeFacts =>
    nodeWith({ info: { maxclients: 100, connected_clients: connected, cluster_connections: links } });
  assert.equal(stateOf('store-clients-near-limit', at(80)), 'raise');
  assert.equal(stateOf('store-clients-near-limit', at(60, 20)), 'raise');
  assert.equal(stateOf('store-clients-near-limit', at(75)), 'hold');
  assert.equal(stateOf('store-clients-near-limit', at(69)), 'fine');
});

test('a server whose INFO has no maxclients is judged by its configuration, or not at all', () => {
  const old = { maxclients: undefined, connected_clients: 90 };
  assert.equal(stateOf('store-clients-near-limit', nodeWith({ info: old, config: { maxclients: 100 } })), 'raise');
  const refused = nodeWith({ info: old, parts: { config: { skipped: 'refused' } } });
  assert.equal(stateOf('store-clients-near-limit', refused), 'skipped');
});

test('a thousand connections of one client are very many, five hundred when they are half of all', () => {
  const holds = (count: number, all: number): NodeFacts =>
    nodeWith({ parts: clients({ count: all, top: [{ address: '10.0.0.9', name: '', count, young: 3 }] }) });
  assert.equal(stateOf('store-one-client-many', holds(1000, 4000)), 'raise');
  assert.equal(stateOf('store-one-client-many', holds(500, 1000)), 'raise');
  assert.equal(stateOf('store-one-client-many', holds(500, 1100)), 'fine');
  assert.equal(stateOf('store-one-client-many', holds(850, 4000)), 'hold');
  assert.equal(stateOf('store-one-client-many', holds(450, 500)), 'hold');
  assert.match(evidenceOf(seen('store-one-client-many', holds(1100, 1120))), /10\.0\.0\.9 holds 1,100 of 1,120/);
  const skipped = nodeWith({ parts: { clients: { skipped: 'more than 5,000 clients' } } });
  assert.equal(stateOf('store-one-client-many', skipped), 'skipped');
});

test('twenty blocked clients are many, ten when they are a fifth of all', () => {
  const waits = (count: number, connected: number): NodeFacts =>
    nodeWith({ info: { blocked_clients: count, connected_clients: connected } });
  assert.equal(stateOf('store-blocked-clients', waits(20, 1000)), 'raise');
  assert.equal(stateOf('store-blocked-clients', waits(10, 50)), 'raise');
  assert.equal(stateOf('store-blocked-clients', waits(12, 1000)), 'hold');
  assert.equal(stateOf('store-blocked-clients', waits(9, 10)), 'fine');
  assert.equal(stateOf('store-blocked-clients', nodeWith({ info: { blocked_clients: undefined } })), 'skipped');
});

const MIB = 2 ** 20;
const output = (bytes: number, kind: 'normal' | 'replica' | 'pubsub' = 'normal', limits?: string): NodeFacts =>
  nodeWith({
    config: limits === undefined ? {} : { 'client-output-buffer-limit': limits },
    parts: clients({ largestOutput: { bytes, client: 'reports', kind } }),
  });

test('an output buffer is judged by the limit of its class', () => {
  const limits = 'normal 67108864 0 0 slave 268435456 0 0 pubsub 33554432 8388608 60';
  assert.equal(stateOf('store-output-buffer', output(32 * MIB, 'normal', limits)), 'raise');
  assert.equal(stateOf('store-output-buffer', output(20 * MIB, 'normal', limits)), 'hold');
  assert.equal(stateOf('store-output-buffer', output(15 * MIB, 'normal', limits)), 'fine');
  assert.equal(stateOf('store-output-buffer', output(60 * MIB, 'replica', limits)), 'fine');
  assert.equal(stateOf('store-output-buffer', output(130 * MIB, 'replica', limits)), 'raise');
});

test('an output buffer above its soft limit is found, because the server ends such a connection', () => {
  assertRaised(seen('store-output-buffer', output(9 * MIB, 'pubsub')), /after 60 s/);
});

test('without a limit, or without CONFIG, an output buffer of 32 MiB is found', () => {
  const none = 'normal 0 0 0 slave 0 0 0 pubsub 0 0 0';
  assert.match(evidenceOf(seen('store-output-buffer', output(32 * MIB, 'normal', none))), /there is no limit/);
  assert.equal(stateOf('store-output-buffer', output(16 * MIB, 'normal', none)), 'hold');
  const refused = { ...output(40 * MIB), config: { skipped: 'refused' } };
  assert.match(evidenceOf(seen('store-output-buffer', refused)), /the limit is not known/);
  const unseen = nodeWith({ parts: { clients: { skipped: 'refused' } } });
  assert.equal(stateOf('store-output-buffer', unseen), 'skipped');
});

const adviceFor = (node: NodeFacts): string => adviceOf(seen('store-output-buffer', node));

test('no advice about an output buffer lowers a limit that is in force', () => {
  assert.match(adviceFor(output(130 * MIB, 'replica')), /"replica 1024mb 512mb 60"/);
  const soft = 'normal 0 536870912 30 slave 268435456 1073741824 300 pubsub 0 0 0';
  assert.match(adviceFor(output(130 * MIB, 'replica', soft)), /"replica 1024mb 1024mb 300"/);
  assert.match(adviceFor(output(40 * MIB, 'normal', soft)), /"normal 512mb 512mb 30"/);
  assert.match(adviceFor(output(40 * MIB, 'pubsub', soft)), /"pubsub 256mb 64mb 10"/);
  const large = 'normal 0 0 0 slave 4294967296 2147483648 120 pubsub 0 0 0';
  assert.doesNotMatch(adviceFor(output(2100 * MIB, 'replica', large)), /CONFIG SET/);
  const refused = { config: { skipped: 'refused' } };
  for (const kind of ['normal', 'replica'] as const) {
    assert.doesNotMatch(adviceFor({ ...output(40 * MIB, kind), ...refused }), /CONFIG SET/, kind);
  }
});

test('a timeout for idle connections is found as long as it is set', () => {
  assert.match(evidenceOf(seen('store-idle-timeout', nodeWith({ config: { timeout: 300 } }))), /idle for 300 s/);
  assert.equal(stateOf('store-idle-timeout', HEALTHY_NODE), 'fine');
  const refused = nodeWith({ parts: { config: { skipped: 'CONFIG GET is refused' } } });
  assert.deepEqual(seen('store-idle-timeout', refused), {
    subject: '127.0.0.1:6379 (store of goods)',
    state: 'skipped',
    reason: 'CONFIG GET is refused',
  });
});
