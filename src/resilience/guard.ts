import type { Clock } from '../runtime.ts';
import type { LearnedLimit } from './adaptive-limit.ts';
import type { ConcurrencyLimiter, GuardedTask } from './concurrency-limiter.ts';
import type { BreakerState, EndpointCall, LoadBalancer } from './endpoints.ts';
import { isRefusedBy, SearchError, type ShedReason } from './search-error.ts';

/** The right to one engine call. It holds a slot. */
export interface EnginePermit {
  /**
   * Calls the engine, once. Settles when the engine has replied or was given up at the hard deadline, which may be long
   * after any client's deadline: the caller races this promise with that deadline. The slot is released when the
   * engine's work is over, as far as that is known.
   * @throws SearchError `breaker-open` when every breaker has opened meanwhile; else the error of `call`.
   */
  readonly run: <T>(call: EngineCall<T>) => Promise<T>;
  /** Releases the slot unused. */
  readonly leave: () => void;
}

/**
 * `endpoint`: its index. `signal`: aborted at the hard deadline; the call must settle soon after. One that has not settled
 * a hard deadline later is given up.
 */
export type EngineCall<T> = (endpoint: number, signal: AbortSignal) => Promise<T>;

/** Decisions before the engine. `permit`: a search got a slot. `target` is the domain; for `breaker` it is the endpoint. */
export type GuardEvent =
  | { readonly kind: 'breaker'; readonly target: string; readonly state: BreakerState }
  | { readonly kind: 'shed'; readonly target: string; readonly why: ShedReason }
  | { readonly kind: 'permit'; readonly target: string; readonly queuedMs: number }
  /** A connection was lost: another endpoint answered, failed too, or was not asked because the budget was spent. */
  | { readonly kind: 'retry'; readonly target: string; readonly result: 'answered' | 'failed' | 'spent' };

export interface GuardParts {
  /** For events: the domain. */
  readonly target: string;
  readonly balancer: LoadBalancer;
  readonly limiter: ConcurrencyLimiter;
  readonly limit: LearnedLimit;
  /** A drill is simulating an engine outage: every search is refused. */
  readonly forcedOpen: () => boolean;
  /** True during slow start: the engine has come back and gets only a part of its load. */
  readonly isStarting: () => boolean;
  /** From the start of the call, without the time in the queue. For the breaker a later reply is a failure. */
  readonly deadlineMs: number;
  readonly hardDeadlineMs: number;
  /** False when the engine goes on working after an abort: the slot is then held for one more hard deadline. */
  readonly abortEndsWork: boolean;
  readonly clock: Clock;
  readonly observe: (event: GuardEvent) => void;
}

/** A call past its deadline that still holds a slot. */
interface LateCall {
  readonly endpointCall: EndpointCall;
  /** Releases the slot. Idempotent. */
  readonly release: () => void;
}

interface Attempt<T> {
  readonly endpointCall: EndpointCall;
  readonly reply: Promise<T>;
  readonly giveUp: (error: SearchError) => void;
  /** The deadline: the breaker and the limit wait no longer. */
  readonly pass: (error: SearchError) => void;
}

const FAILURES_IN_A_ROW = 5;

/**
 * The checks before every engine call, in this order: `admit` looks at the breakers, waits for a slot and looks again;
 * `run` passes the breaker of one endpoint and calls the engine. Between the two the caller may find the page elsewhere.
 * A refusal never passes through a breaker: opossum would count it as a success and close while the engine is dead.
 */
export function guardWith(parts: GuardParts) {
  const { target, balancer, limiter, limit, clock, observe, deadlineMs, hardDeadlineMs } = parts;
  const lateCalls = new Set<LateCall>();
  let failuresInARow = 0;

  const refuse = (why: ShedReason): SearchError => {
    observe({ kind: 'shed', target, why });
    const isOpen = why === 'breaker-open';
    return new SearchError(why, undefined, isOpen ? { retryAfterMs: balancer.retryAfterMs() } : {});
  };

  const isOpen = (): boolean => parts.forcedOpen() || balancer.refuses();

  /** Releases the slots of late calls to an endpoint that hangs while another endpoint answers and needs them. */
  const releaseHanging = (): void => {
    for (const call of lateCalls) {
      if (!call.endpointCall.hangs()) continue;
      lateCalls.delete(call);
      call.endpointCall.abandon();
      call.release();
    }
  };

  /** Waits for a slot. @returns its release function */
  const takeSlot = async (task: GuardedTask): Promise<() => void> => {
    if (isOpen()) throw refuse('breaker-open');
    // When late calls hold every slot, a search in the queue would only wait for a refusal.
    releaseHanging();
    if (lateCalls.size >= limiter.max()) throw refuse('stalled');
    const queuedAtMs = clock.monotonicMs();
    let release: () => void;
    try {
      release = await limiter.acquire(task);
    } catch (error) {
      if (isRefusedBy('guard', error)) observe({ kind: 'shed', target, why: error.reason });
      throw error;
    }
    observe({ kind: 'permit', target, queuedMs: clock.monotonicMs() - queuedAtMs });
    // While the search was in the queue, the caller may have left and the breakers may have opened.
    const hasLeft = task.signal?.aborted;
    if (!hasLeft && !isOpen()) return release;
    release();
    throw hasLeft ? new SearchError('left') : refuse('breaker-open');
  };

  const run = async <T>(call: EngineCall<T>, release: () => void): Promise<T> => {
    const hard = new AbortController();
    const inFlight = limiter.inFlight();
    let attempt: Attempt<T> | undefined;
    let lateCall: LateCall | undefined;

    /** Calls `then` at once; after an abort that does not end the work, one hard deadline later. */
    const whenWorkEnds = (then: () => void): void => {
      if (hard.signal.aborted && !parts.abortEndsWork) setTimeout(then, hardDeadlineMs).unref();
      else then();
    };

    /** @returns the reply until the deadline, for the breaker; `attempt.reply` may come later. */
    const ask = async (endpoint: number): Promise<T> => {
      const endpointCall = balancer.begin(endpoint);
      const askedMs = clock.monotonicMs();
      const { promise: reply, resolve, reject: giveUp } = Promise.withResolvers<T>();
      Promise.try(call, endpoint, hard.signal).then(resolve, giveUp);
      const { promise: passed, reject: pass } = Promise.withResolvers<never>();
      attempt = { endpointCall, reply, giveUp, pass };
      reply.then(
        () => {
          failuresInARow = 0;
          whenWorkEnds(endpointCall.end);
        },
        (error: unknown) => {
          if (isRefusedBy('engine', error)) failuresInARow += 1;
          whenWorkEnds(endpointCall.end);
        },
      );
      const sample = (result: 'answered' | 'lost' | 'failed'): void =>
        limit.sample({ durationMs: clock.monotonicMs() - askedMs, inFlight, result });
      try {
        const result = await Promise.race([reply, passed]);
        sample('answered');
        return result;
      } catch (error) {
        const isLoad = isPastDeadline(error) ? !endpointCall.hangs() : isOverload(error);
        sample(isLoad ? 'lost' : 'failed');
        throw error;
      }
    };

    const markLate = (): void => {
      if (attempt === undefined) return;
      attempt.pass(new SearchError('engine-deadline', `no answer within ${deadlineMs} ms`));
      lateCall = { endpointCall: attempt.endpointCall, release };
      lateCalls.add(lateCall);
      releaseHanging();
      // A client may wait longer than the deadline, but not behind an engine that has stopped.
      if (lateCalls.size >= limiter.max()) limiter.refuseAll();
    };
    // One timer for all deadlines of the call, one after the other. At the first one the call has one more turn: after a
    // blocked event loop its reply may be in the socket already, and timers run before sockets are read.
    let turn: NodeJS.Immediate | undefined;
    let timer = setTimeout(() => {
      turn = setImmediate(markLate);
      if (hardDeadlineMs > deadlineMs) timer = setTimeout(abort, hardDeadlineMs - deadlineMs);
      else abort();
    }, deadlineMs);
    const abort = (): void => {
      hard.abort();
      // The slot returns even if the call never settles.
      timer = setTimeout(() => attempt?.giveUp(new SearchError('engine-deadline', 'given up')), hardDeadlineMs);
    };

    try {
      return await balancer.fire(ask);
    } catch (error) {
      if (error instanceof SearchError && error.reason === 'breaker-open') throw refuse('breaker-open');
      // Late for the breaker; the caller decides how long to wait for the reply.
      if (isPastDeadline(error) && attempt !== undefined) return await attempt.reply;
      throw error;
    } finally {
      clearTimeout(timer);
      clearImmediate(turn);
      whenWorkEnds(() => {
        if (lateCall !== undefined) lateCalls.delete(lateCall);
        release();
      });
    }
  };

  return {
    /** @throws SearchError when the engine may not be asked now. An admitted caller must call `run` or `leave`. */
    admit: async (task: GuardedTask): Promise<EnginePermit> => {
      const release = await takeSlot(task);
      return { run: (call) => run(call, release), leave: release };
    },
    balancer,
    limiter,
    /** The engine fails, is slow or overloaded, or has just come back: answer without it where possible. */
    troubled: (): boolean =>
      parts.forcedOpen() ||
      balancer.state() !== 'closed' ||
      limiter.overloaded() ||
      2 * lateCalls.size >= limiter.max() ||
      parts.isStarting(),
    /** The last calls all failed, for any reason: a live engine that refuses every query opens no breaker. */
    failing: (): boolean => failuresInARow >= FAILURES_IN_A_ROW,
    close: (): void => balancer.shutdown(),
  };
}

export type Guard = ReturnType<typeof guardWith>;

/** The engine has too much to do. */
function isOverload(error: unknown): boolean {
  return isRefusedBy('engine', error) && (error.reason === 'engine-overloaded' || error.reason === 'engine-timeout');
}

/** The guard's own deadline, not one of the engine's. */
function isPastDeadline(error: unknown): boolean {
  return error instanceof SearchError && error.reason === 'engine-deadline';
}

interface Wait {
  /** Maximum wait from now, the queue included. */
  readonly maxWaitMs: number;
  /** A second, usually earlier end: `deadlineMs` after `asked` is resolved, or from now if it is resolved already. */
  readonly call?: { readonly asked: Promise<void>; readonly deadlineMs: number };
  readonly monotonicMs: () => number;
}

/**
 * The promise's result, or SearchError `engine-deadline` at the end of the wait. The work behind the promise goes on, and a
 * later rejection of the promise is handled. One plain timer, set to the earliest end that is possible and moved where it
 * was too early: `AbortSignal.timeout` costs 2.3 times as much.
 */
export function within<T>(promise: Promise<T>, { maxWaitMs, call, monotonicMs }: Wait): Promise<T> {
  return new Promise((resolve, reject) => {
    const beganAtMs = monotonicMs();
    let endAtMs = beganAtMs + maxWaitMs;
    let timerAtMs = Math.min(endAtMs, beganAtMs + (call?.deadlineMs ?? maxWaitMs));
    let timer: NodeJS.Timeout | undefined;
    const arm = (atMs: number): void => {
      clearTimeout(timer);
      timerAtMs = atMs;
      timer = setTimeout(onTimer, Math.max(0, atMs - monotonicMs()));
    };
    const onTimer = (): void => {
      if (timerAtMs < endAtMs) arm(endAtMs);
      // One more turn: timers run before sockets are read, and after a blocked event loop the reply may be in the socket.
      else
        setImmediate(() =>
          reject(new SearchError('engine-deadline', `no answer within ${Math.round(endAtMs - beganAtMs)} ms`)),
        );
    };
    arm(timerAtMs);
    let isSettled = false;
    void call?.asked.then(() => {
      endAtMs = Math.min(endAtMs, monotonicMs() + call.deadlineMs);
      if (!isSettled && endAtMs < timerAtMs) arm(endAtMs);
    });
    const settled =
      <Value>(settle: (value: Value) => void) =>
      (value: Value): void => {
        isSettled = true;
        clearTimeout(timer);
        settle(value);
      };
    promise.then(settled(resolve), settled(reject));
  });
}
