import { type Breaker, BreakerOpen, type BreakerState } from './breaker.ts';
import type { RetryBudget } from './retry-budget.ts';

/**
 * The servers that can do the same work, each behind its own breaker. A call goes to the least busy one that is not
 * refused; when the connection to it is lost, once more to another, paid for from the retry budget.
 */
export interface Endpoints {
  /** True while every call would be refused: by an open breaker, or because the endpoint hangs. */
  readonly refuses: () => boolean;
  /** The best of them: `closed` while any is. */
  readonly state: () => BreakerState;
  /** Milliseconds until one may be probed; 0 when one may be asked now. */
  readonly retryAfterMs: () => number;
  /** The part of them that takes calls freely, and at least one: an endpoint that is probed counts for nothing yet. */
  readonly share: () => number;
  /** Counts one more call under way there. */
  readonly occupy: (endpoint: number) => Occupied;
  /** @throws BreakerOpen when no endpoint was asked; else whatever the last call threw. */
  readonly fire: <T>(call: (endpoint: number) => Promise<T>) => Promise<T>;
  /**
   * A probe beside the calls has found it to answer or not. If it answers, its breaker is closed. One that does not, or
   * that has just lost a connection, is asked only when there is no other: with few calls its breaker would never see
   * enough of them to open.
   */
  readonly probed: (endpoint: number, answers: boolean) => void;
  readonly list: () => readonly EndpointState[];
  readonly shutdown: () => void;
}

/**
 * A call in the books of its endpoint until the engine's work is over, which may be long after `fire`: an endpoint that
 * stalls would look idle again at each deadline, be asked first, and take every permit of the others.
 */
export interface Occupied {
  /** True when its endpoint has answered nothing since the call began, and another one has: this is no load they share. */
  readonly hangs: () => boolean;
  /** The endpoint gets no call until this one is over: it holds its place there, and needs none among the permits. */
  readonly giveUp: () => void;
  /** Idempotent. */
  readonly free: () => void;
}

export interface EndpointState {
  /** `host:port`, or what else tells them apart. */
  readonly name: string;
  readonly breaker: BreakerState;
  readonly inFlight: number;
}

export interface EndpointsOptions {
  readonly targets: readonly { readonly name: string; readonly breaker: Breaker }[];
  readonly budget: RetryBudget;
  /** Errors after which another endpoint may be asked: the connection was lost, so this one did nothing. */
  readonly mayRetry: (error: unknown) => boolean;
  readonly onRetry: (result: 'answered' | 'failed' | 'spent') => void;
}

interface Target {
  readonly name: string;
  readonly breaker: Breaker;
  readonly index: number;
  inFlight: number;
  givenUp: number;
  /** Number of its last answer: answers of all endpoints are counted together. */
  answer: number;
  suspect: boolean;
}

export function createEndpoints(options: EndpointsOptions): Endpoints {
  const { budget, mayRetry, onRetry } = options;
  const targets = options.targets.map(
    (target, index): Target => ({ ...target, index, inFlight: 0, givenUp: 0, answer: 0, suspect: false }),
  );
  let turn = 0;
  let answered = 0;

  const targetAt = (endpoint: number): Target => {
    const target = targets[endpoint];
    if (target === undefined) throw new Error(`no endpoint ${endpoint}`);
    return target;
  };
  const takesFreely = ({ breaker, suspect, givenUp }: Target): boolean =>
    breaker.state() === 'closed' && !suspect && givenUp === 0;
  const isRefused = ({ breaker, givenUp }: Target): boolean => givenUp > 0 || breaker.refuses();

  const isBetter = (target: Target, than: Target): boolean =>
    target.suspect === than.suspect ? target.inFlight < than.inFlight : !target.suspect;

  /** The least busy; among equals each in its turn, or an idle fleet would ask the first alone. */
  const pick = (except?: Target): Target | undefined => {
    if (except === undefined) turn = (turn + 1) % targets.length;
    let best: Target | undefined;
    for (let i = 0; i < targets.length; i += 1) {
      const target = targets[(turn + i) % targets.length];
      if (target === undefined || target === except || isRefused(target)) continue;
      if (best === undefined || isBetter(target, best)) best = target;
    }
    return best;
  };

  const ask = <T>(target: Target, call: (endpoint: number) => Promise<T>): Promise<T> =>
    target.breaker.fire(async () => {
      try {
        const result = await call(target.index);
        target.suspect = false;
        answered += 1;
        target.answer = answered;
        return result;
      } catch (error) {
        if (mayRetry(error)) target.suspect = true;
        throw error;
      }
    });

  return {
    refuses: () => targets.every(isRefused),
    state: () => {
      const states = targets.map(({ breaker }) => breaker.state());
      return states.includes('closed') ? 'closed' : states.includes('half-open') ? 'half-open' : 'open';
    },
    retryAfterMs: () => Math.min(...targets.map(({ breaker }) => breaker.retryAfterMs())),
    share: () => Math.max(1, targets.filter(takesFreely).length) / targets.length,
    probed: (endpoint, answers) => {
      const target = targetAt(endpoint);
      target.suspect = !answers;
      if (answers) target.breaker.close();
    },
    occupy: (endpoint) => {
      const target = targetAt(endpoint);
      const before = answered;
      target.inFlight += 1;
      let state: 'under way' | 'given up' | 'over' = 'under way';
      return {
        hangs: () => target.answer <= before && targets.some((other) => other.answer > before),
        giveUp: () => {
          if (state !== 'under way') return;
          state = 'given up';
          target.givenUp += 1;
        },
        free: () => {
          if (state === 'over') return;
          target.inFlight -= 1;
          if (state === 'given up') target.givenUp -= 1;
          state = 'over';
        },
      };
    },
    fire: async (call) => {
      const first = pick();
      if (first === undefined) throw new BreakerOpen('every endpoint is refused');
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
    list: () => targets.map(({ name, breaker, inFlight }) => ({ name, breaker: breaker.state(), inFlight })),
    shutdown: () => {
      for (const { breaker } of targets) breaker.shutdown();
    },
  };
}
