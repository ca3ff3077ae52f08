/**
 * The scripts of a control document, for EVAL. It is one hash (`tag`, `value`, `renewals`): a server that evicts loses all
 * of it or nothing, never the renewals alone, which would look like an owner that lives. Without `tag` there is no
 * document, only renewals. Each script reads before it writes, see lease-script.ts.
 */

/** ARGV: a tag or '' → `{}` absent, `{renewals}` when that is its tag, else `{renewals, tag, value}`. */
export const READ = `
local held = redis.call('HMGET', KEYS[1], 'tag', 'renewals')
if not held[1] then return {} end
local renewals = held[2] or '0'
if held[1] == ARGV[1] then return { renewals } end
return { renewals, held[1], redis.call('HGET', KEYS[1], 'value') }`;

/** ARGV: `t<tag>` or 'absent', the next tag, the next value → 1 swapped, 0 something else is there. */
export const SWAP = `
local tag = redis.call('HGET', KEYS[1], 'tag')
if (tag and 't' .. tag or 'absent') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'tag', ARGV[2], 'value', ARGV[3])
return 1`;

/**
 * KEYS: the reports by id, their ids in the order of their coming. ARGV: id, report, lifetime in ms of all of them, how
 * many there may be → 1. The order needs no clock: each gets a number above the last. When a server that evicts has taken
 * one key of the two, both start anew: whoever lives reports again in a moment.
 */
export const REPORT = `
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or 0
if redis.call('HLEN', KEYS[1]) ~= redis.call('ZCARD', KEYS[2]) then redis.call('DEL', KEYS[1], KEYS[2]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], last + 1, ARGV[1])
local over = redis.call('ZCARD', KEYS[2]) - ARGV[4]
if over > 0 then
  redis.call('HDEL', KEYS[1], unpack(redis.call('ZRANGE', KEYS[2], 0, over - 1)))
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, over - 1)
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1`;
