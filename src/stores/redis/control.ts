import type { ControlRead, ControlStore } from '../../control/control-store.ts';
import { pairsIn, portFault, type SendCommand, scriptRunner, UNREADABLE, wholeMs } from './commands.ts';

/** Reports per domain, one per process; above it the oldest report is removed. */
const MAX_REPORTS = 256;
/** A larger report is neither written nor read: all reports together stay below the maximum size of a reply. */
const MAX_REPORT_BYTES = 64 * 1024;

/** Control documents and reports, by scripts on the node that owns the domain's slot. Any Redis-protocol server ≥ 5. */
export function createRedisControl({ send }: { readonly send: SendCommand }): ControlStore {
  const run = scriptRunner(send, 'control');

  return {
    async read(domain, known, deadlineMs) {
      const reply = await run(READ, [namesOf(domain).document], [Buffer.from(known ?? '', 'latin1')], {
        shape: 'array',
        deadlineMs,
      });
      return reply.kind === 'fault' ? portFault(reply) : decode(reply.reply);
    },
    async swap(domain, expected, { tag, value }, deadlineMs) {
      const args = [expected === undefined ? 'absent' : Buffer.from(`t${expected}`, 'latin1'), tag, value];
      const options = { shape: 'integer', deadlineMs, bytes: value.byteLength } as const;
      const reply = await run(SWAP, [namesOf(domain).document], args, options);
      if (reply.kind === 'fault') return portFault(reply);
      return { kind: reply.reply === 1 ? 'swapped' : 'conflict' };
    },
    async renew(domain, deadlineMs) {
      const { document } = namesOf(domain);
      const parts = ['HINCRBY', document, 'renewals', 1];
      const reply = await send(document, { operation: 'control', shape: 'integer', parts, deadlineMs });
      return reply.kind === 'fault' ? portFault(reply) : { kind: 'renewed', renewals: Number(reply.reply) };
    },
    async report(domain, id, value, ttlMs, deadlineMs) {
      if (value.byteLength > MAX_REPORT_BYTES) return false;
      const { reports, order } = namesOf(domain);
      const args = [id, value, wholeMs(ttlMs), MAX_REPORTS];
      const options = { shape: 'integer', deadlineMs, bytes: value.byteLength } as const;
      return (await run(REPORT, [reports, order], args, options)).kind === 'reply';
    },
    async reports(domain, deadlineMs) {
      const { reports } = namesOf(domain);
      const reply = await run(REPORTS, [reports], [MAX_REPORTS, MAX_REPORT_BYTES], { shape: 'array', deadlineMs });
      if (reply.kind === 'fault') return portFault(reply);
      const found = pairsIn(reply.reply).flatMap(([id, value]) =>
        // Copied: it may be a view of a larger read buffer.
        Buffer.isBuffer(value) ? [{ id: String(id), value: Buffer.from(value) }] : [],
      );
      return { kind: 'reports', reports: found };
    },
  };
}

/** One slot for all names of a domain. The colon in its tag keeps them out of each SCAN for entries. */
function namesOf(domain: string): { readonly document: string; readonly reports: string; readonly order: string } {
  const document = `sc1:${domain}:{control:${domain}}`;
  return { document, reports: `${document}:reports`, order: `${document}:reports:order` };
}

const buffersOf = (reply: unknown): readonly Buffer[] | undefined =>
  Array.isArray(reply) && reply.every((each) => Buffer.isBuffer(each)) ? reply : undefined;

function decode(reply: unknown): ControlRead {
  const found = buffersOf(reply);
  if (found?.length === 0) return { kind: 'absent' };
  const [count, tag, value] = found ?? [];
  const renewals = Number(count?.toString());
  // An unreadable reply is never `absent`: a process that reads `absent` writes a new document.
  if (!Number.isFinite(renewals) || (tag === undefined) !== (value === undefined)) return UNREADABLE;
  if (tag === undefined || value === undefined) return { kind: 'unchanged', renewals };
  // Latin-1 has one character per byte: any planted tag can be named in a swap.
  return { kind: 'value', tag: tag.toString('latin1'), value: Buffer.from(value), renewals };
}

/**
 * The scripts of a control document. The document is one hash (`tag`, `value`, `renewals`): a server that evicts loses all
 * of it or nothing. If the renewals survived alone, the owner of a drill would seem to be alive. Without `tag` there is
 * no document, only renewals. Each script reads before it writes, see commands.ts.
 */

/** The tag of a value that is no hash, or whose tag is too long: such a value may be overwritten. */
const UNREADABLE_TAG = 'unreadable';
const MAX_TAG_BYTES = 256;
/** Larger than the largest document; a larger value is read as an empty one. */
const MAX_VALUE_BYTES = 8 * 2 ** 20;

/** A value that HINCRBY can have written. Any other ("nan", the highest integer) would stop renewals or reads. */
const IS_COUNT = `
local function isCount(text)
  return text and #text < 16 and (text == '0' or string.match(text, '^[1-9]%d*$'))
end`;

/** ARGV: a tag or '' → `{}` absent, `{renewals}` when that is its tag, else `{renewals, tag, value}`. */
const READ = `${IS_COUNT}
local held = redis.pcall('HMGET', KEYS[1], 'tag', 'renewals')
if held.err then return { '0', '${UNREADABLE_TAG}', '' } end
if not held[1] then return {} end
local renewals = isCount(held[2]) and held[2] or '0'
if #held[1] > ${MAX_TAG_BYTES} then return { renewals, '${UNREADABLE_TAG}', '' } end
if held[1] == ARGV[1] then return { renewals } end
if redis.call('HSTRLEN', KEYS[1], 'value') > ${MAX_VALUE_BYTES} then return { renewals, held[1], '' } end
return { renewals, held[1], redis.call('HGET', KEYS[1], 'value') or '' }`;

/** ARGV: `t<tag>` or 'absent', the next tag, the next value → 1 swapped, 0 another document or none is stored. */
const SWAP = `${IS_COUNT}
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
 * KEYS: the reports by id, their ids in the order of arrival. ARGV: id, report, lifetime of all reports in ms, maximum
 * number of reports → 1. The order needs no clock: each report gets a number above the last. Both keys are started again when the
 * server has evicted one of them, or when one holds a value that these scripts cannot have written: every live process
 * reports again in a moment.
 */
const REPORT = `
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
 * ARGV: maximum number of reports, maximum bytes of one → id, report, id, report … If there are more, others wrote them:
 * none is read, and our next report starts both keys again.
 */
const REPORTS = `
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
