import { type CounterStore, MAX_SEARCH_BYTES, type QueryCount } from '../../popularity/shared.ts';
import type { Clock } from '../../runtime.ts';
import { pairsIn, type SendCommand, scriptRunner } from './commands.ts';

interface RedisCountersOptions {
  readonly send: SendCommand;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Ten minutes unless given. */
  readonly windowMs?: number;
}

/** Searches per script call: about 0.2 ms of the server. */
const BATCH = 128;
/** The current window and one hour of earlier ones. */
const WINDOWS = 7;
/** Above it the least asked searches are removed. 1.3 MB with searches of 40 bytes, 12 MB with the longest. */
const MAX_MEMBERS = 10_000;
const MAX_TOP = 1000;
/** The number of windows after which a count weighs half. */
const HALF_LIFE_WINDOWS = 3;

export function createRedisCounters({ send, clock, windowMs = 600_000 }: RedisCountersOptions): CounterStore {
  const run = scriptRunner(send, 'counters');
  const keysOf = (domain: string) =>
    Array.from({ length: WINDOWS }, (_, index) => `sc1:${domain}:{popular:${domain}}:${index}`);

  return {
    async add(domain, counts, deadlineMs) {
      const untilMs = clock.monotonicMs() + deadlineMs;
      const good = counts.filter(isCountable);
      for (let first = 0; first < good.length; first += BATCH) {
        const leftMs = untilMs - clock.monotonicMs();
        if (leftMs <= 0 && first > 0) return false;
        const pairs = good.slice(first, first + BATCH).flatMap(({ search, count }) => [count, search]);
        const args = [Math.ceil(windowMs), MAX_MEMBERS, ...pairs];
        const reply = await run(ADD, keysOf(domain), args, { shape: 'integer', deadlineMs: leftMs });
        if (reply.kind === 'fault') return false;
      }
      return good.length === counts.length;
    },
    async top(domain, n, deadlineMs) {
      const wanted = Math.min(MAX_TOP, Math.max(0, Math.floor(n)));
      if (wanted === 0) return [];
      // Reads more than `n` of each window: a search that is second in every window may be first in the sum. For n =
      // 1000 it takes 4 ms of the server.
      const args = [Math.ceil(windowMs), wanted + 100];
      const reply = await run(TOP, keysOf(domain), args, { shape: 'array', deadlineMs });
      return reply.kind === 'fault' ? undefined : merge(reply.reply).slice(0, wanted);
    },
  };
}

/** False for a search that cannot be counted, or that is too long for its readers. */
const isCountable = ({ search, count }: QueryCount): boolean =>
  Number.isFinite(count) && count > 0 && search !== '' && Buffer.byteLength(search) <= MAX_SEARCH_BYTES;

/** Older windows weigh less. A search that we could not have counted was written by others, and is left out. */
function merge(reply: unknown): readonly QueryCount[] {
  const sums = new Map<string, number>();
  for (const [age, window] of (Array.isArray(reply) ? (reply as readonly unknown[]) : []).entries()) {
    const weight = 2 ** (-age / HALF_LIFE_WINDOWS);
    for (const [member, score] of pairsIn(window)) {
      const [search, count] = [String(member), Number(String(score))];
      if (isCountable({ search, count })) sums.set(search, (sums.get(search) ?? 0) + weight * count);
    }
  }
  return [...sums]
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .map(([search, sum]) => ({ search, count: Math.round(10 * sum) / 10 }));
}

/**
 * The scripts of the counters. KEYS: a ring of sorted sets in one slot, one per time window. The server's clock selects the
 * window, because the clocks of processes differ: a process with a fast clock would count in a window that no other
 * process reads. A key expires when its position in the ring is used again. A key of another type is skipped by reads and
 * overwritten by writes. TIME before a write needs effects replication: Redis ≥ 5.
 */
const WINDOW = `
local time = redis.call('TIME')
local window = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / ARGV[1])`;

/** ARGV: length of a window in ms, maximum members per set, then count, member, count, member … → 1. */
const ADD = `${WINDOW}
local key = KEYS[window % #KEYS + 1]
if type(redis.pcall('ZCARD', key)) == 'table' then redis.call('DEL', key) end
for at = 3, #ARGV, 2 do redis.call('ZINCRBY', key, ARGV[at], ARGV[at + 1]) end
redis.call('ZREMRANGEBYRANK', key, 0, -ARGV[2] - 1)
redis.call('PEXPIREAT', key, (window + #KEYS) * ARGV[1])
return 1`;

/** ARGV: length of a window in ms, members per window → per window, the newest first: member, count, member … */
const TOP = `${WINDOW}
local found = {}
for age = 0, #KEYS - 1 do
  local members = redis.pcall('ZREVRANGE', KEYS[(window - age) % #KEYS + 1], 0, ARGV[2] - 1, 'WITHSCORES')
  found[age + 1] = members.err and {} or members
end
return found`;
