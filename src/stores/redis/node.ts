import type { Redis } from 'ioredis';
import type { StoreFault } from '../../cache/events.ts';
import type { StoreEvent, StoreNode, StoreReason } from '../../cache/store.ts';
import type { Clock } from '../../runtime.ts';
import type { ConnectionState, RedisSettings } from './connection.ts';

export type RedisNode = ReturnType<typeof createRedisNode>;

interface RedisNodeOptions {
  /** `host:port`. */
  readonly address: string;
  readonly redis: Redis;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: StoreEvent) => void;
  /** The node of that address, if the store knows it: the target of a redirect. */
  readonly nodeAt: (address: string) => RedisNode | undefined;
  /** The slot map may be out of date. Cheap: refreshes are throttled. */
  readonly refreshSlots: () => void;
  /** A reason keeps a connection unused although it is open. */
  readonly unusable?: () => StoreReason | undefined;
  readonly connection: () => ConnectionState;
}

/** Writes to a node that stops reading stay in memory until its socket is closed: 5,000 writes/s of 4 KB are 60 MB. */
const MAX_OUTSTANDING_WRITE_BYTES = 32 * 1024 * 1024;

/**
 * One server as the store sees it: its connection, its outstanding commands, its breaker.
 * @param settings after the socket timeout without any reply while commands are outstanding the connection is closed
 */
export function createRedisNode(
  { maxOutstanding, socketTimeoutMs }: Pick<RedisSettings, 'maxOutstanding' | 'socketTimeoutMs'>,
  options: RedisNodeOptions,
) {
  const { address, redis, clock, observe, refreshSlots } = options;
  let outstanding = 0;
  let writeBytes = 0;
  /** Time of the last answer, or of the first command after a time without commands. */
  let progressMs = 0;
  let corked: Redis['stream'] | undefined;
  let retired = false;
  const connected = (): boolean => redis.status === 'ready' && options.unusable?.() === undefined;
  const half = Math.ceil(maxOutstanding / 2);

  const breaker = createNodeBreaker({
    clock,
    random: options.random,
    onState: (state) => {
      if (retired) return;
      observe({ kind: 'breaker', node: address, state });
      // A node whose breaker opens may have lost its slots to a replica.
      if (state === 'open') refreshSlots();
    },
  });

  /** Faults in the order of their precedence. `maxCommands`: the caller's share of the outstanding bound. */
  const admit = (maxCommands: number, tooManyBytes: boolean): Permit | StoreFault => {
    if (breaker.refuses()) return 'node-open';
    if (!connected()) {
      refreshSlots();
      return 'store-down';
    }
    if (outstanding >= maxCommands || tooManyBytes) return 'store-saturated';
    return breaker.tryAcquire() ?? 'node-open';
  };

  const protocolError = (why: string): void => {
    redis.stream?.destroy(new Error(why));
    breaker.trip();
  };

  return {
    ...options,
    deadlines: createDeadlines(clock),
    writeRefused: (detail: string): void => options.connection().writeRefused(detail),
    /** A reply cannot belong to its command: ends the connection with everything in flight, and opens the breaker. */
    protocolError,
    /** Opens the breaker, after a connection that has ended because of a protocol error. */
    trip: breaker.trip,
    /** Permission to send one read, whose outcome is recorded once; or the first fault that applies: its result. */
    admitRead: () => admit(maxOutstanding, false),
    /** As `admitRead`, but writes use half of the outstanding bound, and never probe a node whose breaker is open. */
    admitWrite: (bytes: number): Permit | StoreFault =>
      breaker.state() === 'closed' ? admit(half, writeBytes + bytes > MAX_OUTSTANDING_WRITE_BYTES) : 'node-open',
    /** Commands that a pipeline may send now: half of the outstanding bound is kept for single reads. */
    pipelineRoom: () => Math.max(0, half - outstanding),
    record(permit: Permit, outcome: 'answered' | 'failed' | 'unknown', nowMs: number): void {
      breaker.record(permit, outcome, nowMs);
      // ioredis closes a connection that receives nothing. After a damaged length everything that arrives, replies to
      // probes too, counts as part of one endless reply: only the absence of answers shows the damage.
      if (outcome === 'failed' && outstanding > 0 && nowMs - progressMs > socketTimeoutMs) {
        protocolError(`nothing was answered for ${socketTimeoutMs} ms`);
      }
    },
    /** Called when commands are sent (+) and when ioredis has settled them (−), after a deadline too. */
    track(commands: number, bytes: number, nowMs: number): void {
      if (commands < 0 || outstanding === 0) progressMs = nowMs;
      outstanding += commands;
      writeBytes += bytes;
    },
    /** Called before a command is sent: the commands of one turn of the event loop leave in one write. */
    cork(): void {
      const { stream } = redis;
      if (corked === stream) return;
      corked = stream;
      stream.cork();
      // After the poll phase: by then every request that arrived in this turn has sent its read.
      setImmediate(() => {
        if (corked === stream) corked = undefined;
        stream.uncork();
      });
    },
    probeNow: breaker.probeNow,
    /** Called when the store no longer uses the node: no count of open breakers may contain it for ever. */
    retire(): void {
      if (breaker.state() !== 'closed') observe({ kind: 'breaker', node: address, state: 'closed' });
      retired = true;
    },
    status: (): StoreNode => {
      const trouble = options.connection().trouble() ?? options.unusable?.();
      return { node: address, breaker: breaker.state(), connected: connected(), outstanding, trouble };
    },
  };
}

/** One request with a deadline: an element of a doubly linked list, because a Set would hash every request twice. */
export interface DeadlineMember {
  /** Called at most once, and not more than half a millisecond early. */
  readonly expire: () => void;
  /** The deadlines' own: its creator sets them to 0 and `undefined`. */
  dueAtMs: number;
  older: DeadlineMember | undefined;
  newer: DeadlineMember | undefined;
}

/** Node fires a timer up to 1 ms early by the monotonic clock. Less than this is not worth another timer. */
const EARLY_MS = 0.5;

/**
 * The deadlines of one node's requests. Requests with the same deadline expire in the order in which they were sent, so
 * they stand in one list under one timer, where a timer per request is an object that is made, sorted in and thrown away for
 * every read.
 */
export function createDeadlines(clock: Pick<Clock, 'monotonicMs'>) {
  /**
   * The end of each list, which stands before the oldest and after the newest member. By deadline in milliseconds: requests
   * that follow a redirect have a shorter one, so there are more than one.
   */
  const lists = new Map<number, DeadlineMember>();
  let size = 0;

  const leave = (member: DeadlineMember): void => {
    const { older, newer } = member;
    if (older === undefined || newer === undefined) return;
    older.newer = newer;
    newer.older = older;
    member.older = undefined;
    member.newer = undefined;
    size -= 1;
  };

  /** Expires the members that are due. @returns the time until the next one is due; undefined when none waits. */
  const expireDue = (ends: DeadlineMember): number | undefined => {
    for (;;) {
      const { newer: oldest = ends } = ends;
      if (oldest === ends) return undefined;
      const leftMs = oldest.dueAtMs - clock.monotonicMs();
      if (leftMs > EARLY_MS) return leftMs;
      leave(oldest);
      oldest.expire();
    }
  };

  /**
   * The timer is set for the oldest member and stays when that member leaves, so under traffic it fires about once per
   * deadline and is set again for the member that is the oldest then. It keeps no process alive; the sockets do.
   */
  const watch = (ends: DeadlineMember, afterMs: number, delayMs: number): void => {
    const onTimer = (): void => {
      const leftMs = expireDue(ends);
      if (leftMs === undefined) lists.delete(afterMs);
      else watch(ends, afterMs, Math.ceil(leftMs));
    };
    setTimeout(onTimer, delayMs).unref();
  };

  return {
    /** Calls `member.expire` `wantedMs` after `nowMs`, rounded up to whole milliseconds, unless the member leaves before. */
    join: (member: DeadlineMember, wantedMs: number, nowMs: number): void => {
      const afterMs = Math.max(1, Math.ceil(wantedMs));
      let ends = lists.get(afterMs);
      if (ends === undefined) {
        ends = createEnds();
        lists.set(afterMs, ends);
        watch(ends, afterMs, afterMs);
      }
      const { older: newest = ends } = ends;
      member.dueAtMs = nowMs + afterMs;
      member.older = newest;
      member.newer = ends;
      newest.newer = member;
      ends.older = member;
      size += 1;
    },
    /** Does nothing for a member that does not wait. */
    leave,
    /** Number of members that wait. */
    size: () => size,
  };
}

/** An empty list: an element that is its own neighbour. */
function createEnds(): DeadlineMember {
  const ends: DeadlineMember = { expire: () => {}, dueAtMs: 0, older: undefined, newer: undefined };
  ends.older = ends;
  ends.newer = ends;
  return ends;
}

/** The number of the breaker state that gave it: a command sent before a change of state says nothing about the new one. */
export type Permit = number;

interface NodeBreakerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly onState: (state: StoreNode['breaker']) => void;
}

/** This number of failures in a row opens the breaker, at any rate of traffic. */
const CONSECUTIVE_FAILURES = 5;
/**
 * This share of failures among at least `MIN_VOLUME` commands in the last one to two windows opens it too: it finds a
 * node that answers only every other read.
 */
const FAILURE_RATIO = 0.5;
export const MIN_VOLUME = 20;
/**
 * The minimum time from the first to the last of these failures. Replies that are late together are one short stall of
 * the node or of this process. A breaker that opens for it makes the node's keys misses for a second, and every process
 * computes their pages.
 */
const MIN_FAILURE_SPAN_MS = 100;
const WINDOW_MS = 1000;
/**
 * The time to the first probe; it doubles with each failed probe up to the maximum. A short stall is over soon, and a
 * probe costs one reader one deadline. Spread by ±25 %, so that a fleet does not probe at once.
 */
const FIRST_RESET_MS = 250;
const MAX_RESET_MS = 1000;
/** Closed for less time it keeps its last reset time: a node that fails half of its commands is probed rarely. */
const SETTLED_MS = 2000;

/** `failedSinceMs`: the time of its first failure. */
const newWindow = () => ({ total: 0, failed: 0, failedSinceMs: Number.POSITIVE_INFINITY });

/**
 * The breaker of one node. While it is open, the node's keys miss in ~0 ms and other nodes are not affected. It is our
 * own, while opossum stands in front of the engines: measured on Node 24 around a bare async call, it costs 33 ns more per
 * call against 400 ns, and less than 0.1 µs per refusal against 4.2 µs, because it creates no promise, timer or error
 * object. Its commands have their deadline from the node's one timer, and an outcome may say nothing about the node (our own
 * stall).
 */
export function createNodeBreaker({ clock, random, onState }: NodeBreakerOptions) {
  let state: StoreNode['breaker'] = 'closed';
  let permit: Permit = 1;
  let probing = false;
  let probeAtMs = 0;
  let resetMs = FIRST_RESET_MS;
  let closedSinceMs = Number.NEGATIVE_INFINITY;
  let probedNowMs = Number.NEGATIVE_INFINITY;
  let inARow = 0;
  let inARowSinceMs = 0;
  let windowEndMs = 0;
  let current = newWindow();
  let previous = newWindow();

  const enterState = (next: StoreNode['breaker']): void => {
    const nowMs = clock.monotonicMs();
    if (next === 'open') {
      if (state === 'closed' && nowMs - closedSinceMs >= SETTLED_MS) resetMs = FIRST_RESET_MS;
      probeAtMs = nowMs + resetMs * (0.75 + random() / 2);
      resetMs = Math.min(MAX_RESET_MS, 2 * resetMs);
    }
    if (next === 'closed') closedSinceMs = nowMs;
    state = next;
    permit += 1;
    probing = false;
    inARow = 0;
    current = newWindow();
    previous = newWindow();
    onState(next);
  };

  /** Counts one outcome; true when the failures are enough to open. */
  const tooManyFailures = (failed: boolean, nowMs: number): boolean => {
    if (nowMs >= windowEndMs) {
      previous = nowMs < windowEndMs + WINDOW_MS ? current : newWindow();
      current = newWindow();
      windowEndMs = nowMs + WINDOW_MS;
    }
    current.total += 1;
    if (!failed) {
      inARow = 0;
      return false;
    }
    if (current.failed === 0) current.failedSinceMs = nowMs;
    current.failed += 1;
    if (inARow === 0) inARowSinceMs = nowMs;
    inARow += 1;
    if (inARow >= CONSECUTIVE_FAILURES && nowMs - inARowSinceMs >= MIN_FAILURE_SPAN_MS) return true;
    const total = previous.total + current.total;
    const sinceMs = Math.min(previous.failedSinceMs, current.failedSinceMs);
    if (total < MIN_VOLUME || nowMs - sinceMs < MIN_FAILURE_SPAN_MS) return false;
    return previous.failed + current.failed >= total * FAILURE_RATIO;
  };

  /** Whether a command would be refused now. Takes no permission. */
  const refuses = (): boolean => {
    if (state === 'closed') return false;
    return state === 'half-open' ? probing : clock.monotonicMs() < probeAtMs;
  };

  return {
    state: (): StoreNode['breaker'] => state,
    refuses,
    /** Permission to send one command; its outcome is recorded exactly once. Undefined when refused. */
    tryAcquire(): Permit | undefined {
      if (refuses()) return undefined;
      if (state === 'open') enterState('half-open');
      if (state === 'half-open') probing = true;
      return permit;
    },
    /** `unknown`: the outcome says nothing about the node (our own stall). */
    record(given: Permit, outcome: 'answered' | 'failed' | 'unknown', nowMs: number): void {
      if (given !== permit) return;
      if (state === 'half-open') {
        if (outcome === 'unknown') probing = false;
        else enterState(outcome === 'answered' ? 'closed' : 'open');
        return;
      }
      if (outcome !== 'unknown' && tooManyFailures(outcome === 'failed', nowMs)) enterState('open');
    },
    /** The node's replies cannot be trusted: opens without waiting for more failures. */
    trip(): void {
      if (state !== 'open') enterState('open');
    },
    /** The node has just shown that it is alive (a new connection is ready): the next command may probe it. */
    probeNow(): void {
      const nowMs = clock.monotonicMs();
      // Without this pause a node whose connections all break at their first command would be connected and probed in
      // an endless loop.
      if (state === 'open' && nowMs - probedNowMs >= MAX_RESET_MS) {
        probeAtMs = nowMs;
        probedNowMs = nowMs;
      }
    },
  };
}
