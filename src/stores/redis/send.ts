import type { Redis } from 'ioredis';
import type { StoreFault } from '../../cache/events.ts';
import type { StoreEvent } from '../../cache/store.ts';
import type { Permit, RedisNode } from './node.ts';

/** The fields of every request. Each kind adds its own. */
export interface NodeRequest {
  /**
   * After this time the caller gives up, and the connection stays open. Without a deadline the request ends with its
   * connection, as a write does.
   */
  readonly deadlineMs?: number;
  /** Commands counted as outstanding; 1 unless given. */
  readonly commands?: number;
  /** Value bytes counted as outstanding; 0 unless given. */
  readonly bytes?: number;
}

/** How one kind of request differs from the others. One object per kind, none per request. */
export interface RequestKind<Req extends NodeRequest, Reply, Result> {
  /** Permission to send, or the fault that is the result. */
  readonly admit: (node: RedisNode, request: Req) => Permit | StoreFault;
  /**
   * Whether it is sent in one write with the other commands of this turn of the event loop. A pipeline is one write
   * already.
   */
  readonly corked: boolean;
  /** Rejects with the error of ioredis. A pipeline never rejects: each of its replies carries its own error. */
  readonly send: (redis: Redis, request: Req) => Promise<Reply>;
  /** Why this reply cannot belong to this request: replies and commands are out of step, or the server is not Redis. */
  readonly mismatch?: (reply: Reply, request: Req) => string | undefined;
  /** The whole reply says that the node is down. */
  readonly isDown?: (reply: Reply) => boolean;
  readonly answer: (reply: Reply, node: RedisNode) => Result;
  /** `sent`: the node may have executed it. `error`: what ioredis rejected with. */
  readonly fail: (cause: FailureCause, request: Req, sent: boolean, error?: Error) => Result;
  /** The result at the deadline; `reply` may still settle. The default is `fail` with `store-slow`. */
  readonly expire?: (node: RedisNode, request: Req, startedMs: number, reply: Promise<Reply>) => Result;
  /** The one event of the request. */
  readonly event: (node: string, request: Req, result: Result, durationMs: number) => StoreEvent;
}

/** `moved`: a redirect that was not followed. */
export type FailureCause = StoreFault | 'refused' | 'moved';

/** How a request reached its node: first, or after one redirect. A second redirect is not followed. */
type Hop = 'first' | 'moved' | 'asking';

/** A timer that fires later than this was delayed by our own event loop, not by the node. */
const OWN_STALL_MS = 20;

/**
 * Sends one request to one node. Every request of this room passes here: admit → count as outstanding → send → deadline
 * → classify the error → follow a redirect once → record the outcome with the node's breaker → report one event. The
 * request goes to the node itself and not to ioredis' cluster, so each error is recorded with the node it came from.
 *
 * The deadline is a plain timer: `AbortSignal.timeout` costs 2.3 times as much. Timers run before sockets are read, so
 * after a blocked event loop every deadline would pass although the replies are in the socket. The decision therefore
 * waits one `setImmediate`, which runs after the sockets were read; and a deadline that our own stall delayed is not
 * counted as a failure of the node.
 */
export function send<Req extends NodeRequest, Reply, Result>(
  node: RedisNode,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
  hop: Hop = 'first',
): Promise<Result> {
  const permit = kind.admit(node, request);
  if (typeof permit === 'string') {
    return Promise.resolve(report(node, kind, request, kind.fail(permit, request, false), 0));
  }
  const { clock } = node;
  const { deadlineMs, commands = 1, bytes = 0 } = request;
  const startedMs = clock.monotonicMs();
  node.track(commands, bytes);
  if (kind.corked) node.cork();
  return new Promise((resolve) => {
    let ended = false;
    const timer =
      deadlineMs === undefined
        ? undefined
        : setTimeout(() => {
            const ownStall = clock.monotonicMs() - startedMs - deadlineMs > OWN_STALL_MS;
            setImmediate(() => {
              if (ended) return;
              ended = true;
              node.record(permit, ownStall ? 'unknown' : 'failed');
              const result =
                kind.expire === undefined
                  ? kind.fail('store-slow', request, true)
                  : kind.expire(node, request, startedMs, sent);
              resolve(report(node, kind, request, result, clock.monotonicMs() - startedMs));
            });
          }, deadlineMs);

    const sent = hop === 'asking' ? sendAsking(node, kind, request) : kind.send(node.redis, request);
    sent.then(
      (reply) => {
        node.track(-commands, -bytes);
        if (ended) return;
        ended = true;
        clearTimeout(timer);
        const mismatch = kind.mismatch?.(reply, request);
        if (mismatch !== undefined) node.protocolError(mismatch);
        const result = mismatch === undefined ? kind.answer(reply, node) : kind.fail('store-down', request, true);
        node.record(permit, mismatch !== undefined || kind.isDown?.(reply) ? 'failed' : 'answered');
        resolve(report(node, kind, request, result, clock.monotonicMs() - startedMs));
      },
      (error: Error) => {
        node.track(-commands, -bytes);
        if (ended) return;
        ended = true;
        clearTimeout(timer);
        const elapsedMs = clock.monotonicMs() - startedMs;
        const failure = failureOf(node, error);
        node.record(permit, failure.kind === 'down' ? 'failed' : 'answered');
        if (failure.kind === 'redirect' && hop === 'first') {
          const rest =
            deadlineMs === undefined ? request : { ...request, deadlineMs: Math.max(1, deadlineMs - elapsedMs) };
          const followed = follow(node, failure, kind, rest);
          if (followed !== undefined) return resolve(followed);
        }
        resolve(report(node, kind, request, kind.fail(causeOf(failure), request, true, error), elapsedMs));
      },
    );
  });
}

/** Sends the request to the node that a redirect names. Undefined when this store does not know that node. */
export function follow<Req extends NodeRequest, Reply, Result>(
  node: RedisNode,
  { to, ask }: Extract<Failure, { readonly kind: 'redirect' }>,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
): Promise<Result> | undefined {
  const target = node.nodeAt(to);
  return target === undefined ? undefined : send(target, kind, request, ask ? 'asking' : 'moved');
}

/** ASKING lets the next command through to a node that is still importing the slot. */
async function sendAsking<Req extends NodeRequest, Reply>(
  node: RedisNode,
  kind: Pick<RequestKind<Req, Reply, unknown>, 'send'>,
  request: Req,
): Promise<Reply> {
  const pipeline = node.redis.pipeline().asking();
  // A pipeline has the commands of a connection; their replies come from `exec`.
  kind.send(pipeline as unknown as Redis, request);
  const [error, reply] = (await pipeline.exec())?.[1] ?? [new Error('no reply'), null];
  if (error !== null) throw error;
  return reply as Reply;
}

function report<Req extends NodeRequest, Reply, Result>(
  node: RedisNode,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
  result: Result,
  durationMs: number,
): Result {
  node.observe(kind.event(node.address, request, result, durationMs));
  return result;
}

/** The meaning of an error for the caller, for the node's breaker, and for the slot map. */
type Failure =
  /** Another node has the slot (`ask`: for this one command only). This is no failure of this node. */
  | { readonly kind: 'redirect'; readonly to: string; readonly ask: boolean }
  /** The node is up and refuses this one command: OOM, READONLY, MISCONF, NOPERM, WRONGTYPE, a slot without owner. */
  | { readonly kind: 'refused'; readonly refreshSlots: boolean }
  /** The node executes nothing now: it loads its data, runs a script, lost its cluster; or there is no connection. */
  | { readonly kind: 'down' };

/** Replies by which a node says that it serves no client. */
const NODE_IS_DOWN = /^(LOADING|MASTERDOWN|BUSY|CLUSTERDOWN|NOAUTH|WRONGPASS|ERR max number of clients)\b/;

/** Classifies an error of ioredis. Error replies begin with a word in capitals; all others are transport errors. */
export function classify(error: Error): Failure {
  const { message } = error;
  const redirect = /^(MOVED|ASK) \d+ (\S+)$/.exec(message);
  if (redirect) return { kind: 'redirect', to: redirect[2] ?? '', ask: redirect[1] === 'ASK' };
  // One slot without an owner must not open the breaker of a node that serves thousands of others.
  if (message.startsWith('CLUSTERDOWN Hash slot')) return { kind: 'refused', refreshSlots: true };
  if (NODE_IS_DOWN.test(message)) return { kind: 'down' };
  if (error.name !== 'ReplyError') return { kind: 'down' };
  return { kind: 'refused', refreshSlots: message.startsWith('READONLY') };
}

/** Classifies an error, and asks for a new slot map when the error shows that our map may be out of date. */
export function failureOf(node: RedisNode, error: Error): Failure {
  const failure = classify(error);
  const isStale = failure.kind === 'down' || (failure.kind === 'redirect' ? !failure.ask : failure.refreshSlots);
  if (isStale) node.refreshSlots();
  return failure;
}

export function causeOf({ kind }: Failure): 'store-down' | 'refused' | 'moved' {
  if (kind === 'down') return 'store-down';
  return kind === 'redirect' ? 'moved' : 'refused';
}
