import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import { migrateSlot } from '../../stores/redis/migration.ts';
import type { Bed } from '../bed.ts';
import { all, felt, firstNode, processesAre, restarted } from '../felt.ts';
import type { Row } from '../row.ts';
import { namesOf } from '../store-entries.ts';

const masterPids = (bed: Bed): readonly number[] => firstNode(bed).map((node) => node.pid());

/** The first master's replica has its place. */
const promoted = felt(
  'role of the replica',
  async (bed) => ((await isMaster(shard(bed).replica)) ? 'master' : 'replica'),
  (before, during) => before === 'replica' && during === 'master',
);

/** The first node had no keys when it was ready after its last start. */
const loadedNothing = felt(
  'keys loaded at the start',
  async (bed) =>
    Number(
      /^rdb_last_load_keys_loaded:(\d+)/m.exec(String(await shard(bed).master.command('INFO', 'persistence')))?.[1],
    ),
  (_before, during) => during === 0,
);

/** Slots of the first node and of the second, as each says of itself. */
const slotsMoved = felt(
  'slots of the first two nodes',
  (bed) => Promise.all(bed.store().nodes.slice(0, 2).map(slotsOf)),
  ([from = 0, to = 0], [fromNow = 0, toNow = 0]) => fromNow < from && toNow - to === from - fromNow,
);

/** Who owns which keys changes while they are asked for. */
export const STORE_TOPOLOGY: readonly Row[] = [
  {
    name: 'failover-ordered',
    store: 'replicated',
    spoilsStore: true,
    says: 'an ordered failover costs a moment, and its keys are hits again on the new master',
    begin: async (bed) => {
      const { replica } = shard(bed);
      await replica.command('CLUSTER', 'FAILOVER');
      await until('the replica to be master', async () => isMaster(replica), 10_000);
    },
    felt: promoted,
    bounds: { hitRatioDuring: 0.6 },
  },
  {
    name: 'failover',
    store: 'replicated',
    spoilsStore: true,
    says: 'a killed master costs its keys a miss until its replica has its place',
    begin: async (bed) => {
      const { master, replica } = shard(bed);
      await master.kill();
      await until('the replica to be master', async () => isMaster(replica), 20_000);
    },
    end: async (bed) => shard(bed).master.restart(),
    felt: all(processesAre('gone', masterPids), promoted),
    bounds: { hitRatioDuring: 0.5, recoverySeconds: 25 },
  },
  {
    name: 'restarted-empty',
    store: 'replicated',
    spoilsStore: true,
    says: 'a master without persistence that is back, empty, before its failover has lost its keys and nothing else',
    faultMs: 0,
    begin: async (bed) => {
      const { master } = shard(bed);
      await master.kill();
      await master.restart();
    },
    felt: all(restarted(firstNode), loadedNothing),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  },
  {
    name: 'slot-migration',
    spoilsStore: true,
    says: 'slots that move under load (ASK, then MOVED) cost next to nothing',
    begin: moveSlots,
    felt: slotsMoved,
    bounds: { hitRatioDuring: 0.9, recoverySeconds: 20 },
  },
];

const SLOTS_MOVED = 40;

/** Slots that hold something, from the first node to the second, each left half moved for a moment. */
async function moveSlots(bed: Bed): Promise<void> {
  const { nodes } = bed.store();
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

function shard(bed: Bed): { readonly master: RedisNode; readonly replica: RedisNode } {
  const { nodes } = bed.store();
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
  // Ranges follow eight fields; a slot on its way stands in brackets and counts once, in its range.
  const ranges = own?.trim().split(' ').slice(8) ?? [];
  return ranges
    .filter((range) => !range.startsWith('['))
    .map((range) => range.split('-').map(Number))
    .reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0);
}
