import { slotOf } from '../../src/stores/redis/cluster.ts';
import { contentContract } from '../contract/content.ts';
import { countersContract } from '../contract/counters.ts';
import { createFakeClock } from './clock.ts';
import { createFakeContent } from './content.ts';
import { createFakeCounters } from './counter-store.ts';

contentContract('the fake in memory', async () => {
  const nodes = ['memory:0', 'memory:1', 'memory:2'];
  const content = createFakeContent({ domain: 'goods', nodes });
  const nodeOf = (name: string): string => nodes[slotOf(name) % nodes.length] ?? '';
  return {
    content,
    owners: nodes,
    put: async (name, value) => content.put(nodeOf(name), name, value),
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
