import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandReply } from '../../../src/stores/redis/command.ts';
import { createRedisCounters } from '../../../src/stores/redis/counters.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

test('searches that no process would have counted are not among the most asked', async () => {
  const planted = ['x'.repeat(1025), '1', 'q=a', 'inf', 'q=b', '-5', 'q=c', 'nan', '', '7', 'q=d', '3'];
  const reply: CommandReply = { kind: 'reply', reply: [planted.map(bytes), [bytes('q=d'), bytes('1')]] };
  const counters = createRedisCounters({ send: async () => reply, clock: { monotonicMs: () => 0 } });
  const top = await counters.top('goods', 10, 100);
  assert.deepEqual(
    top?.map(({ search }) => search),
    ['q=d'],
  );
});
