import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LatencyEvent, NodeFacts, SlowEntry } from '../../../../src/operations/doctor/facts.ts';
import {
  assertRaised,
  HEALTHY_GROWTH,
  HEALTHY_NODE,
  laterNode,
  lookOf,
  nodeWith,
  seen,
  stateOf,
  storeWindow,
  WALL_MS,
} from '../harness.ts';

const grows = (growth: Parameters<typeof laterNode>[1], node = HEALTHY_NODE): NodeFacts => laterNode(node, growth);

/** Clock of the server at the end of the window, in whole seconds. */
const END = Math.floor(WALL_MS / 1000) + 1;
const slow = (id: number, ms: number, change: Partial<SlowEntry> = {}): SlowEntry => ({
  id,
  atSeconds: END,
  micros: 1000 * ms,
  command: 'eval',
  client: 'reports',
  ...change,
});
const logged = (...entries: readonly SlowEntry[]): NodeFacts =>
  laterNode(HEALTHY_NODE, HEALTHY_GROWTH, { slowlog: { known: entries } });
const slowState = (...entries: readonly SlowEntry[]) =>
  stateOf('store-slow-commands', HEALTHY_NODE, logged(...entries));

test('two slow commands in the window are found with their names, the longest and its client', () => {
  const found = seen('store-slow-commands', HEALTHY_NODE, logged(slow(8, 30, { command: 'keys' }), slow(7, 80)));
  assertRaised(found, /2 commands .* KEYS, EVAL; the longest, EVAL of reports, took 80/);
});

test('one slow command is found from 100 ms on, and keeps a finding from 10 ms on', () => {
  assert.equal(slowState(slow(7, 100)), 'raise');
  assert.equal(slowState(slow(7, 12)), 'hold');
  assert.equal(slowState(slow(8, 9), slow(7, 9)), 'fine');
});

test('slow commands from before the window are not told again', () => {
  const old = [slow(8, 300), slow(7, 200)];
  const before = nodeWith({ parts: { slowlog: { known: old } } });
  assert.equal(stateOf('store-slow-commands', before, logged(...old)), 'fine');
  assert.equal(slowState(slow(8, 300, { atSeconds: END - 30 })), 'fine');
});

test('slow commands of the doctor are left out, and without SLOWLOG or after a restart nothing is told', () => {
  assert.equal(slowState(slow(7, 200, { client: 'serpcache-doctor-store_of_goods' })), 'fine');
  assert.equal(stateOf('store-slow-commands', nodeWith({ parts: { slowlog: { skipped: 'refused' } } })), 'skipped');
  const restarted = nodeWith({ info: { run_id: 'another' }, parts: { slowlog: { known: [slow(7, 200)] } } });
  assert.equal(stateOf('store-slow-commands', HEALTHY_NODE, restarted), 'skipped');
});

test('a slow log that logs nothing is found', () => {
  const at = (threshold: number, length: number): NodeFacts =>
    nodeWith({ config: { 'slowlog-log-slower-than': threshold, 'slowlog-max-len': length } });
  assert.equal(stateOf('store-slowlog-off', at(-1, 128)), 'raise');
  assert.equal(stateOf('store-slowlog-off', at(10_000, 0)), 'raise');
  assert.equal(stateOf('store-slowlog-off', at(0, 128)), 'fine');
  assert.equal(stateOf('store-slowlog-off', nodeWith({ parts: { config: { skipped: 'refused' } } })), 'skipped');
});

const event = (name: string, latestMs: number, secondsAgo = 5): LatencyEvent => ({
  event: name,
  atSeconds: END - secondsAgo,
  latestMs,
  maxMs: 400,
});
const stopped = (...events: readonly LatencyEvent[]): NodeFacts =>
  laterNode(HEALTHY_NODE, HEALTHY_GROWTH, { latency: { known: events } });

test('an event of 100 ms within the last minute is found, and one of 50 ms keeps the finding', () => {
  const found = seen('store-latency-event', HEALTHY_NODE, stopped(event('aof-stat', 10), event('fork', 120)));
  assertRaised(found, /fork took 120\sms, [56] s ago/);
  assert.equal(stateOf('store-latency-event', HEALTHY_NODE, stopped(event('fork', 60))), 'hold');
  assert.equal(stateOf('store-latency-event', HEALTHY_NODE, stopped(event('fork', 40))), 'fine');
  assert.equal(stateOf('store-latency-event', HEALTHY_NODE, stopped(event('fork', 5000, 3600))), 'fine');
  assert.equal(stateOf('store-latency-event', nodeWith({ parts: { latency: { skipped: 'unknown' } } })), 'skipped');
});

test('the age of an event is by the clock of the server', () => {
  const ahead = nodeWith({ info: { server_time_usec: (WALL_MS + 3_600_000) * 1000 } });
  const after = laterNode(ahead, HEALTHY_GROWTH, { latency: { known: [event('fork', 120, -3600)] } });
  assert.equal(stateOf('store-latency-event', ahead, after), 'raise');
  const old = nodeWith({ info: { server_time_usec: undefined }, parts: { clockOffsetMs: { known: 3_600_000 } } });
  assert.equal(stateOf('store-latency-event', old, { ...old, latency: after.latency }), 'raise');
});

test('slow commands are no latency events as well, unless the slow log is off', () => {
  const after = stopped(event('command', 900), event('fast-command', 200));
  assert.equal(stateOf('store-latency-event', HEALTHY_NODE, after), 'fine');
  const off = nodeWith({ config: { 'slowlog-log-slower-than': -1 } }, after);
  assert.equal(stateOf('store-latency-event', HEALTHY_NODE, off), 'raise');
  const refused = { ...after, slowlog: { skipped: 'refused' } };
  assert.equal(stateOf('store-latency-event', HEALTHY_NODE, refused), 'raise');
});

test('a latency monitor that is off is found', () => {
  assert.equal(stateOf('store-latency-off', nodeWith({ config: { 'latency-monitor-threshold': 0 } })), 'raise');
  assert.equal(stateOf('store-latency-off', HEALTHY_NODE), 'fine');
  assert.equal(stateOf('store-latency-off', nodeWith({ parts: { config: { skipped: 'refused' } } })), 'skipped');
});

const looked = (hits: number, misses: number, growth = {}): NodeFacts =>
  grows({ total_commands_processed: hits + misses, keyspace_hits: hits, keyspace_misses: misses, ...growth });

test('a hit ratio below one half of a thousand look-ups is found', () => {
  assert.equal(stateOf('store-hit-ratio', HEALTHY_NODE, looked(400, 600)), 'raise');
  assert.equal(stateOf('store-hit-ratio', HEALTHY_NODE, looked(550, 450)), 'hold');
  assert.equal(stateOf('store-hit-ratio', HEALTHY_NODE, looked(600, 400)), 'fine');
  assert.equal(stateOf('store-hit-ratio', HEALTHY_NODE, looked(10, 600)), 'skipped');
});

test('the look-ups of the doctor count neither as hits nor toward the thousand', () => {
  const sampled = { cmdstat_type: 2000, cmdstat_pttl: 1000 };
  assert.equal(stateOf('store-hit-ratio', HEALTHY_NODE, looked(3400, 600, sampled)), 'raise');
  assert.equal(stateOf('store-hit-ratio', HEALTHY_NODE, looked(3100, 100, sampled)), 'skipped');
});

test('a control store has no hit ratio', () => {
  const window = storeWindow([HEALTHY_NODE], [looked(0, 5000)], { store: { isCache: false } });
  assert.deepEqual(lookOf('store-hit-ratio')(window), []);
});

test('a slow log that turned over between two readings says nothing', () => {
  const before = nodeWith({ parts: { slowlog: { known: [slow(7, 20)] } } });
  const said = seen('store-slow-commands', before, logged(slow(91, 20), slow(90, 20)));
  assert.ok(said.state === 'skipped');
  assert.match(said.reason, /turned over.*slowlog-log-slower-than is too low/);
});
