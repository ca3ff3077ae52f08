import type { TestContext } from 'node:test';
import { createFixedLimit, type Limit } from '../../src/resilience/adaptive-limit.ts';
import { type Breaker, type BreakerState, createBreaker } from '../../src/resilience/breaker.ts';
import { createPermit, type Permit } from '../../src/resilience/concurrency-limiter.ts';
import { createGuard, type EngineCall, type Guard, type GuardEvent } from '../../src/resilience/guard.ts';
import { createEndpoints } from '../../src/resilience/load-balancer.ts';
import { createRetryBudget } from '../../src/resilience/retry-budget.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';
import { EngineError } from '../../src/search/engine.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';

/** An error by which the engine proved to be alive. */
export class Alive extends Error {}
/** The connection was lost: another endpoint may be asked. */
export class Lost extends Error {}

export interface GuardRig {
  readonly guard: Guard;
  readonly permit: Permit;
  readonly events: GuardEvent[];
  /** Admitted, then run. */
  readonly run: <T>(call: EngineCall<T>, signal?: AbortSignal) => Promise<T>;
  readonly admit: (signal?: AbortSignal) => ReturnType<Guard['admit']>;
}

export interface GuardRigOptions {
  readonly maxConcurrent?: number;
  readonly maxQueued?: number;
  readonly abortEndsWork?: boolean;
  /** The hard one is 2.4 times as long. */
  readonly deadlineMs?: number;
  /** Default: the deadline. */
  readonly patienceMs?: number;
  /** Failures that open a breaker, and how long it waits before a probe. */
  readonly opensAfter?: number;
  readonly resetMs?: number;
  readonly endpoints?: number;
  readonly clock?: Clock;
  /** Instead of opossum. */
  readonly breaker?: Breaker;
  readonly limit?: Limit;
  readonly burst?: number;
  readonly forcedOpen?: () => boolean;
  readonly onState?: (endpoint: number, state: BreakerState) => void;
  /** Wraps the permit. */
  readonly permit?: (permit: Permit) => Permit;
}

export const DEADLINE_MS = 250;
export const HARD_DEADLINE_MS = 600;

/** A guard over real parts, with breakers that open after four failures and are probed after 100 ms unless told otherwise. */
export function guardRig(t: TestContext | undefined, options: GuardRigOptions = {}): GuardRig {
  const { clock = systemClock, maxConcurrent = 8, burst = 10, deadlineMs = DEADLINE_MS } = options;
  const { patienceMs = deadlineMs } = options;
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
  const made = createPermit({ max, maxQueued: options.maxQueued ?? 8, deadlineMs, patienceMs, clock });
  const permit = options.permit?.(made) ?? made;
  const guard = createGuard({
    target: 'engine',
    endpoints: createEndpoints({
      targets,
      budget: createRetryBudget({ share: 0.1, burst }),
      mayRetry: (error) => error instanceof Lost,
      onRetry: (result) => observe({ kind: 'retry', target: 'engine', result }),
    }),
    permit,
    ...(options.forcedOpen === undefined ? {} : { forcedOpen: options.forcedOpen }),
    limit: options.limit ?? createFixedLimit({ ceiling: max }),
    isOverload: (error) => error instanceof EngineError && error.code === 'engine-overloaded',
    rampFactor: () => 1,
    deadlineMs,
    hardDeadlineMs: deadlineMs * (HARD_DEADLINE_MS / DEADLINE_MS),
    abortEndsWork: options.abortEndsWork ?? true,
    clock,
    observe,
  });
  t?.after(guard.close);
  const admit: GuardRig['admit'] = (signal) =>
    guard.admit({
      deadlineAtMs: clock.monotonicMs() + patienceMs,
      priority: 'people',
      ...(signal === undefined ? {} : { signal }),
    });
  const run: GuardRig['run'] = async (call, signal) => (await admit(signal)).run(call);
  return { guard, permit, events, run, admit };
}

export interface TimedGuardRig extends GuardRig {
  /** Lets time pass in steps of 10 ms, and everything that is ready happen. */
  readonly pass: (ms: number) => Promise<void>;
}

/** The same with its clock and its timers, opossum's too, in the test's hand. */
export function timedGuardRig(t: TestContext, options: Omit<GuardRigOptions, 'clock'> = {}): TimedGuardRig {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  return {
    ...guardRig(t, { ...options, clock }),
    pass: async (ms) => {
      await idle();
      for (let passed = 0; passed < ms; passed += 10) {
        clock.advance(10);
        t.mock.timers.tick(10);
        await idle();
      }
    },
  };
}

function opossum(
  name: string,
  clock: Clock,
  onState: (state: BreakerState) => void,
  { opensAfter = 4, resetMs = 100 }: GuardRigOptions,
): Breaker {
  return createBreaker({
    name,
    errorThresholdPercent: 50,
    volumeThreshold: opensAfter,
    windowMs: 10_000,
    resetMs,
    isAlive: (error) => error instanceof Alive || (error instanceof EngineError && error.code === 'engine-rejected'),
    monotonicMs: clock.monotonicMs,
    random: () => 0.5,
    onState,
  });
}
