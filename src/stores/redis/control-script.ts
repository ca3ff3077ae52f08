/**
 * The scripts of a control document, for EVAL. It is one hash (`tag`, `value`, `renewals`): a server that evicts loses all
 * of it or nothing, never the renewals alone, which would look like an owner that lives. Without `tag` there is no
 * document, only renewals. Each script reads before it writes, see lease-script.ts.
 */

/** Stands for the tag of what is no hash, or has a longer tag than any of ours: such a value may be written over. */
export const UNREADABLE_TAG = 'unreadable';
const MAX_TAG_BYTES = 256;
/** Above what the largest document is; a larger value is read as an empty one. */
const MAX_VALUE_BYTES = 8 * 2 ** 20;

/** What HINCRBY can have left. Anything else ("nan", the highest there is) would stop renewals, or every read, for good. */
const IS_COUNT = `
local function isCount(text)
  return text and #text < 16 and (text == '0' or string.match(text, '^[1-9]%d*$'))
end`;

/** ARGV: a tag or '' → `{}` absent, `{renewals}` when that is its tag, else `{renewals, tag, value}`. */
export const READ = `${IS_COUNT}
local held = redis.pcall('HMGET', KEYS[1], 'tag', 'renewals')
if held.err then return { '0', '${UNREADABLE_TAG}', '' } end
if not held[1] then return {} end
local renewals = isCount(held[2]) and held[2] or '0'
if #held[1] > ${MAX_TAG_BYTES} then return { renewals, '${UNREADABLE_TAG}', '' } end
if held[1] == ARGV[1] then return { renewals } end
if redis.call('HSTRLEN', KEYS[1], 'value') > ${MAX_VALUE_BYTES} then return { renewals, held[1], '' } end
return { renewals, held[1], redis.call('HGET', KEYS[1], 'value') or '' }`;

/** ARGV: `t<tag>` or 'absent', the next tag, the next value → 1 swapped, 0 something else is there. */
export const SWAP = `${IS_COUNT}
local tag = redis.pcall('HGET', KEYS[1], 'tag')
local unreadable = tag and (tag.err or #tag > ${MAX_TAG_BYTES})
if unreadable then tag = '${UNREADABLE_TAG}' end
if (tag and 't' .. tag or 'absent') ~= ARGV[1] then return 0 end
if unreadable then redis.call('DEL', KEYS[1]) end
local renewals = redis.call('HGET', KEYS[1], 'renewals')
redis.call('HSET', KEYS[1], 'tag', ARGV[2], 'value', ARGV[3])
if renewals and not isCount(renewals) then redis.call('HDEL', KEYS[1], 'renewals') end
return 1`;

/**
 * KEYS: the reports by id, their ids in the order of their coming. ARGV: id, report, lifetime in ms of all of them, how
 * many there may be → 1. The order needs no clock: each gets a number above the last. When a server that evicts has taken
 * one key of the two, or somebody else has put there what these scripts cannot have, both start anew: whoever lives reports
 * again in a moment.
 */
export const REPORT = `
local count = redis.pcall('HLEN', KEYS[1])
local newest = redis.pcall('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
local last = tonumber(newest[2] or 0)
if type(count) == 'table' or newest.err or count > tonumber(ARGV[4]) or last >= 2^52
  or count ~= redis.call('ZCARD', KEYS[2]) then
  redis.call('DEL', KEYS[1], KEYS[2])
  last = 0
end
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

/**
 * ARGV: how many reports there may be, the most bytes of one → ids and reports by turns. More than that many were written
 * by somebody else: none is read, and the next report of ours begins anew.
 */
export const REPORTS = `
local count = redis.call('HLEN', KEYS[1])
if count == 0 or count > tonumber(ARGV[1]) then return {} end
local found = {}
for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do
  if #id <= ${MAX_TAG_BYTES} and redis.call('HSTRLEN', KEYS[1], id) <= tonumber(ARGV[2]) then
    found[#found + 1] = id
    found[#found + 1] = redis.call('HGET', KEYS[1], id)
  end
end
return found`;
