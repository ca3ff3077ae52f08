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
    async append(domain, { bytes, afterMs, source }, deadlineMs) {
      const place = source === undefined ? ['-', ''] : [`=${source.expected}`, source.next];
      const args = [bytes, maxBytes, ...place, afterMs];
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
    key,
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
  return { kind: 'batches', nowMs, last: last === null ? undefined : batchOf(last), batches: read };
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
end
local function countIn(text)
  local n = tonumber(text)
  return n and n >= 1 and n <= 2 ^ 52 and n % 1 == 0 and n or nil
end`;

/**
 * ARGV: the batch, maximum of bytes, `-` or `=` and the place that the source must have, its next place, the time in ms after which the
 * batch is → 1 added, 0 not. A server that took over may have an earlier clock: the ids then go on a second after the latest
 * time that a process has read from the old one.
 */
const APPEND = `${HELPERS}
local newest = redis.pcall('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local last = not newest.err and newest[1] and fieldsOf(newest[1]) or {}
local number, total = countIn(last.n), countIn(last.t)
local lastMs, sequence = 0, 0
if number and total then
  lastMs, sequence = string.match(newest[1][1], '(%d+)-(%d+)')
  lastMs, sequence = tonumber(lastMs), tonumber(sequence)
end
if newest.err or (newest[1] and not (number and total and lastMs < 2 ^ 42)) then
  redis.call('DEL', KEYS[1])
  last, lastMs, sequence, number, total = {}, 0, 0, nil, nil
end
local place = last.s or ''
if ARGV[3] ~= '-' then
  if ARGV[3] ~= '=' .. place then return 0 end
  place = ARGV[4]
end
if #ARGV[1] > ${MAX_BATCH_BYTES} then return redis.error_reply('the batch is too large') end
total = (total or 0) + #ARGV[1] + 100
local time = redis.call('TIME')
local ms, after = tonumber(time[1]) * 1000 + math.floor(time[2] / 1000), tonumber(ARGV[5])
if ms < after and lastMs < after then ms = after + 1000 end
if ms > lastMs then sequence = 0 elseif sequence < 1023 then ms, sequence = lastMs, sequence + 1 else ms, sequence = lastMs + 1, 0 end
redis.call('XADD', KEYS[1], string.format('%.0f-%d', ms, sequence), 'n', (number or 0) + 1, 't', string.format('%.0f', total), 's', place, 'c', ARGV[1])
for _ = 1, 100 do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  if total - (tonumber(fieldsOf(oldest).t) or 0) <= tonumber(ARGV[2]) then break end
  redis.call('XDEL', KEYS[1], oldest[1])
end
return 1`;

/** A read ends with the batch that exceeds it, so that each arrives in time on a slow network. */
const MAX_READ_BYTES = 2 ** 20;

/**
 * ARGV: an id, maximum of entries → the time in ms, the newest entry without its batch or nil, the entries after the id. A stream counts
 * as absent when another program has written its newest entry. A batch above MAX_BATCH_BYTES is replaced by bytes that are no
 * records: its reader finds a gap.
 */
const READ = `${HELPERS}
local time = redis.call('TIME')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
local newest = redis.pcall('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local last = not newest.err and newest[1] and fieldsOf(newest[1]) or {}
if not (countIn(last.n) and countIn(last.t)) then return { now, false } end
local found = redis.call('XREAD', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], ARGV[1])
local reply, bytes = { now, { newest[1][1], { 'n', last.n, 's', last.s or '' } } }, 0
for _, entry in ipairs(found and found[1][2] or {}) do
  local batch = fieldsOf(entry)
  local records = batch.c or ''
  if #records > ${MAX_BATCH_BYTES} then records = 'too large' end
  bytes = bytes + #records
  reply[#reply + 1] = { entry[1], { 'n', batch.n or '', 'c', records } }
  if bytes > ${MAX_READ_BYTES} then break end
end
return reply`;

/** A longer entry, as a longer line of a call, is refused: its fields are replaced by words that are no change. */
const MAX_ENTRY_BYTES = 2 * 2 ** 20;

/** ARGV: an id or '', maximum of entries, which are read a few at a time → the last id read, 1 when the entry of the id is gone, the entries after it. */
const READ_SOURCE = `
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local last = newest and newest[1] or '0-0'
if ARGV[1] == '' then return { last, 0 } end
local gone = ARGV[1] ~= '0-0' and #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0
local reply, bytes = { ARGV[1], gone and 1 or 0 }, 0
repeat
  local found = redis.call('XREAD', 'COUNT', math.min(#reply - 1, 10), 'STREAMS', KEYS[1], reply[1])
  for _, entry in ipairs(found and found[1][2] or {}) do
    local size = 0
    for _, text in ipairs(entry[2]) do size = size + #text end
    if size > ${MAX_ENTRY_BYTES} then entry[2] = { 'change', 'longer than ${MAX_ENTRY_BYTES} bytes' } end
    bytes = bytes + size
    reply[1] = entry[1]
    reply[#reply + 1] = entry
    if #reply == ARGV[2] + 2 or bytes > ${MAX_READ_BYTES} then return reply end
  end
until not found
if #reply == 2 and gone then reply[1] = last end
return reply`;
