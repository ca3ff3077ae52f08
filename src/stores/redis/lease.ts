import type { StoreFault } from '../../cache/events.ts';
import type { LeaseLook, LeaseNames, LeaseStore, LeaseTake, LeaseWrite } from '../../cache/store.ts';
import type { Command, CommandReply } from './send.ts';

export interface RedisLeaseOptions {
  /** To the owner of `name`; a fault when there is none. */
  readonly send: (name: string, command: Command) => Promise<CommandReply>;
  /** How long a release is waited for before it is tried again. */
  readonly deadlineMs: number;
  /** [0, 1) */
  readonly random: () => number;
  /** True once the store is closed: nothing is owed any more. */
  readonly closed: () => boolean;
}

/** A lease left behind delays its key until it expires: after a broken connection it is given back this patiently. */
const RELEASE_ATTEMPTS = 6;
/** 250–500 ms between them, longer than a connection needs to come back. */
const RELEASE_GAP_MS = 500;
/** Releases that wait for another attempt, one timer each. Past it a lease is left to expire. */
const MAX_OWED = 256;

/** Leases by scripts on the node that owns the key: an entry and its lease share a slot. */
export function createRedisLeases({ send, deadlineMs, random, closed }: RedisLeaseOptions): LeaseStore {
  let owed = 0;

  const run = (
    names: LeaseNames,
    script: string,
    args: Command['parts'],
    more: Pick<Command, 'shape' | 'deadlineMs' | 'late' | 'bytes'>,
  ) =>
    send(names.lease, { operation: 'lease', parts: ['EVAL', script, 2, names.lease, names.entry, ...args], ...more });

  /** A lost reply may be a lost release, so it is repeated: a second one finds a token that is not there and does nothing. */
  const release = async (names: LeaseNames, token: string, passForMs: number, attempt = 1): Promise<void> => {
    const parts = ['EVAL', RELEASE, 1, names.lease, `t${token}`, passForMs];
    const late = (reply: CommandReply): void => {
      if (isLost(reply)) again();
    };
    const again = (): void => {
      if (closed() || attempt >= RELEASE_ATTEMPTS || owed >= MAX_OWED) return;
      owed += 1;
      const retry = (): void => {
        owed -= 1;
        if (!closed()) void release(names, token, passForMs, attempt + 1);
      };
      setTimeout(retry, RELEASE_GAP_MS * (0.5 + random() / 2)).unref();
    };
    const reply = await send(names.lease, { operation: 'lease', shape: 'integer', parts, deadlineMs, late });
    // Slow is on its way: `late` tells how it ends.
    if (isLost(reply)) again();
  };

  return {
    async take(names, token, ttlMs, takeDeadlineMs): Promise<LeaseTake> {
      /** Nobody waits for it, or the connection broke between the question and the answer: perhaps it was taken. */
      const giveBack = (reply: CommandReply): void => {
        const taken = reply.kind === 'reply' ? decode(reply.reply).word === 'taken' : reply.sent && isLost(reply);
        if (taken) void release(names, token, 0);
      };
      const args = [`t${token}`, wholeMs(ttlMs)];
      const reply = await run(names, TAKE, args, {
        shape: 'array',
        deadlineMs: takeDeadlineMs,
        late: giveBack,
      });
      if (reply.kind === 'fault') {
        giveBack(reply);
        return faultOf(reply);
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
      const reply = await run(names, WRITE_AND_RELEASE, args, { shape: 'integer', bytes: value.byteLength });
      if (reply.kind === 'reply') return reply.reply === 1 ? { kind: 'stored' } : { kind: 'dropped', fault: 'fenced' };
      // Saturated, refused before the script began, or lost on the way: the lease goes without its entry.
      void release(names, token, 0);
      return { kind: 'dropped', fault: reply.fault };
    },
    release: (names, token, passForMs = 0) => release(names, token, passForMs > 0 ? wholeMs(passForMs) : 0),
    async look(names, lookDeadlineMs): Promise<LeaseLook> {
      const reply = await run(names, LOOK, [], { shape: 'array', deadlineMs: lookDeadlineMs });
      if (reply.kind === 'fault') return faultOf(reply);
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

type Faulty = Extract<CommandReply, { readonly kind: 'fault' }>;

/** Not a word of our scripts. */
const UNREADABLE = { kind: 'fault', fault: 'refused' } as const;

const faultOf = ({ fault }: Faulty) => ({ kind: 'fault', fault }) as const;

const LOST: readonly (StoreFault | 'refused')[] = ['store-down', 'node-open', 'store-saturated'];

const isLost = (reply: CommandReply): boolean => reply.kind === 'fault' && LOST.includes(reply.fault);

const wholeMs = (ms: number): number => Math.max(1, Math.ceil(ms));

function decode(reply: unknown): { readonly word: string; readonly value: { readonly value?: Buffer } } {
  const [word, value] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  return { word: String(word), value: Buffer.isBuffer(value) ? { value } : {} };
}

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
