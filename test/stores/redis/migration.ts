import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { Store } from '../../../src/cache/store.ts';

type Step = 'half of the keys are moved' | 'all keys are moved' | 'the slot has a new owner';

interface Move {
  readonly from: RedisNode;
  readonly to: RedisNode;
}

/** Moves the slot of a name from its owner in the slot map of the store to another node; see migrateSlot. */
export async function migrateSlotOf(
  name: string,
  store: Store,
  nodes: readonly RedisNode[],
  meanwhile: (step: Step, move: Move) => Promise<void>,
): Promise<Move> {
  const { slot = -1, node: owner } = store.locate(name);
  const from = nodes.find(({ address }) => address === owner);
  const to = nodes.find(({ address }) => address !== owner);
  if (from === undefined || to === undefined) throw new Error(`${name} has no owner`);
  await migrateSlot(slot, nodes, from, to, (step) => meanwhile(step, { from, to }));
  return { from, to };
}

/** Moves one slot to another node in the three steps of a live reshard, and calls `meanwhile` after each step. */
export async function migrateSlot(
  slot: number,
  nodes: readonly RedisNode[],
  from: RedisNode,
  to: RedisNode,
  meanwhile: (step: Step) => Promise<void>,
): Promise<void> {
  const [fromId, toId] = await Promise.all([from.command('CLUSTER', 'MYID'), to.command('CLUSTER', 'MYID')]);
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
  const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 10_000)) as readonly string[];
  const half = Math.ceil(keys.length / 2);
  for (const part of [keys.slice(0, half), keys.slice(half)]) {
    await from.command('MIGRATE', to.host, to.port, '', 0, 5000, 'KEYS', ...part);
    await meanwhile(part[0] === keys[0] ? 'half of the keys are moved' : 'all keys are moved');
  }
  // The new owner first, so that the slot always has an owner.
  for (const node of [to, from, ...nodes.filter((each) => each !== to && each !== from)]) {
    await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
  }
  await meanwhile('the slot has a new owner');
}
