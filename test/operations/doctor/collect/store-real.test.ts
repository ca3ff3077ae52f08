import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type RedisStack, startCluster, startSentinel, startStandalone } from '../../../../loadtest/stack/redis.ts';
import { createStoreCollector } from '../../../../src/operations/doctor/collect/store.ts';
import { createKeySampler } from '../../../../src/operations/doctor/collect/store-keys.ts';
import type { Figure, NodeFacts } from '../../../../src/operations/doctor/facts.ts';
import { systemClock } from '../../../../src/runtime.ts';
import type { RedisSettings } from '../../../../src/stores/redis/connection.ts';
import { pluck } from '../../../pluck.ts';
import { clusterOf, sentinelOf, standaloneOf } from '../../../stores/redis/harness.ts';
import { realProbe, told } from '../harness.ts';

async function nodesOf(t: TestContext, settings: RedisSettings): Promise<readonly NodeFacts[]> {
  const { nodes } = await createStoreCollector({ probe: realProbe(t, settings), clock: systemClock }).read('full');
  return told(nodes);
}

const SECRET = 'only-for-this-test';

/** Skipped parts with their reasons. */
function missing({ address: _a, role: _r, ...parts }: NodeFacts): Readonly<Record<string, string>> {
  const all: Readonly<Record<string, Figure<unknown>>> = parts;
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, part]) => ('skipped' in part ? [[name, part.skipped]] : [])),
  );
}

describe('the figures of real stores', { concurrency: 3 }, () => {
  test('every part of a standalone Redis is known, and its password is in none', async (t) => {
    const stack = await startStandalone({ flavour: 'redis' });
    t.after(stack.stop);
    const [server] = stack.nodes;
    assert.ok(server);
    await server.command('CONFIG', 'SET', 'requirepass', SECRET, 'masterauth', SECRET);
    const [facts, ...others] = await nodesOf(t, { ...standaloneOf(stack), password: SECRET });
    assert.ok(facts !== undefined && others.length === 0);
    assert.deepEqual(missing(facts), { cluster: 'it is in no cluster' });
    assert.ok(!JSON.stringify(facts).includes(SECRET));
    const config = told(facts.config);
    assert.deepEqual([config['save'], config['maxmemory'], config['requirepass']], ['', '268435456', undefined]);
    assert.match(told(facts.info)['redis_version'] ?? '', /^7\./);
    // The server's clock is ours: the offset is the error of half a round trip, and a clock ahead by hours would show.
    assert.ok(Math.abs(told(facts.clockOffsetMs)) < 600_000, 'one clock');
    assert.equal(told(facts.clients).count, 0, 'the connection of the doctor is left out');
  });

  test('every part of the masters of a Valkey cluster is known', async (t) => {
    const stack = await startCluster({ flavour: 'valkey', masters: 3 });
    t.after(stack.stop);
    const nodes = await nodesOf(t, clusterOf(stack));
    assert.equal(nodes.length, 3);
    for (const facts of nodes) {
      assert.deepEqual(missing(facts), {});
      assert.match(told(facts.info)['valkey_version'] ?? '', /^8\./);
      assert.equal(told(facts.cluster)['cluster_state'], 'ok');
    }
  });

  test('behind sentinels the master and its replica are known, and the sentinels by INFO', async (t) => {
    const stack = await startSentinel({ flavour: 'redis' });
    t.after(stack.stop);
    const nodes = await nodesOf(t, sentinelOf(stack));
    assert.deepEqual(pluck(nodes, 'role'), ['master', 'replica', 'sentinel', 'sentinel', 'sentinel']);
    const cluster = 'it is in no cluster';
    for (const facts of nodes) {
      if (facts.role === 'master') assert.deepEqual(missing(facts), { cluster });
      if (facts.role === 'replica') {
        assert.deepEqual(missing(facts), { cluster, keys: 'the keys of its master are sampled' });
      }
      if (facts.role === 'sentinel') assert.equal(told(facts.info)['sentinel_masters'], '1');
    }
  });
});

describe('the keys of a real store', () => {
  let stack: RedisStack | undefined;
  before(async () => {
    stack = await startStandalone({ flavour: 'redis' });
  });
  after(async () => {
    await stack?.stop();
  });
  const given = async (t: TestContext) => {
    const server = stack?.nodes[0];
    assert.ok(stack && server);
    await server.command('FLUSHALL');
    const probe = realProbe(t, standaloneOf(stack));
    const sampler = createKeySampler({ askMany: (commands) => probe.askMany(server.address, commands) });
    return { server, sample: async () => told(await sampler.sample()) };
  };
  const fill = "for i = 1, ARGV[1] do redis.call('SET', ARGV[2] .. i, string.rep('x', 200), 'EX', 3600) end";

  test('a value of 5 MB among 20,000 is found, stays found, and is gone after DEL', async (t) => {
    const { server, sample } = await given(t);
    await server.command('EVAL', fill, 0, 20_000, 'cart:');
    await server.command('SET', 'cart:big', 'x'.repeat(5_000_000));
    await server.command('EVAL', "for i = 1, 3000 do redis.call('HSET', 'cart:long', i, 1) end", 0);
    let looks = 0;
    let found = false;
    while (!found && looks < 60) {
      const { biggest } = await sample();
      looks += 1;
      found = biggest.some(({ name, bytes }) => name === 'cart:big' && bytes > 5_000_000);
    }
    assert.ok(found, `not found in ${looks} looks`);
    for (let look = 0; look < 5; look += 1) {
      const [first] = (await sample()).biggest;
      assert.equal(first?.name, 'cart:big');
    }
    await server.command('DEL', 'cart:big');
    for (let look = 0; look < 45; look += 1) {
      const { biggest, longest } = await sample();
      assert.ok(biggest.every(({ name }) => name !== 'cart:big'));
      if (longest[0]?.name === 'cart:long') looks = -1;
    }
    assert.equal(looks, -1, 'the long hash is found too');
  });

  test('pages without an expiry are counted; documents and leases of ours are not', async (t) => {
    const { server, sample } = await given(t);
    const page = (letter: string): string => `sc1:goods:{${letter.repeat(22)}}`;
    await server.command('SET', page('a'), 'x', 'EX', 100);
    await server.command('SET', page('b'), 'x');
    await server.command('SET', page('_'), 'x');
    const others = ['sc1:goods:{control:goods}', `sc1:goods:lease:{${'a'.repeat(22)}}`, 'sc1:goods:epoch:{7}'];
    for (const name of [...others, 'cart:1']) await server.command('SET', name, 'x');
    await server.command('ZADD', 'sc1:goods:fleet', 1, 'a');
    const keys = await sample();
    assert.deepEqual([keys.sampled, keys.total, keys.ours, keys.oursWithoutExpiry, keys.foreign], [8, 8, 7, 2, 1]);
    assert.equal(
      keys.sizes.reduce((sum, { count }) => sum + count, 0),
      8,
    );
  });

  test('an empty store has no keys', async (t) => {
    const { sample } = await given(t);
    const { sampled, total, biggest, longest } = await sample();
    assert.deepEqual({ sampled, total, biggest, longest }, { sampled: 0, total: 0, biggest: [], longest: [] });
  });
});
