import type { StoreFault } from '../../cache/events.ts';
import type { Clock } from '../../runtime.ts';
import type { Hop } from './entry-commands.ts';
import type { RedisNode } from './node.ts';

export interface Command {
  readonly operation: 'lease' | 'fleet' | 'control' | 'content' | 'counters';
  /** Name and arguments, as `['ZREM', key, id]`. */
  readonly parts: readonly (string | number | Buffer)[];
  /** What its reply is. Anything else was not said to this command. */
  readonly shape: 'array' | 'integer' | 'string';
  /**
   * Until it is answered or abandoned. Without one its end is the connection's, as a write's: then it is admitted as a
   * write of `bytes`, which never probes a node that was given up.
   */
  readonly deadlineMs?: number;
  readonly bytes?: number;
  /** After the deadline: how it ended all the same. */
  readonly late?: (reply: CommandReply) => void;
}

/** `reply`: bulk strings are Buffers, integers numbers, nil null, arrays arrays of these. */
export type CommandReply =
  | { readonly kind: 'reply'; readonly reply: unknown }
  /** `sent`: the node may have done it although nobody knows. `detail`: its words, for an operator. */
  | {
      readonly kind: 'fault';
      readonly fault: StoreFault | 'refused';
      readonly sent: boolean;
      readonly detail?: string;
    };

const LOST: CommandReply = { kind: 'fault', fault: 'store-down', sent: true };

const SHAPES: Readonly<Record<Command['shape'], (reply: unknown) => boolean>> = {
  array: Array.isArray,
  integer: (reply) => typeof reply === 'number',
  string: Buffer.isBuffer,
};

/**
 * One command on the node itself, so that whatever goes wrong is booked to the node it came from. A redirect is
 * followed once. Anything the node will not do (OOM, READONLY, NOPERM, TRYAGAIN of a moving slot) is `refused`.
 */
export function commandTo(node: RedisNode, command: Command, hop: Hop = 'first'): Promise<CommandReply> {
  const { deadlineMs, bytes = 0, late } = command;
  const pass = deadlineMs === undefined ? node.admitWrite(bytes) : node.admitRead();
  if (typeof pass === 'string') return Promise.resolve(fail(node, command, pass, 0, false));
  const startedMs = node.clock.monotonicMs();
  const elapsedMs = (): number => node.clock.monotonicMs() - startedMs;
  node.count(1, bytes);
  node.gather();
  return new Promise((resolve) => {
    let settle: (reply: CommandReply) => void = resolve;
    let booked = false;
    const book = (outcome: Parameters<RedisNode['book']>[1]): void => {
      if (!booked) node.book(pass, outcome);
      booked = true;
    };
    const cancel =
      deadlineMs === undefined
        ? () => {}
        : armDeadline(node.clock, startedMs, deadlineMs, (ownStall) => {
            book(ownStall ? 'unknown' : 'failed');
            settle = late ?? (() => {});
            resolve(fail(node, command, 'store-slow', elapsedMs()));
          });
    const inTime = (): boolean => settle === resolve;

    send(node, command.parts, hop).then(
      (reply) => {
        node.count(-1, -bytes);
        cancel();
        if (!SHAPES[command.shape](reply)) {
          node.distrust(`a reply to ${command.parts[0]} that is no ${command.shape}`);
          book('failed');
          return settle(inTime() ? fail(node, command, 'store-down', elapsedMs()) : LOST);
        }
        book('answered');
        if (inTime()) report(node, command, 'answered', elapsedMs());
        settle({ kind: 'reply', reply });
      },
      (error: Error) => {
        node.count(-1, -bytes);
        cancel();
        const failure = classify(error);
        book(failure.kind === 'down' ? 'failed' : 'answered');
        const end = (fault: StoreFault | 'refused'): void =>
          settle(
            inTime()
              ? { ...fail(node, command, fault, elapsedMs()), detail: error.message }
              : { kind: 'fault', fault, sent: true },
          );
        switch (failure.kind) {
          case 'down':
            node.remap(error.message);
            return end('store-down');
          case 'refused':
            if (failure.remap) node.remap(error.message);
            return end('refused');
          case 'redirect': {
            if (!failure.ask) node.remap('MOVED');
            const target = hop === 'first' && inTime() ? node.peer(failure.to) : undefined;
            if (target === undefined) return end('refused');
            const left = deadlineMs === undefined ? {} : { deadlineMs: Math.max(1, deadlineMs - elapsedMs()) };
            return resolve(commandTo(target, { ...command, ...left }, failure.ask ? 'asking' : 'moved'));
          }
        }
      },
    );
  });
}

async function send(node: RedisNode, parts: Command['parts'], hop: Hop): Promise<unknown> {
  const [name = '', ...args] = parts;
  if (hop !== 'asking') return node.redis.callBuffer(String(name), ...args);
  // Asking lets one command through to a node that is only importing the slot.
  const replies = await node.redis
    .pipeline()
    .asking()
    .callBuffer(String(name), ...args)
    .exec();
  const [error, reply] = replies?.[1] ?? [new Error('no reply'), null];
  if (error !== null) throw error;
  return reply;
}

function fail(
  node: RedisNode,
  command: Command,
  fault: StoreFault | 'refused',
  durationMs: number,
  sent = true,
): Extract<CommandReply, { readonly kind: 'fault' }> {
  report(node, command, fault, durationMs);
  return { kind: 'fault', fault, sent };
}

function report(
  node: RedisNode,
  { operation }: Command,
  result: 'answered' | StoreFault | 'refused',
  durationMs: number,
): void {
  node.observe({ kind: 'command', operation, node: node.address, result, durationMs });
}

/** A timer that fires this much late was held up by our own event loop, not by the node. */
const OWN_STALL_MS = 20;

/**
 * Calls `expire` after `deadlineMs` unless cancelled. A plain timer: `AbortSignal.timeout` costs 2.3 times as much.
 *
 * Timers run before sockets are read: after a blocked loop every deadline would pass although the replies lie in the
 * socket already. So the decision waits one `setImmediate`, which runs after the sockets were read, and `expire` is
 * told when the stall was our own: that is nothing to hold against the node.
 */
export function armDeadline(
  clock: Clock,
  startedMs: number,
  deadlineMs: number,
  expire: (ownStall: boolean) => void,
): () => void {
  let cancelled = false;
  const timer = setTimeout(() => {
    const ownStall = clock.monotonicMs() - startedMs - deadlineMs > OWN_STALL_MS;
    setImmediate(() => {
      if (!cancelled) expire(ownStall);
    });
  }, deadlineMs);
  return () => {
    cancelled = true;
    clearTimeout(timer);
  };
}

/** What an error means: for the reader, for the node's breaker, and for the map of slots. */
export type Failure =
  /** Another node has it (`ask`: for this one command only). Says nothing against this node. */
  | { readonly kind: 'redirect'; readonly to: string; readonly ask: boolean }
  /** The node lives and will not do this one thing: OOM, READONLY, MISCONF, NOPERM, WRONGTYPE, a slot without owner. */
  | { readonly kind: 'refused'; readonly remap: boolean }
  /** The node can do nothing at present: it loads its data, runs a script, lost its cluster; or there is no connection. */
  | { readonly kind: 'down' };

/** Replies by which a node says of itself that it serves nobody. */
const NODE_IS_DOWN = /^(LOADING|MASTERDOWN|BUSY|CLUSTERDOWN|NOAUTH|WRONGPASS|ERR max number of clients)\b/;

/** Classifies what ioredis rejected a command with. Error replies begin with a word in capitals; all else is transport. */
export function classify(error: Error): Failure {
  const { message } = error;
  const redirect = /^(MOVED|ASK) \d+ (\S+)$/.exec(message);
  if (redirect) return { kind: 'redirect', to: redirect[2] ?? '', ask: redirect[1] === 'ASK' };
  // One slot nobody owns must not open the breaker of a node that serves thousands of others.
  if (message.startsWith('CLUSTERDOWN Hash slot')) return { kind: 'refused', remap: true };
  if (NODE_IS_DOWN.test(message)) return { kind: 'down' };
  return error.name === 'ReplyError' ? { kind: 'refused', remap: message.startsWith('READONLY') } : { kind: 'down' };
}
