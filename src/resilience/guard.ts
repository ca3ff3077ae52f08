import type { Clock } from '../runtime.ts';
import type { Limit } from './adaptive-limit.ts';
import { BreakerOpen } from './breaker.ts';
import { type Permit, type Priority, Refused } from './concurrency-limiter.ts';
import { DeadlinePassed, withinDeadline } from './deadline.ts';
import type { Endpoints, Occupied } from './load-balancer.ts';

/**
 * The checks before every engine call, in this order: open-breaker check, permit, check again; then, in `run`, the
 * breaker of an endpoint and the engine. In between the caller may find that it need not ask at all.
 * A refusal never passes through a breaker: opossum would book it as a success and close onto a dead engine.
 */
export interface Guard {
  /** @throws Shed when the engine may not be asked now. Whoever is admitted runs or leaves. */
  readonly admit: (task: AdmissionTask) => Promise<Admission>;
  readonly endpoints: Pick<Endpoints, 'state' | 'refuses' | 'retryAfterMs' | 'list' | 'probed'>;
  readonly permit: Pick<Permit, 'inFlight' | 'queued' | 'max' | 'spare' | 'overloaded'>;
  /** The engine is failing, slow, overloaded or just coming back: what can be answered without it should be. */
  readonly troubled: () => boolean;
  readonly close: () => void;
}

export interface AdmissionTask {
  /** Monotonic; past it the task leaves the queue. */
  readonly deadlineAtMs: number;
  readonly priority: Priority;
  /** Leaves the queue. */
  readonly signal?: AbortSignal;
}

/** A permit held. */
export interface Admission {
  /**
   * Asks, once. Settles when the engine has replied or been given up at its hard deadline, which may be long after any
   * client's: who waits for a client races this promise with the client's own deadline. The permit goes back when the
   * engine's work is over, as far as that is known.
   * @throws Shed when every breaker has opened meanwhile; else whatever `call` throws.
   */
  readonly run: <T>(call: EngineCall<T>) => Promise<T>;
  /** Gives the permit back unused. */
  readonly leave: () => void;
}

/** `endpoint`: which of them. `signal`: aborted at the hard deadline; the call must settle soon after. */
export type EngineCall<T> = (endpoint: number, signal: AbortSignal) => Promise<T>;

export class Shed extends Error {
  override readonly name = 'Shed';
  /** `left`: not wanted any more. `leased`: another process does it. The others are refusals. */
  readonly why: 'breaker-open' | 'stalled' | 'queue-full' | 'queue-expired' | 'left' | 'leased';

  constructor(why: Shed['why']) {
    super(`not asked: ${why}`);
    this.why = why;
  }
}

export interface GuardOptions {
  /** For events: the domain's engine. */
  readonly target: string;
  readonly endpoints: Endpoints;
  readonly permit: Permit;
  /** True while operators have it that the engine is dead: nothing is asked of it. */
  readonly forcedOpen?: () => boolean;
  /** Learns from every call. */
  readonly limit: Limit;
  /** Errors that mean the engine has too much to do. */
  readonly isOverload: (error: unknown) => boolean;
  /** 0–1: below 1 while the engine is coming back. */
  readonly rampFactor: () => number;
  /** A reply later than this is a failure of the engine in the breaker's book, however long the queue was before. */
  readonly deadlineMs: number;
  readonly hardDeadlineMs: number;
  /** False where the engine works on after an abort: the permit is then held one hard deadline more. */
  readonly abortEndsWork: boolean;
  readonly clock: Clock;
  readonly observe: (event: GuardEvent) => void;
}

interface LateCall {
  readonly occupied: Occupied;
  /** Its permit. Idempotent. */
  readonly release: () => void;
}

export function createGuard(options: GuardOptions): Guard {
  const { target, endpoints, permit, limit, clock, observe, deadlineMs, hardDeadlineMs } = options;
  /** Calls past their deadline that still hold a permit. */
  const overdue = new Set<LateCall>();

  const shed = (why: Exclude<Shed['why'], 'leased'>): Shed => {
    if (why !== 'left') observe({ kind: 'shed', target, why });
    return new Shed(why);
  };

  /** Returns the permits of late calls to an endpoint that hangs while another answers, which needs them. */
  const giveUp = (): void => {
    for (const call of overdue) {
      if (!call.occupied.hangs()) continue;
      overdue.delete(call);
      call.occupied.giveUp();
      call.release();
    }
  };

  const refuses = (): boolean => options.forcedOpen?.() === true || endpoints.refuses();

  const take = async (task: AdmissionTask): Promise<() => void> => {
    if (refuses()) throw shed('breaker-open');
    // Every permit is held by a call that is late already: whoever queued now would only wait for a refusal.
    giveUp();
    if (overdue.size >= permit.max()) throw shed('stalled');
    const askedAtMs = clock.monotonicMs();
    const { deadlineAtMs, priority, signal } = task;
    let release: () => void;
    try {
      release = await permit.acquire({ deadlineAtMs, priority, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      throw error instanceof Refused ? shed(error.why) : error;
    }
    observe({ kind: 'permit', target, queuedMs: clock.monotonicMs() - askedAtMs });
    // Both may have changed while it waited.
    if (refuses() || signal?.aborted) {
      release();
      throw shed(signal?.aborted ? 'left' : 'breaker-open');
    }
    return release;
  };

  /** The call on one endpoint, in the breaker's eyes over at the deadline. */
  const attempt = async <T>(
    call: () => Promise<T>,
    occupied: Occupied,
    startedMs: number,
    inFlight: number,
  ): Promise<T> => {
    const began = clock.monotonicMs();
    const sample = (result: 'answered' | 'lost' | 'failed'): void =>
      limit.sample({ durationMs: clock.monotonicMs() - began, inFlight, result });
    try {
      const result = await withinDeadline(call(), deadlineMs - (began - startedMs));
      sample('answered');
      return result;
    } catch (error) {
      const isLoad = error instanceof DeadlinePassed ? !occupied.hangs() : options.isOverload(error);
      sample(isLoad ? 'lost' : 'failed');
      throw error;
    }
  };

  const run = async <T>(call: EngineCall<T>, release: () => void): Promise<T> => {
    const hard = new AbortController();
    const startedMs = clock.monotonicMs();
    const inFlight = permit.inFlight();
    let occupied: Occupied | undefined;
    let lateCall: LateCall | undefined;
    let work: Promise<T> | undefined;
    const isLate = (): void => {
      if (occupied === undefined) return;
      lateCall = { occupied, release };
      overdue.add(lateCall);
      giveUp();
      // A queue may be given longer than the deadline, but not behind an engine that has stopped.
      if (overdue.size >= permit.max()) permit.refuseAll();
    };
    // One turn more, as in `withinPatience`: after a blocked loop the replies lie in the socket already.
    let late: NodeJS.Immediate | undefined;
    const deadline = setTimeout(() => {
      late = setImmediate(isLate);
    }, deadlineMs);
    const hardDeadline = setTimeout(() => hard.abort(), hardDeadlineMs);
    const end = (): void => {
      if (lateCall !== undefined) overdue.delete(lateCall);
      release();
    };
    /** Now, or where an aborted engine works on, one hard deadline later: as far as is known, that is when it has ended. */
    const whenOver = (then: () => void): void => {
      if (hard.signal.aborted && !options.abortEndsWork) setTimeout(then, hardDeadlineMs).unref();
      else then();
    };
    try {
      return await endpoints.fire((endpoint) => {
        const booked = endpoints.occupy(endpoint);
        occupied = booked;
        const asked = (async () => call(endpoint, hard.signal))().finally(() => whenOver(booked.free));
        work = asked;
        return attempt(() => asked, booked, startedMs, inFlight);
      });
    } catch (error) {
      if (error instanceof BreakerOpen) throw shed('breaker-open');
      if (error instanceof DeadlinePassed && work !== undefined) return await work;
      throw error;
    } finally {
      clearTimeout(deadline);
      clearImmediate(late);
      clearTimeout(hardDeadline);
      whenOver(end);
    }
  };

  return {
    admit: async (task) => {
      const release = await take(task);
      return { run: (call) => run(call, release), leave: release };
    },
    endpoints,
    permit,
    troubled: () =>
      options.forcedOpen?.() === true ||
      endpoints.state() !== 'closed' ||
      permit.overloaded() ||
      2 * overdue.size >= permit.max() ||
      options.rampFactor() < 1,
    close: () => endpoints.shutdown(),
  };
}

/** What stands before every engine call says what it did. */
export type GuardEvent =
  | { readonly kind: 'breaker'; readonly target: string; readonly state: 'closed' | 'open' | 'half-open' }
  | {
      readonly kind: 'shed';
      readonly target: string;
      readonly why: 'breaker-open' | 'stalled' | 'queue-full' | 'queue-expired';
    }
  | { readonly kind: 'permit'; readonly target: string; readonly queuedMs: number }
  /** A connection was lost: another endpoint answered, failed too, or was not asked because the budget was spent. */
  | { readonly kind: 'retry'; readonly target: string; readonly result: 'answered' | 'failed' | 'spent' };
