import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';

/** Moves one slot to another node in the three steps of a live reshard, and calls `meanwhile` after each step. */
export async function migrateSlot(
  slot: number,
  nodes: readonly RedisNode[],
  from: RedisNode,
  to: RedisNode,
  meanwhile: (step: 'half of the keys are moved' | 'all keys are moved' | 'the slot has a new owner') => Promise<void>,
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
