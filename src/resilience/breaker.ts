import Opossum from 'opossum';
import { SearchError } from './search-error.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** opossum, reduced to the parts that work for us. One per engine endpoint; only engine calls pass through it. */
export interface Breaker {
  readonly state: () => BreakerState;
  /** True while every call would be refused: check it before taking a slot (a reject inside opossum costs 12 µs). */
  readonly refuses: () => boolean;
  /** Milliseconds until a probe may pass; 0 when it may now. */
  readonly retryAfterMs: () => number;
  /** @throws SearchError `breaker-open` when `call` was not started; else the error of `call`. */
  readonly fire: <T>(call: () => Promise<T>) => Promise<T>;
  /**
   * Closes an open or half-open breaker, with empty counts, when a probe has shown that the target works. Calls in flight
   * keep their results and are not counted.
   */
  readonly close: () => void;
  readonly shutdown: () => void;
}

interface BreakerOptions {
  readonly name: string;
  /** It opens when a larger share of the calls of the last `windowMs` failed. 1–100. */
  readonly errorThresholdPercent: number;
  /** Minimum of calls in the window for it to open. */
  readonly volumeThreshold: number;
  readonly windowMs: number;
  /** Time from opening to a probe; spread by ±20 %, so that processes do not probe in step. */
  readonly resetMs: number;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly onState: (state: BreakerState) => void;
}

export function createBreaker(options: BreakerOptions): Breaker {
  const resetMs = Math.round(options.resetMs * (0.8 + 0.4 * options.random()));
  // opossum writes into its options, so they are made here and never shared. Parts of opossum that do not work for us are
  // off: timeout, capacity, coalesce, cache, AbortController; percentiles and snapshots block the loop for milliseconds.
  const createCircuit = () => {
    const made = new Opossum(async (call: () => Promise<unknown>) => call(), {
      name: options.name,
      timeout: false,
      errorThresholdPercentage: options.errorThresholdPercent,
      volumeThreshold: options.volumeThreshold,
      rollingCountTimeout: options.windowMs,
      rollingCountBuckets: 10,
      rollingPercentilesEnabled: false,
      enableSnapshots: false,
      resetTimeout: resetMs,
      // A rejected query proves the engine to be alive: it counts as a success.
      errorFilter: (error: unknown) => error instanceof SearchError && error.reason === 'engine-rejected',
    });
    made.on('open', () => {
      openedAtMs = options.monotonicMs();
      probing = false;
      options.onState('open');
    });
    made.on('halfOpen', () => {
      probing = false;
      options.onState('half-open');
    });
    made.on('close', () => replace());
    return made;
  };
  let openedAtMs = 0;
  let probing = false;
  let circuit = createCircuit();

  /**
   * Each closing takes a new circuit. opossum keeps its counts when it closes: earlier failures would open it again at
   * the next failure, and late ends of earlier calls would be counted. A circuit that was shut down has no listeners
   * and no timers.
   */
  const replace = (): void => {
    circuit.shutdown();
    circuit = createCircuit();
    probing = false;
    options.onState('closed');
  };

  return {
    state: () => (circuit.opened ? 'open' : circuit.halfOpen ? 'half-open' : 'closed'),
    refuses: () => circuit.opened || (circuit.halfOpen && probing),
    retryAfterMs: () => (circuit.opened ? Math.max(0, openedAtMs + resetMs - options.monotonicMs()) : 0),
    fire: async <T>(call: () => Promise<T>): Promise<T> => {
      let started = false;
      try {
        return (await circuit.fire(() => {
          started = true;
          probing = circuit.halfOpen;
          return call();
        })) as T;
      } catch (error) {
        if (!started) throw new SearchError('breaker-open', `${options.name}: the breaker is open`, { cause: error });
        throw error;
      }
    },
    close: () => {
      if (circuit.opened || circuit.halfOpen) replace();
    },
    shutdown: () => circuit.shutdown(),
  };
}
