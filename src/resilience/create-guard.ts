import type { Runtime } from '../runtime.ts';
import { type ConcurrencyBoundOptions, createConcurrencyBound } from './adaptive-limit.ts';
import { type ConcurrencyLimiterOptions, createConcurrencyLimiter } from './concurrency-limiter.ts';
import { type BreakerState, createBreaker, createLoadBalancer, createRetryBudget } from './endpoints.ts';
import { type GuardEvent, type GuardParts, guardWith } from './guard.ts';

interface GuardSettings
  extends Pick<GuardParts, 'target' | 'deadlineMs' | 'hardDeadlineMs' | 'abortEndsWork'>,
    Pick<ConcurrencyBoundOptions, 'maxConcurrent'>,
    Pick<ConcurrencyLimiterOptions, 'maxQueued' | 'maxWaitMs'> {
  /** One name per endpoint. */
  readonly endpoints: readonly string[];
  readonly limit: ConcurrencyBoundOptions['kind'];
}

export interface GuardPorts extends Pick<GuardParts, 'forcedOpen'>, Pick<ConcurrencyBoundOptions, 'fleetShare'> {
  readonly onBreaker: (endpoint: number, state: BreakerState) => void;
}

/** The breaker opens when an endpoint had at least 20 calls in the last 3 s and more than half of them failed. */
const MIN_CALLS = 20;
const WINDOW_MS = 3_000;
const ERROR_THRESHOLD_PERCENT = 50;
/**
 * Time after which an open breaker lets one search through. Probes close the breaker long before, but a probe may fail
 * where a search does not: on a connection that died silently, or for a facet that the engine does not know.
 */
const BREAKER_RESET_MS = 4_000;

/**
 * Hard deadlines until a slot has returned: of the call, of a call that does not settle after its abort, and of the work
 * that goes on in the engine. Before the call its search may wait for a lease.
 */
const LONGEST_CALL = 3;

/** Share of the deadline after which the AIMD limit counts an answer as lost. */
const SLOW_SHARE = 0.5;

/** Puts breakers, load balancer, adaptive limit, slow start and concurrency limiter of one engine together. */
export function createGuard(
  settings: GuardSettings,
  { fleetShare, forcedOpen, onBreaker }: GuardPorts,
  { clock, random, observe }: Pick<Runtime<GuardEvent>, 'clock' | 'random' | 'observe'>,
) {
  const { target, deadlineMs } = settings;
  const { monotonicMs } = clock;
  let revivals = 0;

  const onState = (endpoint: number, name: string, state: BreakerState): void => {
    if (state === 'closed') {
      revivals += 1;
      // Only after an outage of all endpoints: while another endpoint was up, no load had to be held back.
      if (targets.filter(({ breaker }) => breaker.state() === 'closed').length <= 1) bound.restart();
    }
    onBreaker(endpoint, state);
    observe({ kind: 'breaker', target: name, state });
  };
  const targets = settings.endpoints.map((name, endpoint) => ({
    name,
    breaker: createBreaker({
      name: `${target} engine ${name}`,
      errorThresholdPercent: ERROR_THRESHOLD_PERCENT,
      volumeThreshold: MIN_CALLS,
      windowMs: WINDOW_MS,
      // Longer than any call that began before the opening: its late end must not be mistaken for the end of the trial
      // call.
      resetMs: Math.max(BREAKER_RESET_MS, 2 * deadlineMs),
      monotonicMs,
      random,
      onState: (state) => onState(endpoint, name, state),
    }),
  }));
  const balancer = createLoadBalancer({
    targets,
    budget: createRetryBudget(),
    onRetry: (result) => observe({ kind: 'retry', target, result }),
  });
  const bound = createConcurrencyBound({
    kind: settings.limit,
    maxConcurrent: settings.maxConcurrent,
    fleetShare,
    availableShare: balancer.availableShare,
    slowMs: SLOW_SHARE * deadlineMs,
    monotonicMs,
    random,
  });
  const limiter = createConcurrencyLimiter({
    ...settings,
    max: bound.max,
    maxHoldMs: settings.maxWaitMs + LONGEST_CALL * settings.hardDeadlineMs,
    clock,
  });
  const guard = guardWith({
    ...settings,
    balancer,
    limiter,
    limit: bound.limit,
    forcedOpen,
    isStarting: bound.isStarting,
    clock,
    observe,
  });
  return {
    ...guard,
    /** Maximum of calls at once that this process may make while the engine is well. */
    ceiling: bound.ceiling,
    /** Number of closings of endpoints' breakers. A refresh that failed before may succeed after one. */
    revivals: (): number => revivals,
    /** The current levels. A simulated outage counts as an open breaker. */
    levels: () => ({
      /** Number of running calls, and of searches that wait for a slot. */
      inFlight: limiter.inFlight(),
      queued: limiter.queued(),
      /** The current limit, and its maximum in this process. */
      maxConcurrent: limiter.max(),
      ceiling: bound.ceiling(),
      breaker: forcedOpen() ? 'open' : balancer.state(),
    }),
  };
}

export type EngineGuard = ReturnType<typeof createGuard>;
