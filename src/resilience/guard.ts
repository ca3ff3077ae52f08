import type { Clock } from '../runtime.ts';
import type { Limit } from './adaptive-limit.ts';
import type { Priority } from './codel-queue.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { withinDeadline } from './deadline.ts';
import type { EndpointCall, LoadBalancer } from './load-balancer.ts';
import { isRefusedBy, SearchError, type ShedReason } from './search-error.ts';

/**
 * The checks before every engine call, in this order: `admit` looks at the breakers, waits for a slot and looks again;
 * `run` passes the breaker of one endpoint and calls the engine. Between the two the caller may find the page elsewhere.
 * A refusal never passes through a breaker: opossum would count it as a success and close while the engine is dead.
 */
export interface Guard {
  /** @throws SearchError when the engine may not be asked now. An admitted caller must call `run` or `leave`. */
  readonly admit: (task: AdmissionTask) => Promise<Admission>;
  readonly balancer: Pick<LoadBalancer, 'state' | 'refuses' | 'retryAfterMs' | 'list' | 'reportProbe'>;
  readonly limiter: Pick<ConcurrencyLimiter, 'inFlight' | 'queued' | 'max' | 'spare' | 'overdue' | 'overloaded'>;
  /** The engine fails, is slow or overloaded, or has just come back: answer without it where possible. */
  readonly troubled: () => boolean;
  readonly close: () => void;
}

interface AdmissionTask {
  /** Monotonic; past it the task leaves the queue. */
  readonly deadlineAtMs: number;
  readonly priority: Priority;
  /** Leaves the queue. */
  readonly signal?: AbortSignal;
}

/** A held slot. */
export interface Admission {
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
  | { readonly kind: 'breaker'; readonly target: string; readonly state: 'closed' | 'open' | 'half-open' }
  | { readonly kind: 'shed'; readonly target: string; readonly why: ShedReason }
  | { readonly kind: 'permit'; readonly target: string; readonly queuedMs: number }
  /** A connection was lost: another endpoint answered, failed too, or was not asked because the budget was spent. */
  | { readonly kind: 'retry'; readonly target: string; readonly result: 'answered' | 'failed' | 'spent' };

interface GuardParts {
  /** For events: the domain. */
  readonly target: string;
  readonly balancer: LoadBalancer;
  readonly limiter: ConcurrencyLimiter;
  /** Learns from every call. */
  readonly limit: Limit;
  /** A reason from outside to refuse every search, such as a drill that is simulating an engine outage. */
  readonly refusal: () => ShedReason | undefined;
  /** True during slow start: the engine has come back and gets only a part of its load. */
  readonly isStarting: () => boolean;
  /**
   * From the start of the call, without the time in the queue. For the breaker a later reply is a failure of the
   * engine.
   */
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

export function guardWith(parts: GuardParts): Guard {
  const { target, balancer, limiter, limit, clock, observe, deadlineMs, hardDeadlineMs } = parts;
  const lateCalls = new Set<LateCall>();

  const reportShed = (why: ShedReason): void => observe({ kind: 'shed', target, why });

  const refuse = (why: ShedReason): SearchError => {
    reportShed(why);
    const isOpen = why === 'breaker-open';
    return new SearchError(why, undefined, isOpen ? { retryAfterMs: balancer.retryAfterMs() } : {});
  };

  const refusal = (): ShedReason | undefined => parts.refusal() ?? (balancer.refuses() ? 'breaker-open' : undefined);

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
  const takeSlot = async (task: AdmissionTask): Promise<() => void> => {
    const before = refusal();
    if (before !== undefined) throw refuse(before);
    // When late calls hold every slot, a search in the queue would only wait for a refusal.
    releaseHanging();
    if (lateCalls.size >= limiter.max()) throw refuse('stalled');
    const { deadlineAtMs, priority, signal } = task;
    const queuedAtMs = clock.monotonicMs();
    let release: () => void;
    try {
      release = await limiter.acquire({ deadlineAtMs, priority, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      if (isRefusedBy('guard', error)) reportShed(error.reason);
      throw error;
    }
    observe({ kind: 'permit', target, queuedMs: clock.monotonicMs() - queuedAtMs });
    // While the search was in the queue, the caller may have left and the breakers may have opened.
    if (signal?.aborted) {
      release();
      throw new SearchError('left');
    }
    const after = refusal();
    if (after !== undefined) {
      release();
      throw refuse(after);
    }
    return release;
  };

  /** Samples one call for the limit. For the breaker the call is over at the deadline. */
  const sampled = async <T>(
    call: Promise<T>,
    endpointCall: EndpointCall,
    startedMs: number,
    inFlight: number,
  ): Promise<T> => {
    const askedMs = clock.monotonicMs();
    const sample = (result: 'answered' | 'lost' | 'failed'): void =>
      limit.sample({ durationMs: clock.monotonicMs() - askedMs, inFlight, result });
    try {
      const result = await withinDeadline(call, deadlineMs - (askedMs - startedMs));
      sample('answered');
      return result;
    } catch (error) {
      const isLoad = isPastDeadline(error) ? !endpointCall.hangs() : isOverload(error);
      sample(isLoad ? 'lost' : 'failed');
      throw error;
    }
  };

  const run = async <T>(call: EngineCall<T>, release: () => void): Promise<T> => {
    const hard = new AbortController();
    const startedMs = clock.monotonicMs();
    const inFlight = limiter.inFlight();
    let endpointCall: EndpointCall | undefined;
    let lateCall: LateCall | undefined;
    let work: Promise<T> | undefined;
    let giveUp: ((why: SearchError) => void) | undefined;
    const onLate = (): void => {
      if (endpointCall === undefined) return;
      lateCall = { endpointCall, release };
      lateCalls.add(lateCall);
      releaseHanging();
      // A client may wait longer than the deadline, but not behind an engine that has stopped.
      if (lateCalls.size >= limiter.max()) limiter.refuseAll();
    };
    // One more turn, as in `withinMaxWait`: after a blocked event loop the replies may be in the socket already.
    let late: NodeJS.Immediate | undefined;
    const deadline = setTimeout(() => {
      late = setImmediate(onLate);
    }, deadlineMs);
    let hardDeadline = setTimeout(() => {
      hard.abort();
      // The slot returns even if the call never settles.
      hardDeadline = setTimeout(() => giveUp?.(new SearchError('engine-deadline')), hardDeadlineMs);
    }, hardDeadlineMs);
    const end = (): void => {
      if (lateCall !== undefined) lateCalls.delete(lateCall);
      release();
    };
    /**
     * Calls `then` at once; after an abort of an engine that goes on working, one hard deadline later, when its work
     * has ended as far as is known.
     */
    const whenWorkEnds = (then: () => void): void => {
      if (hard.signal.aborted && !parts.abortEndsWork) setTimeout(then, hardDeadlineMs).unref();
      else then();
    };
    try {
      return await balancer.fire((endpoint) => {
        const begun = balancer.begin(endpoint);
        endpointCall = begun;
        const reply = new Promise<T>((resolve, reject) => {
          giveUp = reject;
          call(endpoint, hard.signal).then(resolve, reject);
        }).finally(() => whenWorkEnds(begun.end));
        work = reply;
        return sampled(reply, begun, startedMs, inFlight);
      });
    } catch (error) {
      if (error instanceof SearchError && error.reason === 'breaker-open') throw refuse('breaker-open');
      // Late for the breaker; the caller decides how long to wait for the reply.
      if (isPastDeadline(error) && work !== undefined) return await work;
      throw error;
    } finally {
      clearTimeout(deadline);
      clearImmediate(late);
      clearTimeout(hardDeadline);
      whenWorkEnds(end);
    }
  };

  return {
    admit: async (task) => {
      const release = await takeSlot(task);
      return { run: (call) => run(call, release), leave: release };
    },
    balancer,
    limiter,
    troubled: () =>
      parts.refusal() !== undefined ||
      balancer.state() !== 'closed' ||
      limiter.overloaded() ||
      2 * lateCalls.size >= limiter.max() ||
      parts.isStarting(),
    close: () => balancer.shutdown(),
  };
}

/** The engine has too much to do. */
function isOverload(error: unknown): boolean {
  return isRefusedBy('engine', error) && (error.reason === 'engine-overloaded' || error.reason === 'engine-timeout');
}

/** The guard's own deadline, not one of the engine's. */
function isPastDeadline(error: unknown): boolean {
  return error instanceof SearchError && error.reason === 'engine-deadline';
}
