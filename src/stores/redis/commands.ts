import type { StoreFault } from '../../cache/events.ts';
import type {
  LeaseLook,
  LeaseNames,
  LeaseStore,
  LeaseTake,
  LeaseWrite,
  SeedItem,
  Store,
  StoreEvent,
  StoreRead,
  StoreWrite,
} from '../../cache/store.ts';
import type { RedisNode } from './node.ts';
import {
  causeOf,
  DirectCommand,
  type FailureCause,
  failureOf,
  type NodeRequest,
  type RequestKind,
  type SendToOwner,
  send,
} from './send.ts';

/** The commands for one name: GET and SET of entries, and everything else as one command or script. */

export function entryCommands(toOwner: SendToOwner): Pick<Store, 'read' | 'write'> {
  return {
    read: (name, deadlineMs, settle) => toOwner(name, READ, { name, deadlineMs }, settle),
    write: (name, value, ttlMs) =>
      new Promise((resolve) => toOwner(name, WRITE, { name, value, ttlMs, bytes: value.byteLength }, resolve)),
  };
}

/** One object per fault: a refused read allocates nothing. */
export const READ_FAULTS: Readonly<Record<StoreFault, Extract<StoreRead, { readonly kind: 'fault' }>>> = {
  'node-open': { kind: 'fault', fault: 'node-open' },
  'store-down': { kind: 'fault', fault: 'store-down' },
  'store-saturated': { kind: 'fault', fault: 'store-saturated' },
  'store-slow': { kind: 'fault', fault: 'store-slow' },
};

export const ABSENT: StoreRead = { kind: 'absent' };

/** Such a reply cannot belong to GET: replies and commands are out of step, or the server is not Redis. */
export const NOT_A_VALUE = 'a reply to GET that is neither a string nor nil';

/** GET. */
const READ: RequestKind<{ readonly name: string; readonly deadlineMs: number }, unknown, StoreRead> = {
  admit: (node) => node.admitRead(),
  send: (redis, { name }, replies) => void redis.sendCommand(new DirectCommand('get', [name], replies)),
  mismatch: (reply) => (reply === null || Buffer.isBuffer(reply) ? undefined : NOT_A_VALUE),
  answer: (reply) => (Buffer.isBuffer(reply) ? { kind: 'value', value: reply } : ABSENT),
  fail: readFailure,
  expire: (node, _request, reply) => ({ kind: 'fault', fault: 'store-slow', late: lateValue(node, reply) }),
  event: (_request, result, durationMs) => ({
    kind: 'command',
    operation: 'read',
    result: result.kind === 'fault' ? result.fault : result.kind,
    durationMs,
  }),
};

/** A redirect that is not followed is a miss; everything that the node will not do is the fault `store-down`. */
export function readFailure(cause: FailureCause): StoreRead {
  return cause === 'moved' ? ABSENT : READ_FAULTS[cause === 'refused' ? 'store-down' : cause];
}

/** The reply to an abandoned read. An error after the deadline (mostly a connection that broke) is not examined. */
export async function lateValue(node: RedisNode, sent: Promise<unknown>): Promise<Buffer | undefined> {
  const reply = await sent.catch((error: Error) => error);
  if (reply instanceof Error) return undefined;
  const value = Buffer.isBuffer(reply) ? reply : undefined;
  if (value === undefined && reply !== null) node.protocolError(NOT_A_VALUE);
  node.observe({ kind: 'late', hit: value !== undefined });
  return value;
}

const STORED: StoreWrite = { kind: 'stored' };

/**
 * SET … PX. No reply to a client waits for it, so it has no deadline and ends with its connection: confirmed, refused, or
 * given up when `socketTimeout` closes the socket. OOM and similar errors refuse a write while every read is served, so
 * they do not count as failures of the node.
 */
const WRITE: RequestKind<SeedItem & NodeRequest, unknown, StoreWrite> = {
  admit: (node, { value }) => node.admitWrite(value.byteLength),
  send: (redis, { name, value, ttlMs }, replies) =>
    void redis.sendCommand(new DirectCommand('set', [name, value, 'PX', wholeMs(ttlMs)], replies)),
  answer: () => STORED,
  fail: (cause) => ({ kind: 'dropped', fault: storeFaultOf(cause) }),
  event: (_request, result, durationMs) => ({
    kind: 'command',
    operation: 'write',
    result: result.kind === 'stored' ? 'stored' : result.fault,
    durationMs,
  }),
};

/** One command or script for one name, beside the GET and SET of entries. */
export interface StoreCommand {
  readonly operation: Exclude<Extract<StoreEvent, { readonly kind: 'command' }>['operation'], 'read' | 'write'>;
  /** Name and arguments, as `['ZREM', key, id]`. */
  readonly parts: readonly (string | number | Buffer)[];
  /** The type of its reply. A reply of another type belongs to another command. */
  readonly shape: 'array' | 'integer' | 'string';
  /** Without a deadline it is admitted as a write of `bytes`, which never probes a node whose breaker is open. */
  readonly deadlineMs?: number;
  readonly bytes?: number;
  /** Called with the late result of a command that missed its deadline. */
  readonly late?: (reply: CommandReply) => void;
}

/** `reply`: bulk strings are Buffers, integers numbers, nil null, arrays arrays of these. */
export type CommandReply = { readonly kind: 'reply'; readonly reply: unknown } | CommandFault;

/** `sent`: the node may have executed it although no reply came. `detail`: the server's message, for an operator. */
export interface CommandFault {
  readonly kind: 'fault';
  readonly fault: StoreFault | 'refused';
  readonly sent: boolean;
  readonly detail?: string;
}

/** Sends the command to the owner of `name`; a fault when there is none. */
export type SendCommand = (name: string, command: StoreCommand) => Promise<CommandReply>;

export const commandSender =
  (toOwner: SendToOwner): SendCommand =>
  (name, command) =>
    new Promise((resolve) => toOwner(name, COMMAND, command, resolve));

export const sendCommand = (node: RedisNode, command: StoreCommand): Promise<CommandReply> =>
  new Promise((resolve) => send(node, COMMAND, command, resolve));

/** A script with its keys and arguments, sent to the owner of the first key. */
type RunScript = (
  script: string,
  keys: readonly string[],
  args: StoreCommand['parts'],
  options: Omit<StoreCommand, 'operation' | 'parts'>,
) => Promise<CommandReply>;

export const scriptRunner =
  (send: SendCommand, operation: StoreCommand['operation']): RunScript =>
  (script, keys, args, options) =>
    send(keys[0] ?? '', { operation, parts: evalOf(script, keys, args), ...options });

/**
 * The parts of a script call. Plain EVAL: EVALSHA saves 0.5–2 µs of the server's 16 per call (7.0.15) and needs a second
 * path for a server that has forgotten its scripts.
 */
export const evalOf = (script: string, keys: readonly string[], args: StoreCommand['parts']): StoreCommand['parts'] => [
  'EVAL',
  script,
  keys.length,
  ...keys,
  ...args,
];

/** A reply that none of our scripts gives. */
export const UNREADABLE = { kind: 'fault', fault: 'refused' } as const;

export const portFault = ({ fault }: CommandFault) => ({ kind: 'fault', fault }) as const;

/** The pairs of a flat list, as hashes, entries of streams and scores are given: name, value, name, value. */
export function pairsIn(reply: unknown): readonly (readonly [name: unknown, value: unknown])[] {
  const flat: readonly unknown[] = Array.isArray(reply) ? reply : [];
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]] as const] : []));
}

/** For lifetimes: Redis takes whole milliseconds, at least one. */
export const wholeMs = (ms: number): number => Math.max(1, Math.ceil(ms));

const SHAPES: Readonly<Record<StoreCommand['shape'], (reply: unknown) => boolean>> = {
  array: Array.isArray,
  integer: (reply) => typeof reply === 'number',
  string: Buffer.isBuffer,
};

/** Everything that the node will not execute (OOM, READONLY, NOPERM, TRYAGAIN of a moving slot) is `refused`. */
const COMMAND: RequestKind<StoreCommand, unknown, CommandReply> = {
  admit: (node, { deadlineMs, bytes = 0 }) => (deadlineMs === undefined ? node.admitWrite(bytes) : node.admitRead()),
  send: (redis, { parts: [name = '', ...args] }, replies) =>
    void redis.sendCommand(new DirectCommand(String(name), args, replies)),
  mismatch: (reply, { parts, shape }) =>
    SHAPES[shape](reply) ? undefined : `a reply to ${parts[0]} that is no ${shape}`,
  answer: (reply) => ({ kind: 'reply', reply }),
  fail: (cause, _command, sent, error) => ({ kind: 'fault', fault: storeFaultOf(cause), sent, detail: error?.message }),
  expire(node, command, reply) {
    reply.then(
      (value) => {
        const mismatch = COMMAND.mismatch?.(value, command);
        if (mismatch !== undefined) node.protocolError(mismatch);
        command.late?.(mismatch === undefined ? { kind: 'reply', reply: value } : NO_REPLY);
      },
      // A late error still refreshes the slot map; a late redirect is not followed.
      (error: Error) => {
        const failure = failureOf(node, error);
        command.late?.({ ...NO_REPLY, fault: storeFaultOf(causeOf(failure)) });
      },
    );
    return { kind: 'fault', fault: 'store-slow', sent: true };
  },
  event: ({ operation }, result, durationMs) => ({
    kind: 'command',
    operation,
    result: result.kind === 'reply' ? 'answered' : result.fault,
    durationMs,
  }),
};

const NO_REPLY: CommandFault = { kind: 'fault', fault: 'store-down', sent: true };

/** A redirect that is not followed is a refusal. */
export const storeFaultOf = (cause: FailureCause): CommandFault['fault'] => (cause === 'moved' ? 'refused' : cause);

interface RedisLeaseOptions {
  readonly send: SendCommand;
  /** The wait for the reply to a release before it is sent again. */
  readonly deadlineMs: number;
  readonly random: () => number;
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
        const taken =
          reply.kind === 'reply' ? answerOf(reply.reply, 'taken').kind === 'taken' : reply.sent && isLost(reply);
        if (taken) void release(names, token, 0);
      };
      const args = [`t${token}`, wholeMs(ttlMs)];
      const options = { shape: 'array', deadlineMs: takeDeadlineMs, late: giveBack } as const;
      const reply = await run(TAKE, keysOf(names), args, options);
      if (reply.kind === 'fault') {
        giveBack(reply);
        return portFault(reply);
      }
      return answerOf(reply.reply, 'taken');
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
      return reply.kind === 'fault' ? portFault(reply) : answerOf(reply.reply, 'free');
    },
  };
}

const keysOf = ({ lease, entry }: LeaseNames): readonly string[] => [lease, entry];

/** Faults after which the server may not have executed the command. */
const LOST: readonly (StoreFault | 'refused')[] = ['store-down', 'node-open', 'store-saturated'];

const isLost = (reply: CommandReply): boolean => reply.kind === 'fault' && LOST.includes(reply.fault);

/** @param free the word of a script for a lease that was free: the entry, or nil, follows it */
function answerOf<Free extends 'taken' | 'free'>(reply: unknown, free: Free) {
  const [first, value] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  const word = String(first);
  if (word === free) return { kind: free, value: Buffer.isBuffer(value) ? value : undefined } as const;
  return word === 'held' || word === 'pass' ? ({ kind: word } as const) : UNREADABLE;
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

/** ARGV: `t<token>`, lifetime of a pass mark in ms or 0. Without memory for a mark it only deletes the lease. */
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= '0' and not redis.pcall('SET', KEYS[1], 'p', 'PX', ARGV[2]).err then return 1 end
return redis.call('DEL', KEYS[1])`;

/** → `{'held'}`, `{'pass'}` or `{'free', entry | nil}`: the entry's bytes are sent only when the wait is over. */
const LOOK = `${UNLESS_HELD}
return { 'free', redis.call('GET', KEYS[2]) }`;
