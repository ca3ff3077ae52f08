import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFacts, NodeFacts, QdiscFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  adviceOf,
  assertRaised,
  domainWith,
  evidenceOf,
  hostWith,
  laterNode,
  nodeWith,
  seen,
  seenIn,
  serviceWith,
  snapshotWith,
  storeWindow,
  storeWith,
  TBF,
  windowOf,
} from '../harness.ts';
import type { Fields } from '../healthy-redis.ts';

const master = nodeWith();
const CPU = { used_cpu_user_main_thread: 0.1, used_cpu_sys_main_thread: 0.05 };
const pings = (...times: readonly number[]): Partial<NodeFacts> => ({ rtt: { known: times } });
/** A node before and after a second of this growth. */
function pair(growth: Readonly<Record<string, number>>, parts: Partial<NodeFacts> = {}) {
  return storeWindow([master], [laterNode(master, { ...CPU, ...growth }, parts)]);
}

test('reads that wait for a round trip of milliseconds beside an idle CPU are round-trip bound', () => {
  const windowWith = (rttMs: number, reads: number) => {
    const at = (node: NodeFacts, read: number) =>
      snapshotWith({
        stores: [storeWith({}, [node])],
        service: serviceWith({ domains: [domainWith({ reads: { value: read } })] }),
      });
    return windowOf(at(master, 0), at(laterNode(master, CPU, pings(rttMs, rttMs, rttMs)), reads));
  };
  assertRaised(
    seenIn('pattern-round-trips', windowWith(3, 400)),
    /400 reads a second each wait for one round trip of 3\.00 ms, while .* 15 % of a core/,
  );
  assert.equal(seenIn('pattern-round-trips', windowWith(1.7, 400)).state, 'hold');
  assert.equal(seenIn('pattern-round-trips', windowWith(0.1, 400)).state, 'fine');
  assert.equal(seenIn('pattern-round-trips', windowWith(3, 50)).state, 'skipped');
});

test('connections that are opened again and again are the work of the server', () => {
  const opened = pair({ total_connections_received: 80, cmdstat_get: 200, total_commands_processed: 200 });
  assertRaised(
    seenIn('pattern-reconnects', opened),
    /80 connections are opened a second, 29 % of all commands and connections, beside 12 that stay; the CPU is at 15 %/,
  );
  const few = pair({ total_connections_received: 20, cmdstat_get: 20_000, total_commands_processed: 20_000 });
  assert.equal(seenIn('pattern-reconnects', few).state, 'fine', 'a small share of the work');
  const slow = pair({ total_connections_received: 7, cmdstat_get: 20, total_commands_processed: 20 });
  assert.equal(seenIn('pattern-reconnects', slow).state, 'hold');
});

test('fifty connections a second are a trouble beside any number of commands and idle connections', () => {
  const idle = nodeWith({ info: { connected_clients: 4000 } });
  const stateAt = (count: number): string => {
    const growth = { ...CPU, cmdstat_get: 20_000, total_commands_processed: 20_000, total_connections_received: count };
    return seenIn('pattern-reconnects', storeWindow([idle], [laterNode(idle, growth)])).state;
  };
  assert.deepEqual([50, 30, 24].map(stateAt), ['raise', 'hold', 'fine']);
});

test('neither INFO nor the handshakes count beside the connections and the commands of others', () => {
  const growth = { total_connections_received: 12, cmdstat_get: 100, cmdstat_info: 500, cmdstat_hello: 500 };
  const found = seenIn('pattern-reconnects', pair({ ...growth, total_commands_processed: 1100 }));
  assert.match(evidenceOf(found), /12 connections are opened a second, 11 % of all/);
});

test('large replies beside an idle CPU are found, and the stream to replicas is none', () => {
  const large = { total_net_output_bytes: 50e6, cmdstat_get: 500, total_commands_processed: 500 };
  assertRaised(
    seenIn('pattern-big-replies', pair(large)),
    /50 MB a second leave in replies of 98 KiB .*, while the CPU is at 15 % of a core\.$/,
  );
  const streaming = nodeWith({ info: { total_net_repl_output_bytes: 0 } });
  const streamed = { total_net_output_bytes: 50e6, total_net_repl_output_bytes: 45e6, cmdstat_get: 100 };
  const copied = laterNode(streaming, { ...CPU, ...streamed, total_commands_processed: 100 });
  assert.equal(seenIn('pattern-big-replies', storeWindow([streaming], [copied])).state, 'fine');
  const small = pair({ total_net_output_bytes: 50e6, cmdstat_get: 50_000, total_commands_processed: 50_000 });
  assert.equal(seenIn('pattern-big-replies', small).state, 'fine');
  const busy = pair({ ...large, used_cpu_user_main_thread: 0.9 });
  assert.equal(seenIn('pattern-big-replies', busy).state, 'fine', 'the CPU is the limit there');
});

const FRESH: QdiscFacts = { ...TBF, burstBytes: 2048, sentBytes: 0, dropped: 0, overlimits: 0 };

function limitedWindow(maxMs: number, qdisc: Partial<QdiscFacts>, cpu = CPU) {
  const host = (one: QdiscFacts): HostFacts => hostWith({ qdiscs: { known: [one] } });
  return windowOf(
    snapshotWith({ stores: [storeWith({}, [master])], hosts: [host(FRESH)] }),
    snapshotWith({
      stores: [storeWith({}, [laterNode(master, cpu, pings(0.1, 0.1, 0.2, maxMs))])],
      hosts: [host({ ...FRESH, ...qdisc })],
    }),
  );
}

test('stalls while nothing is full, with a discipline that holds packets back, are a limiter', () => {
  assertRaised(
    seenIn('pattern-limiter', limitedWindow(38, { overlimits: 300, sentBytes: 1e6 })),
    /PING takes up to 38 ms .* tbf on eth0 of web-1 passes 8\.0 of 50 Mbit\/s, drops 0 and holds back 300 packets/,
  );
  assert.equal(seenIn('pattern-limiter', limitedWindow(4, { dropped: 5 })).state, 'hold');
});

test('a limiter that is used up, or holds nothing back, or does not stall, is no such pattern', () => {
  assert.equal(seenIn('pattern-limiter', limitedWindow(38, { overlimits: 300, sentBytes: 6e6 })).state, 'fine');
  assert.equal(seenIn('pattern-limiter', limitedWindow(38, { sentBytes: 1e6 })).state, 'fine');
  assert.equal(seenIn('pattern-limiter', limitedWindow(1, { overlimits: 300 })).state, 'fine');
});

const LAGGING = {
  connected_slaves: 1,
  slave0: 'ip=10.0.0.2,port=6379,state=online,offset=1000,lag=1',
  master_repl_offset: 9_000_000,
};

test('a storm is advised to raise limits of replicas alone that are known and lower', () => {
  const adviceWith = (info: Fields, config: Fields, parts: Partial<NodeFacts> = {}): string => {
    const node = nodeWith({ info: { ...LAGGING, ...info }, config, parts });
    return adviceOf(seen('pattern-eviction-storm', node, laterNode(node, { ...CPU, evicted_keys: 500 })));
  };
  const small = adviceWith({}, { 'client-output-buffer-limit': 'slave 268435456 67108864 60' });
  assert.match(small, /repl-backlog-size 103mb/);
  assert.match(small, /client-output-buffer-limit "replica 1024mb 512mb 60"/);
  const large = adviceWith({ repl_backlog_size: 512e6 }, { 'client-output-buffer-limit': 'slave 0 0 0' });
  assert.doesNotMatch(large, /repl-backlog-size|client-output-buffer-limit/);
  assert.doesNotMatch(adviceWith({}, {}, { config: { skipped: 'cheap' } }), /client-output-buffer-limit/);
});

test('evictions while a replica falls behind, or starts over, are a storm', () => {
  const withReplica = nodeWith({ info: LAGGING });
  const windowWith = (growth: Readonly<Record<string, number>>) =>
    storeWindow([withReplica], [laterNode(withReplica, { ...CPU, ...growth })]);
  assertRaised(
    seenIn('pattern-eviction-storm', windowWith({ evicted_keys: 500 })),
    /500 keys are evicted a second, each a command for 1 replicas, which are up to 8\.6 MiB behind; 0 full resyncs/,
  );
  assert.equal(seenIn('pattern-eviction-storm', windowWith({ evicted_keys: 60 })).state, 'hold');
  assert.equal(seenIn('pattern-eviction-storm', windowWith({})).state, 'fine');
  const alone = pair({ evicted_keys: 500, sync_full: 0 });
  assert.equal(seenIn('pattern-eviction-storm', alone).state, 'fine', 'without a replica it is no storm');
});
