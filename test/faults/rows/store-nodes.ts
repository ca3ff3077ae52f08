import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { migrateSlot } from '../../stores/redis/migration.ts';
import { until } from '../../until.ts';
import { allEffects, allNodes, faultEffect, firstNode, flushed, processesAre, restarted } from '../fault-effects.ts';
import type { Harness, Row } from '../row.ts';
import { namesOf } from '../store-entries.ts';

const victimPids = (harness: Harness): readonly number[] => firstNode(harness).map((node) => node.pid());
const allPids = (harness: Harness): readonly number[] => allNodes(harness).map((node) => node.pid());

/** Nodes of the store die, stop, or lose their data. Only the hit ratio falls. */
export const STORE_NODES: readonly Row[] = [
  {
    name: 'node-killed',
    summary: 'a killed store node costs its own keys a miss, and what it held is back after its return',
    begin: (harness) => victim(harness).kill(),
    end: (harness) => victim(harness).restart(),
    effect: processesAre('gone', victimPids),
    bounds: { hitRatioDuring: 0.6, recoverySeconds: 20 },
  },
  {
    name: 'node-stopped',
    summary: 'a store node that stops answering (SIGSTOP) costs its own keys a miss, and nothing once it goes on',
    begin: (harness) => victim(harness).pause(),
    end: async (harness) => victim(harness).resume(),
    effect: processesAre('stopped', victimPids),
    bounds: { hitRatioDuring: 0.6, recoverySeconds: 10 },
  },
  {
    name: 'node-restarted',
    summary: 'a store node that restarts costs a moment',
    faultMs: 0,
    begin: (harness) => victim(harness).restart(),
    effect: restarted(firstNode),
    bounds: { hitRatioDuring: 0.5, recoverySeconds: 20 },
  },
  {
    name: 'nodes-all-killed',
    summary: 'without any store the engine and L1 answer every search',
    begin: eachNode((node) => node.kill()),
    end: eachNode((node) => node.restart()),
    effect: processesAre('gone', allPids),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  },
  {
    name: 'nodes-all-stopped',
    summary: 'a store that hangs as a whole costs each read its deadline at most, and later reads nothing',
    begin: eachNode((node) => node.pause()),
    end: eachNode((node) => node.resume()),
    effect: processesAre('stopped', allPids),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 15 },
  },
  {
    name: 'flushall-one',
    summary: 'FLUSHALL of one node is filled again by what L1 holds and what people ask',
    faultMs: 500,
    begin: async (harness) => {
      await victim(harness).command('FLUSHALL');
    },
    effect: flushed(firstNode),
    bounds: { hitRatioDuring: 0.6, recoverySeconds: 20 },
  },
  {
    name: 'flushall-all',
    summary: 'FLUSHALL of every node is filled again by what L1 holds and what people ask',
    faultMs: 500,
    begin: eachNode((node) => node.command('FLUSHALL')),
    effect: flushed(allNodes),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  },
];

/** The replica of the first master has become master. */
const promoted = faultEffect(
  'role of the replica',
  async (harness) => ((await isMaster(shard(harness).replica)) ? 'master' : 'replica'),
  (before, during) => before === 'replica' && during === 'master',
);

/** The first node loaded no keys at its last start. */
const loadedNothing = faultEffect(
  'keys loaded at the start',
  async (harness) =>
    Number(
      /^rdb_last_load_keys_loaded:(\d+)/m.exec(String(await shard(harness).master.command('INFO', 'persistence')))?.[1],
    ),
  (_before, during) => during === 0,
);

/** Slots of the first and the second node, according to the nodes. */
const slotsMoved = faultEffect(
  'slots of the first two nodes',
  (harness) => Promise.all(harness.store().nodes.slice(0, 2).map(slotsOf)),
  ([from = 0, to = 0], [fromNow = 0, toNow = 0]) => fromNow < from && toNow - to === from - fromNow,
);

/** The ownership of keys changes under load. */
export const STORE_TOPOLOGY: readonly Row[] = [
  {
    name: 'failover-ordered',
    store: 'replicated',
    discardStore: true,
    summary: 'an ordered failover costs a moment, and its keys are hits again on the new master',
    begin: async (harness) => {
      const { replica } = shard(harness);
      await replica.command('CLUSTER', 'FAILOVER');
      await until('the replica to be master', async () => isMaster(replica));
    },
    effect: promoted,
    bounds: { hitRatioDuring: 0.6 },
  },
  {
    name: 'failover',
    store: 'replicated',
    discardStore: true,
    summary: 'a killed master costs its keys a miss until its replica has its place',
    begin: async (harness) => {
      const { master, replica } = shard(harness);
      await master.kill();
      await until('the replica to be master', async () => isMaster(replica));
    },
    end: async (harness) => shard(harness).master.restart(),
    effect: allEffects(processesAre('gone', victimPids), promoted),
    bounds: { hitRatioDuring: 0.5, recoverySeconds: 25 },
  },
  {
    name: 'restarted-empty',
    store: 'replicated',
    discardStore: true,
    summary: 'a master without persistence that is back, empty, before its failover has lost its keys and nothing else',
    faultMs: 0,
    begin: async (harness) => {
      const { master } = shard(harness);
      await master.kill();
      await master.restart();
    },
    effect: allEffects(restarted(firstNode), loadedNothing),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  },
  {
    name: 'slot-migration',
    discardStore: true,
    summary: 'slots that move under load (ASK, then MOVED) cost next to nothing',
    begin: moveSlots,
    effect: slotsMoved,
    bounds: { hitRatioDuring: 0.9, recoverySeconds: 20 },
  },
];

function victim(harness: Harness): RedisNode {
  const [node] = harness.store().nodes;
  if (node === undefined) throw new Error('a store without nodes');
  return node;
}

function eachNode(act: (node: RedisNode) => unknown): Row['begin'] {
  return async (harness) => void (await Promise.all(harness.store().nodes.map(act)));
}

const SLOTS_MOVED = 40;

/** Moves slots that hold keys from the first node to the second, with a pause in the middle of each migration. */
async function moveSlots(harness: Harness): Promise<void> {
  const { nodes } = harness.store();
  const [from, to] = nodes;
  if (from === undefined || to === undefined) throw new Error('a cluster of one');
  const slots = new Set<number>();
  for (const name of await namesOf(from)) {
    if (slots.size === SLOTS_MOVED) break;
    slots.add(Number(await from.command('CLUSTER', 'KEYSLOT', name)));
  }
  if (slots.size === 0) throw new Error('the first node holds nothing');
  for (const slot of slots) await migrateSlot(slot, nodes, from, to, async () => void (await sleep(10)));
}

function shard(harness: Harness): { readonly master: RedisNode; readonly replica: RedisNode } {
  const { nodes } = harness.store();
  const [master] = nodes;
  const replica = nodes[nodes.length / 2];
  if (master === undefined || replica === undefined) throw new Error('a store without replicas');
  return { master, replica };
}

async function isMaster(node: RedisNode): Promise<boolean> {
  return String(await node.command('ROLE')).startsWith('master');
}

async function slotsOf(node: RedisNode): Promise<number> {
  const own = String(await node.command('CLUSTER', 'NODES'))
    .split('\n')
    .find((line) => line.includes('myself'));
  // The ranges follow eight fields. A migrating slot is also listed in brackets and counts once, in its range.
  const ranges = own?.trim().split(' ').slice(8) ?? [];
  return ranges
    .filter((range) => !range.startsWith('['))
    .map((range) => range.split('-').map(Number))
    .reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0);
}
