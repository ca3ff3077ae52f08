import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type RedisStack, startStandalone } from '../../../../loadtest/stack/redis.ts';
import { createStoreCollector } from '../../../../src/operations/doctor/collect/store.ts';
import { known } from '../../../../src/operations/doctor/facts.ts';
import { systemClock } from '../../../../src/runtime.ts';
import { createRedisProbe } from '../../../../src/stores/redis/probe.ts';
import { standaloneOf } from '../../../stores/redis/harness.ts';
import { until } from '../../../until.ts';

const MAX_MS_PER_SECOND = 10;
const KEYS = 100_000;

/** Full looks back to back at a Redis with many keys and clients; commandstats tells the time that they take it. */
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

  // The first look may use the 15 ms that were saved: with 5 ms a second after it, the bound holds from 3 s on.
  for (const [clients, seconds] of [[3000, 4]] as const) {
    test(`at most 10 ms a second are taken from a node with 100,000 keys and ${clients} clients`, async (t) => {
      const server = stack?.nodes[0];
      assert.ok(stack && server);
      await connectUpTo(clients);
      const settings = standaloneOf(stack);
      const limits = { ...settings, tls: false, names: [] };
      const facts = { name: 'store of goods', domains: ['goods'], kind: 'standalone', isCache: true } as const;
      const probe = createRedisProbe({
        ...{ settings, clock: systemClock, random: Math.random },
        facts: { ...facts, settings: limits },
      });
      t.after(() => probe.close());
      const collector = createStoreCollector({ probe, clock: systemClock });
      await server.command('CONFIG', 'RESETSTAT');
      const startedMs = performance.now();
      let looks = 0;
      let [listed, sampled] = [0, 0];
      while (performance.now() - startedMs < 1000 * seconds) {
        const [node] = known((await collector.read('full')).nodes) ?? [];
        looks += 1;
        listed = Math.max(listed, known(node?.clients ?? { skipped: '' })?.count ?? 0);
        sampled = Math.max(sampled, known(node?.keys ?? { skipped: '' })?.sampled ?? 0);
      }
      const tookSeconds = (performance.now() - startedMs) / 1000;
      const told = String(await server.command('INFO', 'commandstats'));
      const costs = [...told.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm)].filter(
        ([, name]) => name !== 'config|resetstat',
      );
      const usec = costs.reduce((sum, [, , , each]) => sum + Number(each), 0);
      const msPerSecond = usec / 1000 / tookSeconds;
      const byCommand = costs.map(([, name, calls, each]) => `${name} ${calls}: ${each} µs`).join(', ');
      t.diagnostic(`${msPerSecond.toFixed(1)} ms/s in ${looks} looks: ${byCommand}`);
      assert.ok(msPerSecond <= MAX_MS_PER_SECOND, `${msPerSecond.toFixed(1)} ms a second: ${byCommand}`);
      assert.ok(
        looks >= 2 && listed >= clients && sampled >= 400,
        `${looks} looks, ${listed} clients, ${sampled} keys`,
      );
    });
  }
});
