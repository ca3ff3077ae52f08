import { REASONS, SearchError } from '../../resilience/search-error.ts';
import type { Clock } from '../../runtime.ts';
import type { PreparedSearch } from '../../search/key.ts';
import type { SearchClient } from '../../search/read-path.ts';
import type { Span } from '../../search/trace.ts';
import type { ClientRequest } from '../transport/client.ts';
import type { TokenBuckets } from '../transport/token-bucket.ts';

export type SearchAdmission = ReturnType<typeof createAdmission>;

interface AdmissionOptions {
  readonly pressure: Pressure;
  /** Absent: the misses of a client are not limited. */
  readonly budget: MissBudget | undefined;
}

/** Limits the misses of each client, because a miss costs the engine a search. */
export interface MissBudget {
  readonly misses: TokenBuckets;
  readonly clientOf: (request: ClientRequest) => string;
}

/** Admits the searches that memory cannot answer: the process must have room for them, and their client a miss budget. */
export function createAdmission(options: AdmissionOptions) {
  return {
    /** The client of a request, for its searches. */
    clientOf: (request: ClientRequest, span: Span | undefined): SearchClient =>
      new AdmittedClient(options, request, span),
    /**
     * Must be called before a page is drawn, also from memory. A page costs several times as much as a hit of `/search`, so it
     * is shed while the event loop is late. When all places are taken but the loop is on time, pages in memory are drawn.
     * @throws SearchError `busy`.
     */
    admitPage: (): void => {
      if (options.pressure.isLate()) throw new SearchError('busy');
    },
  };
}

/** A client with the places that its searches take and the misses that they are charged. A hit of L1 makes it and leaves it. */
class AdmittedClient implements SearchClient {
  readonly span: Span | undefined;
  readonly #options: AdmissionOptions;
  readonly #request: ClientRequest;
  #name: string | undefined;
  #charged: Set<PreparedSearch> | undefined;

  constructor(options: AdmissionOptions, request: ClientRequest, span: Span | undefined) {
    this.#options = options;
    this.#request = request;
    this.span = span;
  }

  admit(): boolean {
    const { pressure, budget } = this.#options;
    if (!pressure.enter()) return false;
    // Named now: a connection that is closed by the time of the miss has no address.
    this.#name ??= budget?.clientOf(this.#request);
    return true;
  }

  mayMiss(prepared: PreparedSearch): boolean {
    const { budget } = this.#options;
    if (budget === undefined || this.#name === undefined) return true;
    const allowed = budget.misses.take(this.#name);
    if (allowed) this.#charged = (this.#charged ?? new Set()).add(prepared);
    return allowed;
  }

  /**
   * A miss that cost the engine nothing is refunded: otherwise the clients of an engine that was overloaded for a minute
   * would be refused in the next minute too.
   */
  settle(prepared: PreparedSearch, result: unknown): void {
    const { pressure, budget } = this.#options;
    pressure.leave();
    if (this.#name !== undefined && this.#charged?.has(prepared) && costNothing(result))
      budget?.misses.refund(this.#name, 1);
  }
}

/** True when the search was shed before the engine, or when a stale page or a page of the lifeboat was served. */
function costNothing(result: unknown): boolean {
  if (result instanceof Error) return result instanceof SearchError && !REASONS[result.reason].isCharged;
  const outcome = typeof result === 'object' && result !== null && 'outcome' in result ? result.outcome : undefined;
  return outcome === 'lifeboat' || outcome === 'stale';
}

export type Pressure = ReturnType<typeof createPressure>;
export type PressureStatus = ReturnType<Pressure['status']>;

interface PressureOptions {
  readonly clock: Clock;
  readonly maxInFlight: number;
  readonly maxLoopDelayMs: number;
}

/** Degraded above these shares of the limits, so that a balancer chooses another process before requests are refused. */
const WARN_IN_FLIGHT = 0.75;
const WARN_LOOP_DELAY = 0.5;
/** Time above these shares after which the process is not ready: a batch or a garbage collection takes less. */
const SUSTAINED_MS = 500;

/**
 * The load of this process. `@fastify/under-pressure` does not fit: it is a hook of Fastify, and a hit is answered before
 * Fastify; it checks once a second, does not count searches in flight, and refuses hits too, which cost no more than the
 * refusal.
 */
export function createPressure({ clock, maxInFlight, maxLoopDelayMs }: PressureOptions) {
  let inFlight = 0;
  /** The time of the first of the consecutive samples above the warning share. */
  let warnedSinceMs: number | undefined;
  const delay = createLoopDelay(clock, (nowMs) => {
    const isHigh = inFlight >= maxInFlight * WARN_IN_FLIGHT || delay.currentMs() >= maxLoopDelayMs * WARN_LOOP_DELAY;
    warnedSinceMs = isHigh ? (warnedSinceMs ?? nowMs) : undefined;
  });

  const isLate = (): boolean => delay.currentMs() > maxLoopDelayMs;
  const isFull = (): boolean => inFlight >= maxInFlight || isLate();
  const isReady = (): boolean => warnedSinceMs === undefined || clock.monotonicMs() - warnedSinceMs < SUSTAINED_MS;

  return {
    /** Takes a place for a search that memory cannot answer; false: shed it. Each place taken must be left. */
    enter: (): boolean => {
      if (isFull()) return false;
      inFlight += 1;
      return true;
    },
    leave: (): void => {
      inFlight -= 1;
    },
    /** The event loop is later than its limit: shed everything that costs more than its refusal, hits too. */
    isLate,
    /**
     * `degraded`: near a limit for some time. `down`: beyond a limit, only pages in memory are served. Not `ready`: a balancer
     * should choose another process; a short burst is shed and leaves the process ready.
     */
    status: () => {
      const ready = isReady();
      const state = isFull() ? 'down' : ready ? 'ok' : 'degraded';
      return { inFlight, maxInFlight, loopDelayMs: delay.currentMs(), maxLoopDelayMs, state, ready } as const;
    },
    close: delay.close,
  };
}

/** Costs 0.2 % of a core; twice that at 20 ms. Reading `monitorEventLoopDelay` ten times a second costs no less. */
const INTERVAL_MS = 50;
/** EWMA weight of the newest sample. A single garbage collection counts half; a loop that stays late soon counts in full. */
const WEIGHT = 0.5;

/**
 * Measures how late a timer fires. Each sample weighs half, so that the value falls below a threshold within a few samples
 * after a stall of any length: a stall of a minute is a millisecond after 16 samples, 0.8 s.
 */
function createLoopDelay(clock: Clock, onSample: (nowMs: number) => void) {
  let delayMs = 0;
  let lastMs = clock.monotonicMs();
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    const late = Math.max(0, nowMs - lastMs - INTERVAL_MS);
    delayMs += (late - delayMs) * WEIGHT;
    lastMs = nowMs;
    onSample(nowMs);
  }, INTERVAL_MS);
  timer.unref();
  return { currentMs: (): number => delayMs, close: (): void => clearInterval(timer) };
}
