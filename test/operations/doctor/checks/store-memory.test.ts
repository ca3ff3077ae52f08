import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RedisStack, startStandalone } from '../../../../loadtest/stack/redis.ts';
import type { Observation } from '../../../../src/operations/doctor/check.ts';
import { MEMORY_CHECKS } from '../../../../src/operations/doctor/checks/store-memory.ts';
import type { StoreFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  evidenceOf,
  HEALTHY_NODE,
  healthyWindow,
  laterNode,
  lookerOf,
  type NodeChange,
  nodeWith,
  onlyOf,
  raisedBy,
  snapshotWith,
  storeWindow,
  storeWith,
  windowOf,
} from '../harness.ts';

const CONTROL: Partial<StoreFacts> = { name: 'control store', domains: [], isCache: false };
const BOTH: Partial<StoreFacts> = { name: 'store of goods, control store' };

/** The observation of one node that does not change. */
function said(id: string, change: NodeChange, store: Partial<StoreFacts> = {}): Observation {
  const node = nodeWith(change);
  return onlyOf(lookerOf(MEMORY_CHECKS, id)(storeWindow([node], [laterNode(node)], { store })));
}

/** The observation of the healthy node after this growth. */
function saidOf(
  id: string,
  growth: Readonly<Record<string, number>>,
  change: NodeChange = {},
  seconds = 1,
): Observation {
  const node = nodeWith(change);
  return onlyOf(lookerOf(MEMORY_CHECKS, id)(storeWindow([node], [laterNode(node, growth)], { seconds })));
}

function adviceOf(observation: Observation): string {
  assert.ok(observation.state === 'raise' || observation.state === 'hold');
  return observation.advice.join('\n');
}

test('a healthy node has no finding about memory', () => {
  assert.deepEqual(raisedBy(MEMORY_CHECKS, healthyWindow()), []);
});

test('a check whose figure INFO lacks is skipped, and one without earlier figures as well', () => {
  const bare = nodeWith({
    info: Object.fromEntries(
      Object.keys('known' in HEALTHY_NODE.info ? HEALTHY_NODE.info.known : {}).map((k) => [k, undefined]),
    ),
    parts: { memory: { skipped: 'MEMORY is refused' }, memoryAdvice: { skipped: 'MEMORY is refused' } },
  });
  const states = MEMORY_CHECKS.flatMap(({ id, look }) =>
    look(storeWindow([], [bare])).map(({ state }) => `${id} ${state}`),
  );
  // Limits of unknown machines cannot be added: no observation.
  const others = MEMORY_CHECKS.map(({ id }) => id).filter((id) => id !== 'store-memory-above-host');
  assert.deepEqual(
    states,
    others.map((id) => `${id} skipped`),
  );
});

test('a cache without maxmemory is told, with a limit for this machine', () => {
  const found = said('store-no-maxmemory', { info: { maxmemory: 0, maxmemory_policy: 'noeviction' } });
  assert.equal(found.state, 'raise');
  assert.match(evidenceOf(found), /maxmemory is 0, and 381\sMiB are used of the machine’s 23\.5\sGiB/);
  assert.match(adviceOf(found), /redis-cli -h 127\.0\.0\.1 -p 6379 CONFIG SET maxmemory 16873mb/);
  assert.match(adviceOf(found), /CONFIG SET maxmemory-policy allkeys-lru/);
  assert.equal(said('store-no-maxmemory', {}).state, 'fine');
});

test('the advice puts the policy in force before the limit', () => {
  const advice = adviceOf(said('store-no-maxmemory', { info: { maxmemory: 0, maxmemory_policy: 'noeviction' } }));
  assert.ok(advice.indexOf('maxmemory-policy') < advice.indexOf('CONFIG SET maxmemory 1'));
  const mixed = adviceOf(said('store-no-maxmemory', { info: { maxmemory: 0 } }, BOTH));
  assert.match(mixed, /^redis-cli .* CONFIG SET maxmemory-policy volatile-lru\n/);
});

test('an advised limit is above the memory in use, and a share of the machine for each store server there', () => {
  const limitOf = (used: number, count: number): string | undefined => {
    const nodes = Array.from({ length: count }, (_, at) =>
      nodeWith({ address: `10.0.0.1:700${at}`, info: { maxmemory: 0, used_memory: used, run_id: `run-${at}` } }),
    );
    const [found] = lookerOf(MEMORY_CHECKS, 'store-no-maxmemory')(storeWindow(nodes, nodes));
    assert.ok(found);
    return /CONFIG SET maxmemory (\w+)/.exec(adviceOf(found))?.[1];
  };
  assert.equal(limitOf(400e6, 1), '16873mb');
  assert.equal(limitOf(400e6, 3), '5624mb');
  assert.equal(limitOf(7e9, 3), '6676mb');
});

test('a control store needs no limit', () => {
  const node = nodeWith({ info: { maxmemory: 0 } });
  assert.deepEqual(lookerOf(MEMORY_CHECKS, 'store-no-maxmemory')(storeWindow([node], [node], { store: CONTROL })), []);
});

test('noeviction is wrong for a cache and right for the control store', () => {
  const noeviction = { info: { maxmemory_policy: 'noeviction' } };
  assert.match(evidenceOf(said('store-policy', noeviction)), /noeviction with a limit of 1\sGiB, 381\sMiB of it used/);
  assert.equal(said('store-policy', noeviction, CONTROL).state, 'fine');
  assert.match(adviceOf(said('store-policy', noeviction, BOTH)), /maxmemory-policy volatile-lru/);
});

test('a control store of its own that evicts is told', () => {
  assert.match(evidenceOf(said('store-policy', {}, CONTROL)), /allkeys-lru .*: a control document may be evicted/);
});

test('a policy without a limit is not in force', () => {
  assert.equal(said('store-policy', { info: { maxmemory: 0, maxmemory_policy: 'noeviction' } }).state, 'fine');
});

test('volatile-lru suits a cache while its keys have an expiry', () => {
  const volatile = (db0: string) => said('store-policy', { info: { maxmemory_policy: 'volatile-lru', db0 } });
  assert.equal(volatile('keys=100000,expires=90000,avg_ttl=0').state, 'fine');
  assert.equal(volatile('keys=900,expires=0,avg_ttl=0').state, 'fine');
  assert.match(evidenceOf(volatile('keys=100000,expires=40000,avg_ttl=0')), /60,000 of 100,000 keys have no expiry/);
});

test('evictions are told from ten in a window, one a second and a hundredth of the writes on', () => {
  const evicted = (count: number, writes: number, seconds = 1) =>
    saidOf(
      'store-evictions',
      { evicted_keys: count, cmdstat_set: writes, total_commands_processed: writes },
      {},
      seconds,
    );
  assert.match(
    evidenceOf(evicted(400, 400)),
    /400\/s keys are evicted beside 400\/s writes; 381\sMiB of 1\sGiB are used/,
  );
  assert.equal(evicted(10, 400).state, 'raise');
  assert.equal(evicted(9, 400).state, 'hold');
  assert.equal(evicted(12, 400, 15).state, 'hold');
  assert.equal(evicted(5, 400, 15).state, 'fine');
  assert.equal(evicted(20, 4000).state, 'fine');
  assert.equal(evicted(0, 400).state, 'fine');
});

test('without commandstats every eviction counts', () => {
  const bare = { info: { cmdstat_get: undefined, cmdstat_set: undefined, cmdstat_info: undefined } };
  assert.equal(saidOf('store-evictions', { evicted_keys: 20, total_commands_processed: 4000 }, bare).state, 'raise');
});

test('expirations are told when a tenth of the keys lapse in a second', () => {
  const lapsed = (count: number, keys: number) =>
    saidOf('store-expirations', { expired_keys: count }, { info: { db0: `keys=${keys},expires=${keys},avg_ttl=1` } });
  assert.match(evidenceOf(lapsed(2000, 8000)), /2,000\/s keys lapse, of 10,000 in all/);
  assert.equal(lapsed(700, 2000).state, 'hold');
  assert.equal(lapsed(2000, 100_000).state, 'fine');
  assert.equal(lapsed(400, 100).state, 'fine');
});

test('a node that is full and evicts nothing is critical', () => {
  const filled = (used: number, info: NodeChange['info'] = {}) =>
    said('store-memory-full', {
      info: { used_memory: used, maxmemory: 1000e6, maxmemory_policy: 'noeviction', ...info },
    });
  assert.match(evidenceOf(filled(960e6)), /916\sMiB of 954\sMiB are used \(96\s%\)/);
  assert.equal(filled(920e6).state, 'hold');
  assert.equal(filled(800e6).state, 'fine');
  assert.equal(filled(990e6, { maxmemory_policy: 'allkeys-lru' }).state, 'fine');
  assert.equal(filled(990e6, { mem_not_counted_for_evict: 200e6 }).state, 'fine');
  assert.equal(filled(990e6, { role: 'slave' }).state, 'fine');
  assert.equal(filled(990e6, { maxmemory: 0 }).state, 'fine');
});

test('a limit above the machine’s memory is critical, and told once', () => {
  const change = { info: { maxmemory: 30e9 } };
  assert.match(evidenceOf(said('store-memory-full', change)), /maxmemory is 27\.9\sGiB, the machine has 23\.5\sGiB/);
  assert.equal(said('store-memory-above-host', change).state, 'fine');
});

test('limits of servers at one address are added, a server that two stores name once', () => {
  const nodes = [1, 2, 3].map((n) =>
    nodeWith({ address: `10.0.0.1:700${n}`, info: { maxmemory: 8e9, run_id: `run-${n}` } }),
  );
  const [first] = nodes;
  assert.ok(first);
  const found = lookerOf(MEMORY_CHECKS, 'store-memory-above-host')(storeWindow(nodes, nodes));
  assert.match(evidenceOf(onlyOf(found)), /3 servers at this address may use 22\.4\sGiB together/);
  assert.match(adviceOf(onlyOf(found)), /-h 10\.0\.0\.1 -p 7001 CONFIG SET maxmemory 5624mb/);
  const twice = snapshotWith({
    stores: [storeWith({}, [first]), storeWith({ name: 'control store' }, [first, first])],
  });
  assert.equal(onlyOf(lookerOf(MEMORY_CHECKS, 'store-memory-above-host')(windowOf(twice, twice))).state, 'fine');
});

test('fragmentation counts when much memory is used and lost', () => {
  const held = (ratio: number, used = 400e6, lost = used * (ratio - 1)) =>
    said('store-fragmentation', {
      info: { mem_fragmentation_ratio: ratio, used_memory: used, mem_fragmentation_bytes: lost },
    });
  assert.match(evidenceOf(held(1.6)), /holds 610\sMiB for 381\sMiB in use \(1\.6\s×\); 229\sMiB are lost/);
  assert.equal(held(1.4).state, 'hold');
  assert.equal(held(1.2).state, 'fine');
  // A nearly empty server: its process is larger than its data.
  assert.equal(held(10, 1.2e6).state, 'fine');
  assert.equal(held(1.5, 110e6).state, 'fine');
});

test('overhead counts beside 50 MB of data', () => {
  const stats = (overhead: number, dataset: number) =>
    said('store-memory-overhead', {
      parts: {
        memory: {
          known: {
            'overhead.total': overhead,
            'total.allocated': overhead + dataset,
            'dataset.bytes': dataset,
            'keys.count': 1e6,
          },
        },
      },
    });
  assert.match(
    evidenceOf(stats(100e6, 60e6)),
    /95\.4\sMiB of 153\sMiB are overhead \(62\.5\s%\): tables of 1,000,000 keys/,
  );
  assert.equal(stats(56e6, 60e6).state, 'hold');
  assert.equal(stats(20e6, 60e6).state, 'fine');
  assert.equal(stats(100e6, 30e6).state, 'fine');
});

test('another allocator than jemalloc is told', () => {
  assert.match(evidenceOf(said('store-allocator', { info: { mem_allocator: 'libc' } })), /allocator is libc/);
  assert.equal(said('store-allocator', {}).state, 'fine');
});

let stack: RedisStack;
before(async () => {
  stack = await startStandalone({ flavour: 'redis' });
});
after(() => stack?.stop());

test('MEMORY DOCTOR of a real server becomes the names of its problems', async () => {
  const [node] = stack.nodes;
  assert.ok(node);
  const advice = async (): Promise<string> => String(await node.command('MEMORY', 'DOCTOR'));
  const saidBy = (text: string, used: number) =>
    said('store-memory-advice', { info: { used_memory: used }, parts: { memoryAdvice: { known: text } } });
  assert.equal(saidBy(await advice(), 6e6).state, 'fine');
  const used = async (): Promise<number> =>
    Number(/used_memory:(\d+)/.exec(String(await node.command('INFO', 'memory')))?.[1]);
  await node.command('SET', 'other:kept', 'x'.repeat(6_000_000));
  const gone = ['other:1', 'other:2', 'other:3'];
  for (const name of gone) await node.command('SET', name, 'x'.repeat(10_000_000));
  // The peak is taken when commands end.
  await node.command('INFO', 'memory');
  await node.command('DEL', ...gone);
  for (let at = 0; at < 50 && (await used()) > 10e6; at += 1) await node.command('PING');
  const peak = await advice();
  assert.match(peak, /\* Peak memory:/);
  const alone = saidBy(peak.replaceAll(/^\s*\* (?!Peak memory)/gm, ''), await used());
  assert.equal(alone.state, 'fine', 'a peak in the past is harmless');
  const found = saidBy(`${peak}\n * High total RSS: This instance has more`, await used());
  assert.match(evidenceOf(found), /^MEMORY DOCTOR names: [^.\n]*high total rss[^.\n]*; [\d.]+\sMiB are used\.$/);
  assert.equal(saidBy(await advice(), 2e6).state, 'fine');
});
