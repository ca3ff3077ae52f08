import assert from 'node:assert/strict';
import { test } from 'node:test';
import slotOf from 'cluster-key-slot';
import { readOnce, type StoreEvent } from '../../src/cache/store.ts';
import { changeStreamContract } from '../contract/change-stream.ts';
import { contentContract } from '../contract/content.ts';
import { countersContract } from '../contract/counters.ts';
import { storeContract } from '../contract/store.ts';
import { createFakeChangeStream } from './change-stream.ts';
import { createFakeClock } from './clock.ts';
import { createFakeContent } from './content.ts';
import { createFakeCounters } from './counters.ts';
import { createFakeStore } from './store.ts';

changeStreamContract('the fake in memory', async () => {
  const stream = createFakeChangeStream(createFakeClock());
  return { stream, other: stream, stop: async () => {} };
});

contentContract('the fake in memory', async () => {
  const nodes = ['memory:0', 'memory:1', 'memory:2'];
  const content = createFakeContent({ domain: 'goods', nodes });
  const nodeOf = (name: string): string => nodes[slotOf(name) % nodes.length] ?? '';
  return {
    content,
    owners: nodes,
    put: async (values, ttlMs) => {
      for (const [name, value] of Object.entries(values)) content.put(nodeOf(name), name, Buffer.from(value), ttlMs);
    },
    has: async (name) => content.held(nodeOf(name)).includes(name),
    flushes: true,
    stop: async () => {},
  };
});

countersContract('the fake in memory', async () => {
  const clock = createFakeClock();
  const counters = createFakeCounters(clock);
  return {
    counters,
    other: counters,
    brief: { counters, windowMs: 600_000 },
    pass: async (ms) => clock.advance(ms),
    held: async (domain) => counters.held(domain),
    stop: async () => {},
  };
});

storeContract('the fake in memory', async () => {
  const store = createFakeStore();
  const lose = async (): Promise<void> => store.lose();
  const stall = async (): Promise<() => void> => {
    // Later than the deadlines that must expire in the contract.
    store.meet({ kind: 'slow', replyAfterMs: 500 });
    return () => store.meet({ kind: 'none' });
  };
  return { store, owners: store.nodes().map(({ node }) => node), stall, lose, stop: store.close };
});

test('the fake answers with the fault that it is set to, until it is set to none', async () => {
  const store = createFakeStore();
  await store.write('a', Buffer.from('1'), 1000);
  for (const fault of ['store-down', 'node-open', 'store-saturated', 'store-slow'] as const) {
    store.meet({ kind: 'fault', fault });
    assert.deepEqual(await readOnce(store, 'a', 10), { kind: 'fault', fault });
    assert.deepEqual(await store.write('a', Buffer.from('2'), 1000), { kind: 'dropped', fault });
  }
  store.meet({ kind: 'refusing' });
  assert.deepEqual(await store.write('a', Buffer.from('2'), 1000), { kind: 'dropped', fault: 'refused' });
  store.meet({ kind: 'none' });
  assert.deepEqual(await readOnce(store, 'a', 10), { kind: 'value', value: Buffer.from('1') });
  assert.deepEqual(store.names(), ['a']);
});

test('a slow fake abandons the read at its deadline and replies late', async () => {
  const events: StoreEvent[] = [];
  const store = createFakeStore({ observe: (event) => events.push(event) });
  await store.write('a', Buffer.from('1'), 5000);
  store.meet({ kind: 'slow', replyAfterMs: 60 });
  const found = await readOnce(store, 'a', 5);
  assert.ok(found.kind === 'fault' && found.fault === 'store-slow');
  assert.deepEqual(await found.late, Buffer.from('1'));
  assert.deepEqual(
    events.map((event) => (event.kind === 'command' ? event.result : event.kind)),
    ['stored', 'store-slow', 'late'],
  );
});
