/**
 * The scripts of the counters, for EVAL. KEYS: a ring of sorted sets in one slot, one per window of time. Which one is
 * meant says the server's clock, because processes' clocks differ: what a fast one counted would lie where nobody looks.
 * A key ends when its place in the ring comes round again; what is no sorted set is passed over, and written over. TIME
 * before a write wants effects replication: Redis ≥ 5.
 */
const WINDOW = `
local time = redis.call('TIME')
local window = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / ARGV[1])`;

/** ARGV: the window's length in ms, the most members a set may have, then counts and members in turn → 1. */
export const ADD = `${WINDOW}
local key = KEYS[window % #KEYS + 1]
if type(redis.pcall('ZCARD', key)) == 'table' then redis.call('DEL', key) end
for at = 3, #ARGV, 2 do redis.call('ZINCRBY', key, ARGV[at], ARGV[at + 1]) end
redis.call('ZREMRANGEBYRANK', key, 0, -ARGV[2] - 1)
redis.call('PEXPIREAT', key, (window + #KEYS) * ARGV[1])
return 1`;

/** ARGV: the window's length in ms, members per window → per window, the present one first, members and counts in turn. */
export const TOP = `${WINDOW}
local found = {}
for age = 0, #KEYS - 1 do
  local members = redis.pcall('ZREVRANGE', KEYS[(window - age) % #KEYS + 1], 0, ARGV[2] - 1, 'WITHSCORES')
  found[age + 1] = members.err and {} or members
end
return found`;
