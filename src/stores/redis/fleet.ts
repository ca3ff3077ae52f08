import type { StoreBeat } from '../../cache/store.ts';
import type { Command, CommandReply } from './command.ts';

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
