import type { StoreBeat, StoreEpoch } from '../../cache/store.ts';
import type { RedisNode } from './node.ts';
import type { Command, CommandReply } from './send.ts';

const MAX_PROCESSES = 4096;
const MAX_LIFETIME_MS = 86_400_000;

/**
 * ARGV: id, lifetime in ms → ids that live. One sorted set scored by the server's clock, so that processes whose
 * clocks differ agree; it goes when its last member does. What is no sorted set is written over, members that would live
 * longer than a day are none of ours and are removed, and at most `MAX_PROCESSES` are read. TIME before a write wants
 * effects replication: Redis ≥ 5.
 */
const BEAT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if type(redis.pcall('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)) == 'table' then redis.call('DEL', KEYS[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ${MAX_LIFETIME_MS}, '+inf')
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIREAT', KEYS[1], redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return redis.call('ZRANGE', KEYS[1], 0, ${MAX_PROCESSES - 1})`;

export interface FleetOptions {
  readonly domain: string;
  /** To the owner of `name`. */
  readonly send: (name: string, command: Command) => Promise<CommandReply>;
}

export interface Fleet {
  readonly beat: (id: string, ttlMs: number, deadlineMs: number) => Promise<StoreBeat>;
  readonly leave: (id: string, deadlineMs: number) => Promise<void>;
}

/** How many processes live, by a head count on the server. */
export function createFleet({ domain, send }: FleetOptions): Fleet {
  const name = `sc1:${domain}:fleet`;
  return {
    async beat(id, ttlMs, deadlineMs) {
      const parts = ['EVAL', BEAT, 1, name, id, Math.max(1, Math.ceil(ttlMs))];
      const reply = await send(name, { operation: 'fleet', shape: 'array', parts, deadlineMs });
      if (reply.kind === 'fault') return { kind: 'fault', fault: reply.fault };
      const ids = (Array.isArray(reply.reply) ? (reply.reply as readonly unknown[]) : []).map(String);
      // Sorted here: Lua compares strings by the server's locale.
      const rank = ids.sort().indexOf(id);
      return rank < 0 ? { kind: 'fault', fault: 'refused' } : { kind: 'fleet', live: ids.length, rank };
    },
    async leave(id, deadlineMs) {
      await send(name, { operation: 'fleet', shape: 'integer', parts: ['ZREM', name, id], deadlineMs });
    },
  };
}

export interface EpochsOptions {
  readonly domain: string;
  /** Nodes that own names. */
  readonly owners: () => readonly RedisNode[];
  readonly ownerOf: (name: string) => RedisNode | undefined;
  readonly send: (node: RedisNode, command: Command) => Promise<CommandReply>;
  /** [0, 1) */
  readonly random: () => number;
}

/**
 * Reads before it writes: a replica that still has the word may tell it. No lifetime: asked every second it stays hot
 * under LRU, unless the node turns over all it holds within a second or so; then it has lost what it held indeed. What is no
 * word is written over.
 */
const GET_OR_SET = `
local word = redis.pcall('GET', KEYS[1])
if type(word) == 'string' then return word end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]`;

/** A word of ours has 24 characters. One is remembered per part, and others may write to the store. */
const MAX_WORD = 64;

/** A node with one slot in a thousand is found by then; one with fewer is left out until more have moved there. */
const MAX_TRIES = 16_384;

/** Per node that owns names one key of ours, in a slot of that node, with a random word that only a loss changes. */
export function createEpochs(options: EpochsOptions): (deadlineMs: number) => Promise<readonly StoreEpoch[]> {
  const { domain, owners, ownerOf, send, random } = options;
  const nameOf = (part: number): string => `sc1:${domain}:epoch:{${part}}`;
  /** Oldest first. A part is a slot, so it follows its data: to the replica that took over, or with a migration. */
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
    // While no node is known, nothing is known about parts either.
    if (placed.size > 0) parts = [...placed.values()];
    return placed;
  };
  const half = (): string =>
    Math.floor(random() * 2 ** 48)
      .toString(16)
      .padStart(12, '0');

  return async (deadlineMs) => {
    const asked = [...place()].map(async ([node, part]): Promise<StoreEpoch[]> => {
      const name = nameOf(part);
      const parts = ['EVAL', GET_OR_SET, 1, name, half() + half()];
      const reply = await send(node, { operation: 'fleet', shape: 'string', parts, deadlineMs });
      if (reply.kind === 'fault' || !Buffer.isBuffer(reply.reply)) return [];
      return [{ part: name, node: node.address, epoch: reply.reply.toString('latin1', 0, MAX_WORD) }];
    });
    return (await Promise.all(asked)).flat();
  };
}
