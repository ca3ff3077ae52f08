/**
 * The scripts of a lease, for EVAL. EVALSHA saves 0.5–2 µs of the server's 16 per call (7.0.15) and asks for a second
 * way when a server has forgotten them: not worth it. KEYS: the lease, then the entry.
 *
 * A lease holds `t` and its token, a pass mark `p` alone: no token whatever can be taken for a mark. Each script reads
 * before it writes, since a server without memory refuses the first write but none after a successful one.
 */

/** Above what the longest `engine.hardDeadline`, ten minutes, makes of a lease. */
const MAX_LEASE_MS = 900_000;

/**
 * Ends the script where somebody holds the lease or its mark. What has no lifetime, or a longer one than any process gives a
 * lease, was written by somebody else: waited for, it would keep its key from being computed for ever. A user who may not ask
 * for lifetimes waits, as before.
 */
const UNLESS_HELD = `
local lease = redis.call('GET', KEYS[1])
if lease then
  local left = redis.pcall('PTTL', KEYS[1])
  if type(left) ~= 'number' or (left >= 0 and left <= ${MAX_LEASE_MS}) then return { lease == 'p' and 'pass' or 'held' } end
end`;

/** ARGV: `t<token>`, lifetime in ms → `{'taken', entry | nil}`, `{'held'}` or `{'pass'}`. */
export const TAKE = `${UNLESS_HELD}
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local entry = redis.pcall('GET', KEYS[2])
return { 'taken', type(entry) == 'string' and entry }`;

/**
 * ARGV: `t<token>`, the entry, its lifetime in ms → 1 written, 0 it was no longer ours. The lease goes whether the
 * entry could be written or not: SET first, because a server out of memory lets DEL pass and then would let SET pass.
 */
export const WRITE_AND_RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local written = redis.pcall('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('DEL', KEYS[1])
if written.err then return written end
return 1`;

/** ARGV: `t<token>`, ms of a pass mark or 0. Without memory for the mark the lease goes all the same. */
export const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= '0' and not redis.pcall('SET', KEYS[1], 'p', 'PX', ARGV[2]).err then return 1 end
return redis.call('DEL', KEYS[1])`;

/** → `{'held'}`, `{'pass'}` or `{'free', entry | nil}`: what waits does not move the entry's bytes before it may have them. */
export const LOOK = `${UNLESS_HELD}
return { 'free', redis.call('GET', KEYS[2]) }`;
