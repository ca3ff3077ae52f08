import type { Redis } from 'ioredis';
import type { StoreFault } from '../../cache/events.ts';
import type { StoreEvent } from '../../cache/store.ts';
import type { DeadlineMember } from './deadlines.ts';
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
  /** As `send`, without a promise: `replies` is called by the connection itself. For requests that are many. */
  readonly sendTo?: (redis: Redis, request: Req, replies: Replies<Reply>) => void;
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

/** Takes what the connection says about one request: one of the two is called, once. */
export interface Replies<Reply> {
  readonly replied: (reply: Reply) => void;
  readonly failed: (error: Error) => void;
}

/** Called once with the result of a request. It must not throw: nothing above it could answer for it. */
export type Settle<Result> = (result: Result) => void;

/** `moved`: a redirect that was not followed. */
export type FailureCause = StoreFault | 'refused' | 'moved';

/** How a request reached its node: first, or after one redirect. A second redirect is not followed. */
type Hop = 'first' | 'moved' | 'asking';

/** A deadline that passes later than this was delayed by our own event loop, not by the node. */
const OWN_STALL_MS = 20;

/** `sendTo` for callers that wait for a promise. */
export function send<Req extends NodeRequest, Reply, Result>(
  node: RedisNode,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
  hop: Hop = 'first',
): Promise<Result> {
  return new Promise((resolve) => sendTo(node, kind, request, resolve, hop));
}

/**
 * Sends one request to one node. Every request of this room passes here: admit → count as outstanding → send → deadline
 * → classify the error → follow a redirect once → record the outcome with the node's breaker → report one event →
 * settle. A request that is not admitted is settled before this function returns. The request goes to the node itself and
 * not to ioredis' cluster, so each error is recorded with the node it came from.
 */
export function sendTo<Req extends NodeRequest, Reply, Result>(
  node: RedisNode,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
  settle: Settle<Result>,
  hop: Hop = 'first',
): void {
  const permit = kind.admit(node, request);
  if (typeof permit === 'string') {
    settle(report(node, kind, request, kind.fail(permit, request, false), 0));
    return;
  }
  node.track(request.commands ?? 1, request.bytes ?? 0);
  if (kind.corked) node.cork();
  const sent = new SentRequest(node, kind, request, settle, hop, permit);
  if (request.deadlineMs !== undefined) node.deadlines.join(sent, request.deadlineMs);
  if (hop !== 'asking' && kind.sendTo !== undefined) kind.sendTo(node.redis, request, sent);
  else {
    const reply = hop === 'asking' ? sendAsking(node, kind, request) : kind.send(node.redis, request);
    reply.then(sent.replied, sent.failed);
  }
}

/**
 * One request between its sending and its end: the reply, the error or the deadline, whichever comes first. One object for
 * all of them, because every read of the store makes one.
 */
class SentRequest<Req extends NodeRequest, Reply, Result> implements Replies<Reply>, DeadlineMember {
  place: DeadlineMember['place'] = undefined;
  private readonly node: RedisNode;
  private readonly kind: RequestKind<Req, Reply, Result>;
  private readonly request: Req;
  private readonly settle: Settle<Result>;
  private readonly hop: Hop;
  private readonly permit: Permit;
  private readonly startedMs: number;
  private ended = false;
  /** Settled by what comes after the deadline, where the kind wants to know it. */
  private late: PromiseWithResolvers<Reply> | undefined = undefined;

  constructor(
    node: RedisNode,
    kind: RequestKind<Req, Reply, Result>,
    request: Req,
    settle: Settle<Result>,
    hop: Hop,
    permit: Permit,
  ) {
    this.node = node;
    this.kind = kind;
    this.request = request;
    this.settle = settle;
    this.hop = hop;
    this.permit = permit;
    this.startedMs = node.clock.monotonicMs();
  }

  readonly replied = (reply: Reply): void => {
    if (!this.arrive()) {
      this.late?.resolve(reply);
      return;
    }
    const { node, kind, request } = this;
    const mismatch = kind.mismatch?.(reply, request);
    if (mismatch !== undefined) node.protocolError(mismatch);
    const result = mismatch === undefined ? kind.answer(reply, node) : kind.fail('store-down', request, true);
    node.record(this.permit, mismatch !== undefined || kind.isDown?.(reply) ? 'failed' : 'answered');
    this.settle(report(node, kind, request, result, this.elapsedMs()));
  };

  readonly failed = (error: Error): void => {
    if (!this.arrive()) {
      this.late?.reject(error);
      return;
    }
    const { node, kind, request } = this;
    const elapsedMs = this.elapsedMs();
    const failure = failureOf(node, error);
    node.record(this.permit, failure.kind === 'down' ? 'failed' : 'answered');
    if (failure.kind === 'redirect' && this.hop === 'first') {
      const { deadlineMs } = request;
      const rest = deadlineMs === undefined ? request : { ...request, deadlineMs: Math.max(1, deadlineMs - elapsedMs) };
      const target = targetOf(node, failure);
      if (target !== undefined) {
        sendTo(target, kind, rest, this.settle, failure.ask ? 'asking' : 'moved');
        return;
      }
    }
    this.settle(report(node, kind, request, kind.fail(causeOf(failure), request, true, error), elapsedMs));
  };

  /**
   * Timers run before sockets are read, so after a blocked event loop every deadline would pass although the replies are in
   * the socket. The decision therefore waits one `setImmediate`, which runs after the sockets were read; and a deadline
   * that our own stall delayed is not counted as a failure of the node.
   */
  expire(): void {
    const ownStall = this.elapsedMs() - (this.request.deadlineMs ?? 0) > OWN_STALL_MS;
    setImmediate(() => {
      if (this.ended) return;
      this.ended = true;
      const { node, kind, request } = this;
      node.record(this.permit, ownStall ? 'unknown' : 'failed');
      if (kind.expire !== undefined) this.late = Promise.withResolvers();
      const result =
        kind.expire === undefined || this.late === undefined
          ? kind.fail('store-slow', request, true)
          : kind.expire(node, request, this.startedMs, this.late.promise);
      this.settle(report(node, kind, request, result, this.elapsedMs()));
    });
  }

  private elapsedMs(): number {
    return this.node.clock.monotonicMs() - this.startedMs;
  }

  /** ioredis has settled the request: it is outstanding no more. False when its deadline came first. */
  private arrive(): boolean {
    const { commands = 1, bytes = 0 } = this.request;
    this.node.track(-commands, -bytes);
    if (this.ended) return false;
    this.ended = true;
    this.node.deadlines.leave(this);
    return true;
  }
}

/** Sends the request to the node that a redirect names. Undefined when this store does not know that node. */
export function follow<Req extends NodeRequest, Reply, Result>(
  node: RedisNode,
  redirect: Redirect,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
): Promise<Result> | undefined {
  const target = targetOf(node, redirect);
  return target === undefined ? undefined : send(target, kind, request, redirect.ask ? 'asking' : 'moved');
}

type Redirect = Extract<Failure, { readonly kind: 'redirect' }>;

const targetOf = (node: RedisNode, { to }: Redirect): RedisNode | undefined => node.nodeAt(to);

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

/** A replica's refusal of a write. Before Redis 7, that of a script begins with the script's place. */
const READ_ONLY = /^READONLY\b|^ERR [^\n]*-READONLY\b/;

/** Classifies an error of ioredis. Error replies begin with a word in capitals; all others are transport errors. */
export function classify(error: Error): Failure {
  const { message } = error;
  const redirect = /^(MOVED|ASK) \d+ (\S+)$/.exec(message);
  if (redirect) return { kind: 'redirect', to: redirect[2] ?? '', ask: redirect[1] === 'ASK' };
  // One slot without an owner must not open the breaker of a node that serves thousands of others.
  if (message.startsWith('CLUSTERDOWN Hash slot')) return { kind: 'refused', refreshSlots: true };
  if (NODE_IS_DOWN.test(message)) return { kind: 'down' };
  if (error.name !== 'ReplyError') return { kind: 'down' };
  return { kind: 'refused', refreshSlots: READ_ONLY.test(message) };
}

/** Classifies an error, and asks for a new slot map when the error shows that our map may be out of date. */
export function failureOf(node: RedisNode, error: Error): Failure {
  const failure = classify(error);
  const isStale = failure.kind === 'down' || (failure.kind === 'redirect' ? !failure.ask : failure.refreshSlots);
  if (isStale) node.refreshSlots();
  if (failure.kind === 'refused' && READ_ONLY.test(error.message)) node.writeRefused(error.message);
  return failure;
}

export function causeOf({ kind }: Failure): 'store-down' | 'refused' | 'moved' {
  if (kind === 'down') return 'store-down';
  return kind === 'redirect' ? 'moved' : 'refused';
}
