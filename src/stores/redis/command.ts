import type { StoreFault } from '../../cache/events.ts';
import type { StoreEvent } from '../../cache/store.ts';
import type { RedisNode } from './node.ts';
import { causeOf, type FailureCause, failureOf, type RequestKind, send } from './send.ts';

/** One command or script for one name, beside the GET and SET of entries (see store.ts). */
export interface Command {
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
export type SendCommand = (name: string, command: Command) => Promise<CommandReply>;

export const sendCommand = (node: RedisNode, command: Command): Promise<CommandReply> => send(node, COMMAND, command);

/** A script with its keys and arguments, sent to the owner of the first key. */
type RunScript = (
  script: string,
  keys: readonly string[],
  args: Command['parts'],
  options: Omit<Command, 'operation' | 'parts'>,
) => Promise<CommandReply>;

export const scriptRunner =
  (send: SendCommand, operation: Command['operation']): RunScript =>
  (script, keys, args, options) =>
    send(keys[0] ?? '', { operation, parts: evalOf(script, keys, args), ...options });

/**
 * The parts of a script call. Plain EVAL: EVALSHA saves 0.5–2 µs of the server's 16 per call (7.0.15) and needs a second
 * path for a server that has forgotten its scripts.
 */
export const evalOf = (script: string, keys: readonly string[], args: Command['parts']): Command['parts'] => [
  'EVAL',
  script,
  keys.length,
  ...keys,
  ...args,
];

/** A reply that none of our scripts gives. */
export const UNREADABLE = { kind: 'fault', fault: 'refused' } as const;

/** The fault in the form of the ports. */
export const portFault = ({ fault }: CommandFault) => ({ kind: 'fault', fault }) as const;

/** For lifetimes: Redis takes whole milliseconds, at least one. */
export const wholeMs = (ms: number): number => Math.max(1, Math.ceil(ms));

const SHAPES: Readonly<Record<Command['shape'], (reply: unknown) => boolean>> = {
  array: Array.isArray,
  integer: (reply) => typeof reply === 'number',
  string: Buffer.isBuffer,
};

/** Everything that the node will not execute (OOM, READONLY, NOPERM, TRYAGAIN of a moving slot) is `refused`. */
export const COMMAND: RequestKind<Command, unknown, CommandReply> = {
  admit: (node, { deadlineMs, bytes = 0 }) => (deadlineMs === undefined ? node.admitWrite(bytes) : node.admitRead()),
  corked: true,
  send: (redis, { parts: [name = '', ...args] }) => redis.callBuffer(String(name), ...args),
  mismatch: (reply, { parts, shape }) =>
    SHAPES[shape](reply) ? undefined : `a reply to ${parts[0]} that is no ${shape}`,
  answer: (reply) => ({ kind: 'reply', reply }),
  fail(cause, _command, sent, error) {
    const fault = faultOf(cause);
    return error === undefined ? { kind: 'fault', fault, sent } : { kind: 'fault', fault, sent, detail: error.message };
  },
  expire(node, command, _startedMs, reply) {
    reply.then(
      (value) => {
        const mismatch = COMMAND.mismatch?.(value, command);
        if (mismatch !== undefined) node.protocolError(mismatch);
        command.late?.(mismatch === undefined ? { kind: 'reply', reply: value } : LOST);
      },
      // A late error still refreshes the slot map; a late redirect is not followed.
      (error: Error) => {
        const failure = failureOf(node, error);
        command.late?.({ ...LOST, fault: faultOf(causeOf(failure)) });
      },
    );
    return { kind: 'fault', fault: 'store-slow', sent: true };
  },
  event: (node, { operation }, result, durationMs) => ({
    kind: 'command',
    operation,
    node,
    result: result.kind === 'reply' ? 'answered' : result.fault,
    durationMs,
  }),
};

const LOST: CommandFault = { kind: 'fault', fault: 'store-down', sent: true };

const faultOf = (cause: FailureCause): CommandFault['fault'] => (cause === 'moved' ? 'refused' : cause);
