import { Command, type Redis } from 'ioredis';
import type { StoreFault } from '../../cache/events.ts';
import type { StoreEvent, StoreLocation, StoreReason } from '../../cache/store.ts';
import { type CommandFailure, classifyError, WRITE_REFUSED } from './errors.ts';
import type { DeadlineMember, Permit, RedisNode } from './node.ts';

/** The fields of every request. Each kind adds its own. */
export interface NodeRequest {
  /** Then the caller gives up, and the connection stays. Without one a request ends with its connection, as a write. */
  readonly deadlineMs?: number;
  /** Commands counted as outstanding; 1 unless given. */
  readonly commands?: number;
  /** Value bytes counted as outstanding; 0 unless given. */
  readonly bytes?: number;
}

/** How one kind of request differs from the others. One object per kind, none per request. */
export interface RequestKind<Req extends NodeRequest, Reply, Result> {
  readonly admit: (node: RedisNode, request: Req) => Permit | StoreFault;
  /** `replies` is called by the connection itself, perhaps before this returns. */
  readonly send: (redis: Redis, request: Req, replies: Replies<Reply>) => void;
  /** Why this reply cannot belong to this request: replies and commands are out of step, or the server is not Redis. */
  readonly mismatch?: (reply: Reply, request: Req) => string | undefined;
  readonly isDown?: (reply: Reply) => boolean;
  readonly answer: (reply: Reply, node: RedisNode) => Result;
  /** `sent`: the node may have executed it. `error`: what ioredis rejected with. */
  readonly fail: (cause: FailureCause, request: Req, sent: boolean, error?: Error) => Result;
  /** The result at the deadline; `reply` may still settle. The default is `fail` with `store-slow`. */
  readonly expire?: (node: RedisNode, request: Req, reply: Promise<Reply>) => Result;
  readonly event: (request: Req, result: Result, durationMs: number) => StoreEvent;
}

/** Takes what the connection says about one request: one of the two is called, once. */
export interface Replies<Reply> {
  readonly replied: (reply: Reply) => void;
  readonly failed: (error: Error) => void;
}

/** A command whose reply goes straight to its request, without a promise. Bulk strings are Buffers. */
export class DirectCommand extends Command {
  constructor(name: string, args: (string | number | Buffer)[], { replied, failed }: Replies<unknown>) {
    super(name, args);
    this.resolve = replied;
    this.reject = failed;
  }
}

// Each command of ioredis makes a promise and three closures in this method, and nothing would wait for them. The rest of
// the method stays. A version of ioredis without it makes commands that never settle their promise, which is only slower.
Object.defineProperty(DirectCommand.prototype, 'initPromise', {
  value(this: { readonly stringifyArguments: () => void }) {
    this.stringifyArguments();
  },
});

/** Called once with the result of a request. It must not throw: nothing above it could answer for it. */
export type Settle<Result> = (result: Result) => void;

/** `moved`: a redirect that was not followed. */
export type FailureCause = StoreFault | 'refused' | 'moved';

/** How a request reached its node: first, or after one redirect. A second redirect is not followed. */
type Hop = 'first' | 'moved' | 'asking';

/** A deadline that passes later than this was delayed by our own event loop, not by the node. */
const OWN_STALL_MS = 20;

/** The nodes of a deployment and the owner of each name: a cluster, sentinels or one server. */
export interface Topology {
  /** Undefined when no node is known for it (then the slot map is refreshed), or when the topology is closed. */
  readonly ownerOf: (name: string) => RedisNode | undefined;
  readonly locate: (name: string) => StoreLocation;
  readonly nodes: () => readonly RedisNode[];
  /** Those of `nodes` that own names; none when the topology is closed. */
  readonly owners: () => readonly RedisNode[];
  /** Why the nodes cannot be found out. */
  readonly trouble: () => StoreReason | undefined;
  /** Ends timers and connections at once; commands in flight fail. */
  readonly close: () => void;
}

/** Sends one request to the owner of a name. Without an owner it ends at once, as `store-down`. */
export type SendToOwner = <Req extends NodeRequest, Reply, Result>(
  name: string,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
  settle: Settle<Result>,
) => void;

export function createSender(
  { ownerOf }: Pick<Topology, 'ownerOf'>,
  observe: (event: StoreEvent) => void,
): SendToOwner {
  return (name, kind, request, settle) => {
    const node = ownerOf(name);
    if (node !== undefined) {
      send(node, kind, request, settle);
      return;
    }
    const result = kind.fail('store-down', request, false);
    observe(kind.event(request, result, 0));
    settle(result);
  };
}

/**
 * Sends one request to one node. Every request of this room passes here: admit → count as outstanding → send → deadline
 * → classify the error → follow a redirect once → record the outcome with the node's breaker → report one event →
 * settle. A request that is not admitted is settled before this function returns. The request goes to the node itself and
 * not to ioredis' cluster, so each error is recorded with the node it came from.
 */
export function send<Req extends NodeRequest, Reply, Result>(
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
  const nowMs = node.clock.monotonicMs();
  node.track(request.commands ?? 1, request.bytes ?? 0, nowMs);
  node.cork();
  const sent = new SentRequest(node, kind, request, settle, hop, permit, nowMs);
  if (request.deadlineMs !== undefined) node.deadlines.join(sent, request.deadlineMs, nowMs);
  // ASKING lets the next command through to a node that is still importing the slot.
  if (hop === 'asking') node.redis.sendCommand(new DirectCommand('asking', [], UNHEEDED));
  kind.send(node.redis, request, sent);
}

const UNHEEDED: Replies<unknown> = { replied: () => {}, failed: () => {} };

/**
 * One request between its sending and its end: the reply, the error or the deadline, whichever comes first. One object for
 * all of them, because every read of the store makes one.
 */
class SentRequest<Req extends NodeRequest, Reply, Result> implements Replies<Reply>, DeadlineMember {
  dueAtMs = 0;
  older: DeadlineMember | undefined = undefined;
  newer: DeadlineMember | undefined = undefined;
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
    startedMs: number,
  ) {
    this.node = node;
    this.kind = kind;
    this.request = request;
    this.settle = settle;
    this.hop = hop;
    this.permit = permit;
    this.startedMs = startedMs;
  }

  readonly replied = (reply: Reply): void => {
    const nowMs = this.node.clock.monotonicMs();
    if (!this.arrive(nowMs)) {
      this.late?.resolve(reply);
      return;
    }
    const { node, kind, request } = this;
    const mismatch = kind.mismatch?.(reply, request);
    if (mismatch !== undefined) node.protocolError(mismatch);
    const result = mismatch === undefined ? kind.answer(reply, node) : kind.fail('store-down', request, true);
    node.record(this.permit, mismatch !== undefined || kind.isDown?.(reply) ? 'failed' : 'answered', nowMs);
    this.settle(report(node, kind, request, result, nowMs - this.startedMs));
  };

  readonly failed = (error: Error): void => {
    const nowMs = this.node.clock.monotonicMs();
    if (!this.arrive(nowMs)) {
      this.late?.reject(error);
      return;
    }
    const { node, kind, request } = this;
    const elapsedMs = nowMs - this.startedMs;
    const failure = failureOf(node, error);
    node.record(this.permit, failure.kind === 'down' ? 'failed' : 'answered', nowMs);
    if (failure.kind === 'redirect' && this.hop === 'first') {
      const { deadlineMs } = request;
      const rest = deadlineMs === undefined ? request : { ...request, deadlineMs: Math.max(1, deadlineMs - elapsedMs) };
      if (follow(node, failure, kind, rest, this.settle)) return;
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
      node.record(this.permit, ownStall ? 'unknown' : 'failed', node.clock.monotonicMs());
      if (kind.expire !== undefined) this.late = Promise.withResolvers();
      const result =
        kind.expire === undefined || this.late === undefined
          ? kind.fail('store-slow', request, true)
          : kind.expire(node, request, this.late.promise);
      this.settle(report(node, kind, request, result, this.elapsedMs()));
    });
  }

  private elapsedMs(): number {
    return this.node.clock.monotonicMs() - this.startedMs;
  }

  /** ioredis has settled the request: it is outstanding no more. False when its deadline came first. */
  private arrive(nowMs: number): boolean {
    const { commands = 1, bytes = 0 } = this.request;
    this.node.track(-commands, -bytes, nowMs);
    if (this.ended) return false;
    this.ended = true;
    this.node.deadlines.leave(this);
    return true;
  }
}

/** Sends the request to the node that a redirect names. False when this store does not know that node. */
function follow<Req extends NodeRequest, Reply, Result>(
  node: RedisNode,
  { to, ask }: Extract<CommandFailure, { readonly kind: 'redirect' }>,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
  settle: Settle<Result>,
): boolean {
  const target = node.nodeAt(to);
  if (target !== undefined) send(target, kind, request, settle, ask ? 'asking' : 'moved');
  return target !== undefined;
}

function report<Req extends NodeRequest, Reply, Result>(
  node: RedisNode,
  kind: RequestKind<Req, Reply, Result>,
  request: Req,
  result: Result,
  durationMs: number,
): Result {
  node.observe(kind.event(request, result, durationMs));
  return result;
}

/** Classifies an error, and asks for a new slot map when the error shows that our map may be out of date. */
export function failureOf(node: RedisNode, error: Error): CommandFailure {
  const failure = classifyError(error);
  const isStale = failure.kind === 'down' || (failure.kind === 'redirect' ? !failure.ask : failure.refreshSlots);
  if (isStale) node.refreshSlots();
  if (failure.kind === 'refused' && WRITE_REFUSED.test(error.message)) node.writeRefused(error.message);
  return failure;
}

export function causeOf({ kind }: CommandFailure): 'store-down' | 'refused' | 'moved' {
  if (kind === 'down') return 'store-down';
  return kind === 'redirect' ? 'moved' : 'refused';
}
