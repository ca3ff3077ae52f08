import type { StoreBeat, StoreEpoch } from '../../cache/store.ts';
import { evalOf, portFault, type SendCommand, scriptRunner, sendCommand, wholeMs } from './commands.ts';
import type { RedisNode } from './node.ts';
import type { Topology } from './send.ts';

const MAX_PROCESSES = 4096;
const MAX_LIFETIME_MS = 86_400_000;

/**
 * ARGV: id, lifetime in ms → ids of the live processes. One sorted set scored by the server's clock, because the clocks of
 * processes differ; it expires with its last member. A key of another type is overwritten. A member that would live longer
 * than a day is not ours and is removed. At most `MAX_PROCESSES` are read. TIME before a write needs effects replication:
 * Redis ≥ 5.
 */
const BEAT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if type(redis.pcall('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)) == 'table' then redis.call('DEL', KEYS[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ${MAX_LIFETIME_MS}, '+inf')
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIREAT', KEYS[1], redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return redis.call('ZRANGE', KEYS[1], 0, ${MAX_PROCESSES - 1})`;

/** The live processes of a domain, counted by heartbeats on the server. */
export function createProcessCount({ domain, send }: { domain: string; send: SendCommand }) {
  const name = `sc1:${domain}:fleet`;
  const run = scriptRunner(send, 'fleet');
  return {
    async beat(id: string, ttlMs: number, deadlineMs: number): Promise<StoreBeat> {
      const reply = await run(BEAT, [name], [id, wholeMs(ttlMs)], { shape: 'array', deadlineMs });
      if (reply.kind === 'fault') return portFault(reply);
      const ids = (Array.isArray(reply.reply) ? (reply.reply as readonly unknown[]) : []).map(String);
      // Sorted here: Lua compares strings by the server's locale.
      const rank = ids.sort().indexOf(id);
      return rank < 0 ? { kind: 'fault', fault: 'refused' } : { kind: 'fleet', live: ids.length, rank, ids };
    },
    async leave(id: string, deadlineMs: number): Promise<void> {
      await send(name, { operation: 'fleet', shape: 'integer', parts: ['ZREM', name, id], deadlineMs });
    },
  };
}

interface EpochsOptions extends Pick<Topology, 'owners' | 'ownerOf'> {
  readonly domain: string;
  readonly random: () => number;
}

/**
 * Reads before it writes: a replica that still has the epoch may answer with it. The key has no lifetime: it is read every
 * second and so stays hot under LRU, unless the node replaces all its data within about a second; then it has in fact
 * lost its data. A key of another type is overwritten.
 */
const GET_OR_SET = `
local epoch = redis.pcall('GET', KEYS[1])
if type(epoch) == 'string' then return epoch end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]`;

/** Our epochs have 24 characters. One is kept per part, and others may write to the store. */
const MAX_EPOCH_BYTES = 64;

/** Finds a node with one slot in a thousand; one with fewer is left out until more slots have moved there. */
const MAX_TRIES = 16_384;

/**
 * Detects the loss of a node's data. Every node that owns slots stores one key with a random epoch; the epoch changes only
 * when the node has lost its data.
 */
export function createEpochs(options: EpochsOptions): (deadlineMs: number) => Promise<readonly StoreEpoch[]> {
  const { domain, owners, ownerOf, random } = options;
  const nameOf = (part: number): string => `sc1:${domain}:epoch:{${part}}`;
  /** Oldest first. A part is a slot, so it follows its data: to the replica that took over, or in a migration. */
  let parts: readonly number[] = [0];

  const place = (): Map<RedisNode, number> => {
    const placed = new Map<RedisNode, number>();
    const tryPart = (part: number): void => {
      const node = ownerOf(nameOf(part));
      if (node !== undefined && !placed.has(node)) placed.set(node, part);
    };
    for (const part of parts) tryPart(part);
    const all = owners();
    for (let part = 0; part < MAX_TRIES && all.some((node) => !placed.has(node)); part += 1) tryPart(part);
    // While no node is known, the known parts are kept.
    if (placed.size > 0) parts = [...placed.values()];
    return placed;
  };
  const randomHex = (): string =>
    Math.floor(random() * 2 ** 48)
      .toString(16)
      .padStart(12, '0');

  return async (deadlineMs) => {
    const epochs = [...place()].map(async ([node, part]): Promise<StoreEpoch[]> => {
      const name = nameOf(part);
      const script = evalOf(GET_OR_SET, [name], [randomHex() + randomHex()]);
      const reply = await sendCommand(node, { operation: 'fleet', shape: 'string', parts: script, deadlineMs });
      if (reply.kind === 'fault' || !Buffer.isBuffer(reply.reply)) return [];
      return [{ part: name, node: node.address, epoch: reply.reply.toString('latin1', 0, MAX_EPOCH_BYTES) }];
    });
    return (await Promise.all(epochs)).flat();
  };
}
