import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type RedisStack, startStandalone } from '../../../../loadtest/stack/redis.ts';
import { COST_MS, createStoreCollector } from '../../../../src/operations/doctor/collect/store.ts';
import { known } from '../../../../src/operations/doctor/facts.ts';
import { systemClock } from '../../../../src/runtime.ts';
import { createRedisProbe } from '../../../../src/stores/redis/probe.ts';
import { standaloneOf } from '../../../stores/redis/harness.ts';
import { until } from '../../../until.ts';

const KEYS = 20_000;
const CLIENTS = 1000;
/** The times in COST_MS that a collector may spend at first, and earns in a second. */
const SAVED_MS = 15;
const EARNED_PER_SECOND_MS = 5;
const SCANS_OF_A_SAMPLE = 2;
const KEYS_OF_A_SAMPLE = 500;

/** Full looks back to back at a Redis with many keys and clients; commandstats tells the commands that they send it. */
describe('the cost of the store collector', () => {
  let stack: RedisStack | undefined;
  const sockets: Socket[] = [];
  before(async () => {
    stack = await startStandalone({ flavour: 'redis' });
    const page = "'sc1:goods:{' .. string.format('%022d', i) .. '}'";
    const body = `for i = 1, ARGV[1] do redis.call('SET', ${page}, string.rep('x', 300), 'EX', 3600) end`;
    await stack.nodes[0]?.command('EVAL', body, 0, KEYS);
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await stack?.stop();
  });

  const connectUpTo = async (count: number): Promise<void> => {
    const server = stack?.nodes[0];
    assert.ok(server);
    while (sockets.length < count) {
      const opened = Array.from({ length: Math.min(200, count - sockets.length) }, async () => {
        const socket = connect(server.port, server.host);
        socket.on('error', () => {});
        sockets.push(socket);
        await new Promise((resolve) => socket.once('connect', resolve));
      });
      await Promise.all(opened);
    }
    const connected = async (): Promise<number> =>
      Number(/connected_clients:(\d+)/.exec(String(await server.command('INFO', 'clients')))?.[1]);
    await until(`${count} clients`, async () => (await connected()) >= count);
  };

  test(`a node with ${KEYS} keys and ${CLIENTS} clients gets no more commands than the budget pays for`, async (t) => {
    const server = stack?.nodes[0];
    assert.ok(stack && server);
    await connectUpTo(CLIENTS);
    const settings = standaloneOf(stack);
    const facts = { name: 'store of goods', domains: ['goods'], kind: 'standalone', isCache: true } as const;
    const probe = createRedisProbe({
      settings,
      clock: systemClock,
      random: Math.random,
      facts: { ...facts, settings: { deadlineMs: settings.deadlineMs, names: [] } },
    });
    t.after(() => probe.close());
    const collector = createStoreCollector({ probe, clock: systemClock });
    const callsOf = async (): Promise<ReadonlyMap<string, number>> => {
      const text = String(await server.command('INFO', 'commandstats'));
      return new Map([...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = '', n]) => [name, Number(n)]));
    };
    await server.command('CONFIG', 'RESETSTAT');
    const startedMs = performance.now();
    let looks = 0;
    let [listed, sampled] = [0, 0];
    // Four samples cost more than was saved: the last ones wait until they are earned.
    await until('four samples of keys', async () => {
      const [node] = known((await collector.read('full')).nodes) ?? [];
      looks += 1;
      listed = Math.max(listed, known(node?.clients ?? { skipped: '' })?.count ?? 0);
      sampled = Math.max(sampled, known(node?.keys ?? { skipped: '' })?.sampled ?? 0);
      return ((await callsOf()).get('scan') ?? 0) >= 4 * SCANS_OF_A_SAMPLE;
    });
    const calls = await callsOf();
    // Read after the last command: it earns at least what the collector has earned.
    const seconds = (performance.now() - startedMs) / 1000;
    const spent = {
      config: (calls.get('config|get') ?? 0) * COST_MS.config,
      slowlog: (calls.get('slowlog|get') ?? 0) * COST_MS.slowlog,
      memory: (calls.get('memory|doctor') ?? 0) * COST_MS.memory,
      clients: (calls.get('client|list') ?? 0) * CLIENTS * COST_MS.client,
      keys: ((calls.get('scan') ?? 0) / SCANS_OF_A_SAMPLE) * KEYS_OF_A_SAMPLE * COST_MS.key,
    };
    const spentMs = Object.values(spent).reduce((sum, ms) => sum + ms, 0);
    const said = `${JSON.stringify(spent)} in ${seconds} s and ${looks} looks`;
    assert.ok(spentMs <= SAVED_MS + EARNED_PER_SECOND_MS * seconds, said);
    assert.ok(spentMs > SAVED_MS, said);
    assert.ok(listed >= CLIENTS && sampled >= 400, `${listed} clients, ${sampled} keys`);
  });
});
