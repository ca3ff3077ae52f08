import type { StoreFault } from '../../cache/events.ts';
import type { LeaseLook, LeaseNames, LeaseStore, LeaseTake, LeaseWrite } from '../../cache/store.ts';
import { type CommandReply, portFault, type SendCommand, scriptRunner, UNREADABLE, wholeMs } from './command.ts';

interface RedisLeaseOptions {
  readonly send: SendCommand;
  /** The wait for the reply to a release before it is sent again. */
  readonly deadlineMs: number;
  /** [0, 1) */
  readonly random: () => number;
  /** True when the store is closed: no release is sent any more. */
  readonly closed: () => boolean;
}

/** A lease that stays behind delays its key until it expires: after a broken connection its release is sent again. */
const MAX_RELEASE_ATTEMPTS = 6;
/** 250–500 ms between attempts, longer than a connection needs to come back. */
const RELEASE_RETRY_MS = 500;
/** Releases that wait for their next attempt, one timer each. Above this number a lease is left to expire. */
const MAX_PENDING_RETRIES = 256;

/** Leases by scripts on the node that owns the key: an entry and its lease share a slot. */
export function createRedisLeases({ send, deadlineMs, random, closed }: RedisLeaseOptions): LeaseStore {
  let pendingRetries = 0;

  const run = scriptRunner(send, 'lease');

  /** A lost reply may be a lost release, so it is sent again. A second release finds no lease of its token. */
  const release = async (names: LeaseNames, token: string, passForMs: number, attempt = 1): Promise<void> => {
    const late = (reply: CommandReply): void => {
      if (isLost(reply)) retry();
    };
    const retry = (): void => {
      if (closed() || attempt >= MAX_RELEASE_ATTEMPTS || pendingRetries >= MAX_PENDING_RETRIES) return;
      pendingRetries += 1;
      const releaseAgain = (): void => {
        pendingRetries -= 1;
        if (!closed()) void release(names, token, passForMs, attempt + 1);
      };
      setTimeout(releaseAgain, RELEASE_RETRY_MS * (0.5 + random() / 2)).unref();
    };
    const reply = await run(RELEASE, [names.lease], [`t${token}`, passForMs], { shape: 'integer', deadlineMs, late });
    // After `store-slow` the command is still in flight: `late` is called with its result.
    if (isLost(reply)) retry();
  };

  return {
    async take(names, token, ttlMs, takeDeadlineMs): Promise<LeaseTake> {
      /** The caller is gone, or no reply came: a lease that may have been taken is released. */
      const giveBack = (reply: CommandReply): void => {
        const taken = reply.kind === 'reply' ? decode(reply.reply).word === 'taken' : reply.sent && isLost(reply);
        if (taken) void release(names, token, 0);
      };
      const args = [`t${token}`, wholeMs(ttlMs)];
      const options = { shape: 'array', deadlineMs: takeDeadlineMs, late: giveBack } as const;
      const reply = await run(TAKE, keysOf(names), args, options);
      if (reply.kind === 'fault') {
        giveBack(reply);
        return portFault(reply);
      }
      const { word, value } = decode(reply.reply);
      switch (word) {
        case 'taken':
          return { kind: 'taken', ...value };
        case 'held':
        case 'pass':
          return { kind: word };
        default:
          return UNREADABLE;
      }
    },
    async writeAndRelease(names, token, value, ttlMs): Promise<LeaseWrite> {
      const args = [`t${token}`, value, wholeMs(ttlMs)];
      const reply = await run(WRITE_AND_RELEASE, keysOf(names), args, { shape: 'integer', bytes: value.byteLength });
      if (reply.kind === 'reply') return reply.reply === 1 ? { kind: 'stored' } : { kind: 'dropped', fault: 'fenced' };
      // Saturated, refused before the script began, or lost: the lease is released without its entry.
      void release(names, token, 0);
      return { kind: 'dropped', fault: reply.fault };
    },
    release: (names, token, passForMs = 0) => release(names, token, passForMs > 0 ? wholeMs(passForMs) : 0),
    async look(names, lookDeadlineMs): Promise<LeaseLook> {
      const reply = await run(LOOK, keysOf(names), [], { shape: 'array', deadlineMs: lookDeadlineMs });
      if (reply.kind === 'fault') return portFault(reply);
      const { word, value } = decode(reply.reply);
      switch (word) {
        case 'free':
          return { kind: 'free', ...value };
        case 'held':
        case 'pass':
          return { kind: word };
        default:
          return UNREADABLE;
      }
    },
  };
}

const keysOf = ({ lease, entry }: LeaseNames): readonly string[] => [lease, entry];

/** Faults after which the server may not have executed the command. */
const LOST: readonly (StoreFault | 'refused')[] = ['store-down', 'node-open', 'store-saturated'];

const isLost = (reply: CommandReply): boolean => reply.kind === 'fault' && LOST.includes(reply.fault);

function decode(reply: unknown): { readonly word: string; readonly value: { readonly value?: Buffer } } {
  const [word, value] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  return { word: String(word), value: Buffer.isBuffer(value) ? { value } : {} };
}

/**
 * The scripts of a lease. KEYS: the lease, then the entry.
 *
 * The value of a lease is `t` and its token, the value of a pass mark is `p`: no token can be confused with a mark. Each
 * script reads before it writes, because a server without memory refuses the first write of a script but no write after a
 * successful one.
 */

/** Longer than the lease that the longest `engine.hardDeadline`, ten minutes, gives. */
const MAX_LEASE_MS = 900_000;

/**
 * Ends the script when the key holds a lease or a pass mark. A value without a lifetime, or with a longer one than any
 * process gives a lease, was not written by us: waiting for it could block its page for ever. For an ACL user without
 * the right to PTTL every value counts as a lease.
 */
const UNLESS_HELD = `
local lease = redis.call('GET', KEYS[1])
if lease then
  local left = redis.pcall('PTTL', KEYS[1])
  if type(left) ~= 'number' or (left >= 0 and left <= ${MAX_LEASE_MS}) then return { lease == 'p' and 'pass' or 'held' } end
end`;

/** ARGV: `t<token>`, lifetime in ms → `{'taken', entry | nil}`, `{'held'}` or `{'pass'}`. */
const TAKE = `${UNLESS_HELD}
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local entry = redis.pcall('GET', KEYS[2])
return { 'taken', type(entry) == 'string' and entry }`;

/**
 * ARGV: `t<token>`, the entry, its lifetime in ms → 1 written, 0 the lease was no longer ours. The lease is deleted whether
 * the entry could be written or not. SET comes first, because a server out of memory allows DEL, and would then allow SET.
 */
const WRITE_AND_RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local written = redis.pcall('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('DEL', KEYS[1])
if written.err then return written end
return 1`;

/**
 * ARGV: `t<token>`, lifetime of a pass mark in ms or 0. When the server has no memory for the mark, the lease is
 * deleted and no mark is left.
 */
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= '0' and not redis.pcall('SET', KEYS[1], 'p', 'PX', ARGV[2]).err then return 1 end
return redis.call('DEL', KEYS[1])`;

/** → `{'held'}`, `{'pass'}` or `{'free', entry | nil}`: the entry's bytes are sent only when the wait is over. */
const LOOK = `${UNLESS_HELD}
return { 'free', redis.call('GET', KEYS[2]) }`;
