import type { ChangeSource, ChangeStream, StreamRead } from '../../changes/feed.ts';
import { MAX_BATCH_BYTES, READ_BATCHES } from '../../changes/feed.ts';
import { pairsIn, portFault, type SendCommand, scriptRunner, UNREADABLE } from './commands.ts';

interface RedisChangesOptions {
  readonly send: SendCommand;
  /** The oldest batches are dropped beyond it. */
  readonly maxBytes?: number;
}

/** About 200,000 changes with their words, or half a million without. */
const MAX_STREAM_BYTES = 32 * 2 ** 20;

/** The feed of changes as a capped stream beside the control document. Any Redis-protocol server ≥ 5. */
export function createRedisChanges({ send, maxBytes = MAX_STREAM_BYTES }: RedisChangesOptions): ChangeStream {
  const run = scriptRunner(send, 'changes');
  return {
    async append(domain, { bytes, source }, deadlineMs) {
      const place = source === undefined ? ['-', ''] : [`=${source.expected}`, source.next];
      const args = [bytes, maxBytes, ...place];
      const reply = await run(APPEND, [nameOf(domain)], args, { shape: 'integer', deadlineMs, bytes: bytes.length });
      if (reply.kind === 'fault') return portFault(reply);
      return { kind: reply.reply === 1 ? 'appended' : 'conflict' };
    },
    async read(domain, after, deadlineMs) {
      const reply = await run(READ, [nameOf(domain)], [after ?? '0-0', READ_BATCHES], { shape: 'array', deadlineMs });
      return reply.kind === 'fault' ? portFault(reply) : decode(reply.reply);
    },
  };
}

/** On the slot of the control document. The colon in its tag keeps it out of each SCAN for entries. */
const nameOf = (domain: string): string => `sc1:${domain}:{control:${domain}}:changes`;

/** The stream that another team fills, under its own name. */
export function createRedisSource({ send, key }: { readonly send: SendCommand; readonly key: string }): ChangeSource {
  const run = scriptRunner(send, 'changes');
  return {
    async read(after, deadlineMs) {
      const reply = await run(READ_SOURCE, [key], [after, SOURCE_ENTRIES], { shape: 'array', deadlineMs });
      if (reply.kind === 'fault') return { ...portFault(reply), detail: reply.detail };
      const [last, trimmed, ...entries] = reply.reply as readonly unknown[];
      return {
        kind: 'entries',
        last: String(last),
        trimmed: trimmed === 1,
        entries: entries.flatMap((entry) => {
          const [id, fields] = Array.isArray(entry) ? entry : [];
          return [
            { id: String(id), fields: new Map(pairsIn(fields).map((pair) => pair.map(String) as [string, string])) },
          ];
        }),
      };
    },
  };
}

const SOURCE_ENTRIES = 500;

function decode(reply: unknown): StreamRead {
  const [ms, last, ...batches] = reply as readonly unknown[];
  const nowMs = Number(ms);
  if (!Number.isSafeInteger(nowMs)) return UNREADABLE;
  const read = batches.map(batchOf);
  const [newest] = last === null ? [] : [batchOf(last)];
  const bad = [newest, ...read].some((batch) => batch !== undefined && !Number.isSafeInteger(batch.number));
  if (bad) return UNREADABLE;
  return { kind: 'batches', nowMs, last: newest, batches: read };
}

function batchOf(entry: unknown) {
  const [id, flat] = Array.isArray(entry) ? entry : [];
  const fields = new Map(pairsIn(flat).map(([name, value]) => [String(name), value]));
  const bytes = fields.get('c');
  return {
    id: String(id),
    number: Number(fields.get('n') ?? Number.NaN),
    source: String(fields.get('s') ?? ''),
    // Copied: it may be a view of a larger read buffer.
    bytes: Buffer.from(Buffer.isBuffer(bytes) ? bytes : ''),
  };
}

/**
 * The scripts of a stream. Each entry holds its number `n`, the bytes of all entries up to it `t`, the place in the source `s` and
 * the batch `c`: the newest entry, which is never dropped, has all that the next one needs.
 */
const HELPERS = `
local function fieldsOf(entry)
  local found = {}
  for i = 1, #entry[2], 2 do found[entry[2][i]] = entry[2][i + 1] end
  return found
end`;

/** ARGV: the batch, maximum of bytes, `-` or `=` and the place that the source must have, its next place → 1 added, 0 not. */
const APPEND = `${HELPERS}
local newest = redis.pcall('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local last = not newest.err and newest[1] and fieldsOf(newest[1]) or {}
local number, total = tonumber(last.n), tonumber(last.t)
if newest.err or (newest[1] and not (number and total)) then
  redis.call('DEL', KEYS[1])
  last = {}
end
local place = last.s or ''
if ARGV[3] ~= '-' then
  if ARGV[3] ~= '=' .. place then return 0 end
  place = ARGV[4]
end
if #ARGV[1] > ${MAX_BATCH_BYTES} then return redis.error_reply('the batch is too large') end
total = (total or 0) + #ARGV[1] + 100
redis.call('XADD', KEYS[1], '*', 'n', (number or 0) + 1, 't', string.format('%.0f', total), 's', place, 'c', ARGV[1])
for _ = 1, 100 do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  if total - (tonumber(fieldsOf(oldest).t) or 0) <= tonumber(ARGV[2]) then break end
  redis.call('XDEL', KEYS[1], oldest[1])
end
return 1`;

/** ARGV: an id, maximum of entries → the time in ms, the newest entry or nil, the entries after the id. */
const READ = `
local time = redis.call('TIME')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
local newest = redis.pcall('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
if newest.err or not newest[1] then return { now, false } end
local found = redis.call('XREAD', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], ARGV[1])
return { now, newest[1], unpack(found and found[1][2] or {}) }`;

/** ARGV: an id or '', maximum of entries → the last id read, 1 when the entry of the id is gone, the entries after it. */
const READ_SOURCE = `
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if ARGV[1] == '' then return { newest and newest[1] or '0-0', 0 } end
local found = redis.call('XREAD', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], ARGV[1])
local entries = found and found[1][2] or {}
local gone = ARGV[1] ~= '0-0' and #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0
if #entries == 0 then
  if not gone then return { ARGV[1], 0 } end
  return { newest and newest[1] or '0-0', 1 }
end
return { entries[#entries][1], gone and 1 or 0, unpack(entries) }`;
