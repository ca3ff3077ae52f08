import type { Breaker, BreakerState } from './breaker.ts';
import { SearchError } from './search-error.ts';

/**
 * The servers that can do the same work, each behind its own breaker. A call goes to the least busy endpoint that is not
 * refused. When its connection is lost, the call goes once more to another endpoint, and the retry budget pays for it.
 */
export interface LoadBalancer {
  /** True while every call would be refused: by an open breaker, or because the endpoint hangs. */
  readonly refuses: () => boolean;
  /** The best state of all endpoints: `closed` while one is. */
  readonly state: () => BreakerState;
  /** Milliseconds until an endpoint may be probed; 0 when one may be asked now. */
  readonly retryAfterMs: () => number;
  /** Share of the endpoints that takes calls freely, at least one endpoint's. One that is being probed does not count yet. */
  readonly availableShare: () => number;
  /** Counts one more call in flight at the endpoint. */
  readonly begin: (endpoint: number) => EndpointCall;
  /** @throws SearchError `breaker-open` when no endpoint was asked; else the error of the last call. */
  readonly fire: <T>(call: (endpoint: number) => Promise<T>) => Promise<T>;
  /**
   * The result of a probe beside the calls. An answer closes the endpoint's breaker. An endpoint that does not answer, or
   * has just lost a connection, is asked only when there is no other: with few calls its breaker would never see enough
   * of them to open.
   */
  readonly reportProbe: (endpoint: number, answers: boolean) => void;
  readonly list: () => readonly EndpointState[];
  readonly shutdown: () => void;
}

/**
 * A call, counted at its endpoint until the engine's work is over, which may be long after `fire`. Otherwise an endpoint
 * that stalls would look idle again at each deadline, be asked first, and take every slot of the others.
 */
export interface EndpointCall {
  /** True when its endpoint has answered nothing since the call began and another endpoint has: the cause is not their common load. */
  readonly hangs: () => boolean;
  /** The endpoint gets no call until this one is over. The call stays counted there and needs no slot of the limiter. */
  readonly abandon: () => void;
  /** The work is over. Idempotent. */
  readonly end: () => void;
}

interface EndpointState {
  /** `host:port`, or `embedded`. */
  readonly name: string;
  readonly breaker: BreakerState;
  readonly inFlight: number;
}

interface LoadBalancerOptions {
  readonly targets: readonly { readonly name: string; readonly breaker: Breaker }[];
  readonly budget: RetryBudget;
  readonly onRetry: (result: 'answered' | 'failed' | 'spent') => void;
}

interface Endpoint {
  readonly name: string;
  readonly breaker: Breaker;
  readonly index: number;
  inFlight: number;
  abandoned: number;
  /** Sequence number of its last answer, counted over all endpoints. */
  lastAnswer: number;
  /** It lost a connection or did not answer its probe. */
  suspect: boolean;
}

export function createLoadBalancer(options: LoadBalancerOptions): LoadBalancer {
  const { budget, onRetry } = options;
  const endpoints = options.targets.map(
    (target, index): Endpoint => ({ ...target, index, inFlight: 0, abandoned: 0, lastAnswer: 0, suspect: false }),
  );
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
    refuses: () => endpoints.every(isRefused),
    state: () => {
      const states = endpoints.map(({ breaker }) => breaker.state());
      return states.includes('closed') ? 'closed' : states.includes('half-open') ? 'half-open' : 'open';
    },
    retryAfterMs: () => Math.min(...endpoints.map(({ breaker }) => breaker.retryAfterMs())),
    availableShare: () => Math.max(1, endpoints.filter(isAvailable).length) / endpoints.length,
    reportProbe: (index, hasAnswered) => {
      const endpoint = endpointAt(index);
      endpoint.suspect = !hasAnswered;
      if (hasAnswered) endpoint.breaker.close();
    },
    begin: (index) => {
      const endpoint = endpointAt(index);
      const answersBefore = answers;
      endpoint.inFlight += 1;
      let state: 'in flight' | 'abandoned' | 'over' = 'in flight';
      return {
        hangs: () =>
          endpoint.lastAnswer <= answersBefore && endpoints.some(({ lastAnswer }) => lastAnswer > answersBefore),
        abandon: () => {
          if (state !== 'in flight') return;
          state = 'abandoned';
          endpoint.abandoned += 1;
        },
        end: () => {
          if (state === 'over') return;
          endpoint.inFlight -= 1;
          if (state === 'abandoned') endpoint.abandoned -= 1;
          state = 'over';
        },
      };
    },
    fire: async (call) => {
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
    list: () => endpoints.map(({ name, breaker, inFlight }) => ({ name, breaker: breaker.state(), inFlight })),
    shutdown: () => {
      for (const { breaker } of endpoints) breaker.shutdown();
    },
  };
}

/** Another endpoint may be asked: the connection was lost, so this endpoint did nothing. */
function mayRetry(error: unknown): boolean {
  return error instanceof SearchError && error.reason === 'engine-unavailable';
}

/**
 * Requests pay for retries, so that retries can never multiply the load of a failing engine: each request adds `share` of
 * a retry, each retry takes a whole one. (The idea of Finagle's retry budgets.)
 */
interface RetryBudget {
  /** Call once per first attempt. */
  readonly deposit: () => void;
  /** True: the retry is paid for. False: do not retry. */
  readonly withdraw: () => boolean;
  /** Number of retries that the budget could pay for now. */
  readonly balance: () => number;
}

interface RetryBudgetOptions {
  /** Retries per request in the long run, 0–1. */
  readonly share: number;
  /** Maximum of saved retries, and the balance of a new budget. */
  readonly burst: number;
}

export function createRetryBudget({ share, burst }: RetryBudgetOptions): RetryBudget {
  if (!(share >= 0 && share <= 1)) throw new Error(`share must be 0–1, not ${share}`);
  if (!(burst >= 1)) throw new Error(`burst must be at least 1, not ${burst}`);
  let balance = burst;
  return {
    deposit: () => {
      balance = Math.min(burst, balance + share);
    },
    withdraw: () => {
      // Ten deposits of 0.1 sum up to slightly less than 1.
      if (balance < 1 - 1e-9) return false;
      balance = Math.max(0, balance - 1);
      return true;
    },
    balance: () => balance,
  };
}
