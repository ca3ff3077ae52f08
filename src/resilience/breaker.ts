import Opossum from 'opossum';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** opossum, kept to what works for us. One per engine endpoint; nothing but an engine call passes through it. */
export interface Breaker {
  readonly state: () => BreakerState;
  /** True while every call would be refused: check it before taking a permit (a reject inside opossum costs 12 µs). */
  readonly refuses: () => boolean;
  /** Milliseconds until a probe may pass; 0 when it may now. */
  readonly retryAfterMs: () => number;
  /** @throws BreakerOpen when `call` was not started, else whatever it throws. */
  readonly fire: <T>(call: () => Promise<T>) => Promise<T>;
  readonly shutdown: () => void;
}

export class BreakerOpen extends Error {
  override readonly name = 'BreakerOpen';
}

export interface BreakerOptions {
  readonly name: string;
  /** Of calls in the last `windowMs`: more than this share failing opens it. 1–100. */
  readonly errorThresholdPercent: number;
  /** Fewer calls than this in the window never open it. */
  readonly volumeThreshold: number;
  readonly windowMs: number;
  /** Before a probe; spread by ±20 %, so that processes do not probe in step. */
  readonly resetMs: number;
  /** Errors by which the target proved to be alive. */
  readonly isAlive: (error: unknown) => boolean;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly onState: (state: BreakerState) => void;
}

export function createBreaker(options: BreakerOptions): Breaker {
  const resetMs = Math.round(options.resetMs * (0.8 + 0.4 * options.random()));
  // Made here and never shared: opossum writes into its options. What is left out is broken for us (facts, design §9):
  // its timeout, capacity, coalesce, cache, AbortController; percentiles and snapshots block the loop for milliseconds.
  const circuit = new Opossum(async (call: () => Promise<unknown>) => call(), {
    name: options.name,
    timeout: false,
    errorThresholdPercentage: options.errorThresholdPercent,
    volumeThreshold: options.volumeThreshold,
    rollingCountTimeout: options.windowMs,
    rollingCountBuckets: 10,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    resetTimeout: resetMs,
    errorFilter: (error: unknown) => options.isAlive(error),
  });
  let openedAtMs = 0;
  let probing = false;
  circuit.on('open', () => {
    openedAtMs = options.monotonicMs();
    probing = false;
    options.onState('open');
  });
  circuit.on('halfOpen', () => {
    probing = false;
    options.onState('half-open');
  });
  circuit.on('close', () => {
    probing = false;
    options.onState('closed');
  });

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
        if (!started) throw new BreakerOpen(`${options.name}: the breaker is open`, { cause: error });
        throw error;
      }
    },
    shutdown: () => circuit.shutdown(),
  };
}
