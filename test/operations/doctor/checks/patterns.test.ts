import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  adviceOf,
  assertRaised,
  domainWith,
  laterNode,
  nodeWith,
  seen,
  seenIn,
  serviceWith,
  snapshotWith,
  storeWindow,
  storeWith,
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
