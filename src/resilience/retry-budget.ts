/**
 * Retries are paid for by requests, so that they can never multiply the load of an engine that is failing: each request
 * adds `share` of a retry, each retry takes a whole one. (The idea of Finagle's retry budgets.)
 */
export interface RetryBudget {
  /** Call once per first attempt. */
  readonly deposit: () => void;
  /** True and paid, or false: do not retry. */
  readonly withdraw: () => boolean;
  /** Retries that could be paid for now. */
  readonly balance: () => number;
}

export interface RetryBudgetOptions {
  /** Retries per request in the long run, 0–1. */
  readonly share: number;
  /** Most retries saved up, and what a new budget starts with. */
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
      // Ten deposits of 0.1 sum up to a hair less than 1.
      if (balance < 1 - 1e-9) return false;
      balance = Math.max(0, balance - 1);
      return true;
    },
    balance: () => balance,
  };
}
