import Opossum from 'opossum';
import { SearchError } from './search-error.ts';

export const BREAKER_STATES = ['closed', 'half-open', 'open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

interface BreakerOptions {
  readonly name: string;
  /** It opens when a larger share of the calls of the last `windowMs` failed. 1–100. */
  readonly errorThresholdPercent: number;
  readonly volumeThreshold: number;
  readonly windowMs: number;
  /** Time from opening to a probe; spread by ±20 %, so that processes do not probe in step. */
  readonly resetMs: number;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly onState: (state: BreakerState) => void;
}

/**
 * opossum, reduced to the parts that work for us. One per engine endpoint; only engine calls pass through it, and the guard
 * gives them their deadlines. The breaker of a store node (`stores/redis/node.ts`) is another one: it opens within a tenth of
 * a second, by failures in a row, for a read costs microseconds and has a promise nowhere. opossum counts over seconds,
 * and its promises and timers would cost more than the read.
 */
export function createBreaker(options: BreakerOptions) {
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
    state: (): BreakerState => (circuit.opened ? 'open' : circuit.halfOpen ? 'half-open' : 'closed'),
    /** True while every call would be refused: check it before taking a slot (a reject inside opossum costs 12 µs). */
    refuses: (): boolean => circuit.opened || (circuit.halfOpen && probing),
    /** Milliseconds until a probe may pass; 0 when it may now. */
    retryAfterMs: (): number => (circuit.opened ? Math.max(0, openedAtMs + resetMs - options.monotonicMs()) : 0),
    /** @throws SearchError `breaker-open` when `call` was not started; else the error of `call`. */
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
    /**
     * Closes an open or half-open breaker, with empty counts, when a probe has shown that the target works. Calls in flight
     * keep their results and are not counted.
     */
    close: (): void => {
      if (circuit.opened || circuit.halfOpen) replace();
    },
    shutdown: (): void => circuit.shutdown(),
  };
}

export type Breaker = ReturnType<typeof createBreaker>;

interface LoadBalancerOptions {
  readonly targets: readonly { readonly name: string; readonly breaker: Breaker }[];
  readonly budget: RetryBudget;
  readonly onRetry: (result: 'answered' | 'failed' | 'spent') => void;
}

/** `lastAnswer`: the number of its last answer, counted over all endpoints. `suspect`: it lost a connection or did not answer its probe. */
const newEndpoint = (target: LoadBalancerOptions['targets'][number], index: number) => ({
  ...target,
  index,
  inFlight: 0,
  abandoned: 0,
  lastAnswer: 0,
  suspect: false,
});

type Endpoint = ReturnType<typeof newEndpoint>;

/**
 * The servers that can do the same work, each behind its own breaker. A call goes to the least busy endpoint that is not
 * refused. When its connection is lost, the call goes once more to another endpoint, and the retry budget pays for it.
 */
export function createLoadBalancer(options: LoadBalancerOptions) {
  const { budget, onRetry } = options;
  const endpoints = options.targets.map(newEndpoint);
  let turn = 0;
  let answers = 0;

  const endpointAt = (index: number): Endpoint => {
    const endpoint = endpoints[index];
    if (endpoint === undefined) throw new Error(`no endpoint ${index}`);
    return endpoint;
  };
  const isAvailable = ({ breaker, suspect, abandoned }: Endpoint): boolean =>
    breaker.state() === 'closed' && !suspect && abandoned === 0;
  const isRefused = ({ breaker, abandoned }: Endpoint): boolean => abandoned > 0 || breaker.refuses();

  const isBetter = (one: Endpoint, than: Endpoint): boolean =>
    one.suspect === than.suspect ? one.inFlight < than.inFlight : !one.suspect;

  /** The least busy endpoint. Equally busy endpoints take turns; otherwise an idle fleet would only ask the first one. */
  const pick = (except?: Endpoint): Endpoint | undefined => {
    if (except === undefined) turn = (turn + 1) % endpoints.length;
    let best: Endpoint | undefined;
    for (let i = 0; i < endpoints.length; i += 1) {
      const endpoint = endpoints[(turn + i) % endpoints.length];
      if (endpoint === undefined || endpoint === except || isRefused(endpoint)) continue;
      if (best === undefined || isBetter(endpoint, best)) best = endpoint;
    }
    return best;
  };

  const ask = <T>(endpoint: Endpoint, call: (endpoint: number) => Promise<T>): Promise<T> =>
    endpoint.breaker.fire(async () => {
      try {
        const result = await call(endpoint.index);
        endpoint.suspect = false;
        answers += 1;
        endpoint.lastAnswer = answers;
        return result;
      } catch (error) {
        if (mayRetry(error)) endpoint.suspect = true;
        throw error;
      }
    });

  return {
    /** True while every call would be refused: by an open breaker, or because the endpoint hangs. */
    refuses: (): boolean => endpoints.every(isRefused),
    /** The best state of all endpoints: `closed` while one is. */
    state: (): BreakerState => {
      const states = endpoints.map(({ breaker }) => breaker.state());
      return states.includes('closed') ? 'closed' : states.includes('half-open') ? 'half-open' : 'open';
    },
    /** Milliseconds until an endpoint may be probed; 0 when one may be asked now. */
    retryAfterMs: (): number => Math.min(...endpoints.map(({ breaker }) => breaker.retryAfterMs())),
    /** Share of the endpoints that takes calls freely, at least one endpoint's. One that is being probed does not count yet. */
    availableShare: (): number => Math.max(1, endpoints.filter(isAvailable).length) / endpoints.length,
    /**
     * The result of a probe beside the calls. An answer closes the endpoint's breaker. An endpoint that does not answer, or
     * has just lost a connection, is asked only when there is no other: with few calls its breaker would never see enough
     * of them to open.
     */
    reportProbe: (index: number, hasAnswered: boolean): void => {
      const endpoint = endpointAt(index);
      endpoint.suspect = !hasAnswered;
      if (hasAnswered) endpoint.breaker.close();
    },
    /**
     * Counts one more call in flight at the endpoint, until the engine's work is over, which may be long after `fire`.
     * Otherwise an endpoint that stalls would look idle again at each deadline, be asked first, and take every slot of the
     * others.
     */
    begin: (index: number) => {
      const endpoint = endpointAt(index);
      const answersBefore = answers;
      endpoint.inFlight += 1;
      let state: 'in flight' | 'abandoned' | 'over' = 'in flight';
      return {
        /** Another endpoint has answered since the call began, and this one has not: their load is not the cause. */
        hangs: (): boolean =>
          endpoint.lastAnswer <= answersBefore && endpoints.some(({ lastAnswer }) => lastAnswer > answersBefore),
        /** The endpoint gets no call until this one is over. The call stays counted there and needs no slot of the limiter. */
        abandon: (): void => {
          if (state !== 'in flight') return;
          state = 'abandoned';
          endpoint.abandoned += 1;
        },
        /** The work is over. Idempotent. */
        end: (): void => {
          if (state === 'over') return;
          endpoint.inFlight -= 1;
          if (state === 'abandoned') endpoint.abandoned -= 1;
          state = 'over';
        },
      };
    },
    /** @throws SearchError `breaker-open` when no endpoint was asked; else the error of the last call. */
    fire: async <T>(call: (endpoint: number) => Promise<T>): Promise<T> => {
      const first = pick();
      if (first === undefined) throw new SearchError('breaker-open', 'every endpoint is refused');
      budget.deposit();
      try {
        return await ask(first, call);
      } catch (error) {
        if (!mayRetry(error)) throw error;
        const second = pick(first);
        if (second === undefined) throw error;
        if (!budget.withdraw()) {
          onRetry('spent');
          throw error;
        }
        try {
          const result = await ask(second, call);
          onRetry('answered');
          return result;
        } catch (again) {
          onRetry('failed');
          throw again;
        }
      }
    },
    /** `name`: `host:port`, or `embedded`. */
    list: () => endpoints.map(({ name, breaker, inFlight }) => ({ name, breaker: breaker.state(), inFlight })),
    shutdown: (): void => {
      for (const { breaker } of endpoints) breaker.shutdown();
    },
  };
}

export type LoadBalancer = ReturnType<typeof createLoadBalancer>;
export type EndpointCall = ReturnType<LoadBalancer['begin']>;

/** Another endpoint may be asked: the connection was lost, so this endpoint did nothing. */
function mayRetry(error: unknown): boolean {
  return error instanceof SearchError && error.reason === 'engine-unavailable';
}

/**
 * Requests pay for retries, so that retries can never multiply the load of a failing engine: each request adds `share` of
 * a retry, each retry takes a whole one. (The idea of Finagle's retry budgets.) By default retries add at most a tenth of
 * the calls, and ten at once when an endpoint has just died.
 * @param options `share`: retries per request in the long run, 0–1. `burst`: the maximum of saved retries, and the balance
 * of a new budget.
 */
export function createRetryBudget({ share = 0.1, burst = 10 } = {}) {
  let balance = burst;
  return {
    /** Call once per first attempt. */
    deposit: (): void => {
      balance = Math.min(burst, balance + share);
    },
    /** True: the retry is paid for. False: do not retry. */
    withdraw: (): boolean => {
      // Ten deposits of 0.1 sum up to slightly less than 1.
      if (balance < 1 - 1e-9) return false;
      balance = Math.max(0, balance - 1);
      return true;
    },
  };
}

type RetryBudget = ReturnType<typeof createRetryBudget>;
