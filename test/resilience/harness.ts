import type { TestContext } from 'node:test';
import { createFixedLimit, type LearnedLimit } from '../../src/resilience/adaptive-limit.ts';
import type { Priority } from '../../src/resilience/codel-queue.ts';
import {
  type ConcurrencyLimiter,
  type ConcurrencyLimiterOptions,
  createConcurrencyLimiter,
} from '../../src/resilience/concurrency-limiter.ts';
import {
  type Breaker,
  type BreakerState,
  createBreaker,
  createLoadBalancer,
  createRetryBudget,
} from '../../src/resilience/endpoints.ts';
import { type EngineCall, type Guard, type GuardEvent, guardWith } from '../../src/resilience/guard.ts';
import { type NoPageReason, SearchError } from '../../src/resilience/search-error.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';
import { createFakeClock, createVirtualTime, type FakeClock } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';

export interface GuardHarness {
  readonly guard: Guard;
  readonly limiter: ConcurrencyLimiter;
  readonly events: GuardEvent[];
  /** Admitted, then run. */
  readonly run: <T>(call: EngineCall<T>, signal?: AbortSignal) => Promise<T>;
  readonly admit: (signal?: AbortSignal) => ReturnType<Guard['admit']>;
}

export interface GuardHarnessOptions {
  readonly maxConcurrent?: number;
  readonly maxQueued?: number;
  readonly abortEndsWork?: boolean;
  /** The hard deadline is 2.4 times as long. */
  readonly deadlineMs?: number;
  /** Default: the deadline. */
  readonly maxWaitMs?: number;
  /** Failures that open a breaker, and the time until its probe. */
  readonly opensAfter?: number;
  readonly resetMs?: number;
  readonly endpoints?: number;
  readonly clock?: Clock;
  /** Instead of opossum. */
  readonly breaker?: Breaker;
  readonly limit?: LearnedLimit;
  readonly burst?: number;
  readonly forcedOpen?: () => boolean;
  readonly onState?: (endpoint: number, state: BreakerState) => void;
  /** Wraps the limiter. */
  readonly limiter?: (limiter: ConcurrencyLimiter) => ConcurrencyLimiter;
}

export const DEADLINE_MS = 250;
export const HARD_DEADLINE_MS = 600;

/** A guard over real parts. By default its breakers open after four failures and are probed after 100 ms. */
export function guardHarness(t: TestContext | undefined, options: GuardHarnessOptions = {}): GuardHarness {
  const { clock = systemClock, maxConcurrent = 8, burst = 10, deadlineMs = DEADLINE_MS } = options;
  const { maxWaitMs = deadlineMs } = options;
  const events: GuardEvent[] = [];
  const observe = (event: GuardEvent): void => {
    events.push(event);
  };
  const targets = Array.from({ length: options.endpoints ?? 1 }, (_, i) => {
    const name = `engine-${i + 1}`;
    const onState = (state: BreakerState): void => {
      observe({ kind: 'breaker', target: name, state });
      options.onState?.(i, state);
    };
    return { name, breaker: options.breaker ?? opossum(name, clock, onState, options) };
  });
  const max = (): number => maxConcurrent;
  const real = createConcurrencyLimiter({ max, maxQueued: options.maxQueued ?? 8, deadlineMs, maxWaitMs, clock });
  const limiter = options.limiter?.(real) ?? real;
  const guard = guardWith({
    target: 'engine',
    balancer: createLoadBalancer({
      targets,
      budget: createRetryBudget({ share: 0.1, burst }),
      onRetry: (result) => observe({ kind: 'retry', target: 'engine', result }),
    }),
    limiter,
    forcedOpen: options.forcedOpen ?? (() => false),
    limit: options.limit ?? createFixedLimit({ ceiling: max }),
    isStarting: () => false,
    deadlineMs,
    hardDeadlineMs: deadlineMs * (HARD_DEADLINE_MS / DEADLINE_MS),
    abortEndsWork: options.abortEndsWork ?? true,
    clock,
    observe,
  });
  t?.after(guard.close);
  const admit: GuardHarness['admit'] = (signal) =>
    guard.admit({
      deadlineAtMs: clock.monotonicMs() + maxWaitMs,
      priority: 'interactive',
      signal,
    });
  const run: GuardHarness['run'] = async (call, signal) => (await admit(signal)).run(call);
  return { guard, limiter, events, run, admit };
}

export interface TimedGuardHarness extends GuardHarness {
  /** Lets time pass in steps of 10 ms, with everything that is due. */
  readonly pass: (ms: number) => Promise<void>;
}

/** A guard whose clock and timers, opossum's included, move only when the test says so. */
export function timedGuardHarness(t: TestContext, options: Omit<GuardHarnessOptions, 'clock'> = {}): TimedGuardHarness {
  const clock = createVirtualTime(t);
  return { ...guardHarness(t, { ...options, clock }), pass: clock.pass };
}

function opossum(
  name: string,
  clock: Clock,
  onState: (state: BreakerState) => void,
  { opensAfter = 4, resetMs = 100 }: GuardHarnessOptions,
): Breaker {
  return createBreaker({
    name,
    errorThresholdPercent: 50,
    volumeThreshold: opensAfter,
    windowMs: 10_000,
    resetMs,
    monotonicMs: clock.monotonicMs,
    random: () => 0.5,
    onState,
  });
}

/** A limiter whose time passes in whole milliseconds, timers included, when the test says so. */
export interface LimiterHarness {
  readonly limiter: ConcurrencyLimiter;
  readonly clock: FakeClock;
  readonly pass: (ms: number) => Promise<void>;
  /** Asks for a slot and follows the request. The deadline is the maximum wait from now, unless given. */
  readonly ask: (options?: { priority?: Priority; deadlineMs?: number; signal?: AbortSignal }) => SlotRequest;
  /** May be changed at any time. */
  max: number;
}

export interface SlotRequest {
  state: 'waits' | 'runs' | 'released' | NoPageReason;
  /** From asking to running or being refused. */
  waitedMs: number;
  /** @throws when it does not run. */
  readonly release: () => void;
}

export const LIMITER_DEADLINE_MS = 800;
export const MAX_WAIT_MS = 2000;

export function limiterHarness(
  t: TestContext,
  max: number,
  options: Partial<ConcurrencyLimiterOptions> = {},
): LimiterHarness {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const { maxWaitMs = MAX_WAIT_MS } = options;
  const limiter = createConcurrencyLimiter({
    max: () => harness.max,
    maxQueued: 100,
    deadlineMs: LIMITER_DEADLINE_MS,
    maxWaitMs,
    clock,
    ...options,
  });
  const harness: LimiterHarness = {
    limiter,
    clock,
    max,
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += 1) {
        clock.advance(1);
        t.mock.timers.tick(1);
        await idle();
      }
    },
    ask: ({ priority = 'interactive', deadlineMs = maxWaitMs, signal } = {}) => {
      const askedAtMs = clock.monotonicMs();
      let give = (): void => undefined;
      const asked: SlotRequest = {
        state: 'waits',
        waitedMs: Number.NaN,
        release: () => {
          if (asked.state !== 'runs') throw new Error(`nothing to release: ${asked.state}`);
          asked.state = 'released';
          give();
        },
      };
      const settle = (state: SlotRequest['state']): void => {
        asked.state = state;
        asked.waitedMs = clock.monotonicMs() - askedAtMs;
      };
      const deadlineAtMs = askedAtMs + deadlineMs;
      limiter.acquire({ deadlineAtMs, priority, signal }).then(
        (release) => {
          give = release;
          settle('runs');
        },
        (error: unknown) => {
          if (!(error instanceof SearchError)) throw error;
          settle(error.reason);
        },
      );
      return asked;
    },
  };
  return harness;
}

export function states(asked: readonly SlotRequest[]): string {
  return asked.map(({ state }) => state).join(' ');
}
