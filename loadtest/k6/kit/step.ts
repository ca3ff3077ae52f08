/**
 * A stretch of a run with one rate and one intention: the unit of verdicts, tables and plots. Steps follow each other;
 * what is sent while its rate holds is tagged `step=<name>`.
 */
export interface Step {
  /** `x3`, `steady`, `recovery`. Letters, digits and dashes. */
  readonly name: string;
  /** For people: what happens in it. */
  readonly title: string;
  /** Since the start of the run; the ramp comes first, then the rate holds. */
  readonly startSeconds: number;
  readonly rampSeconds: number;
  readonly holdSeconds: number;
  /** Requests a second while it holds. */
  readonly ratePerSecond: number;
  /** Searches in one request: 1 unless it is a batch. */
  readonly searchesPerRequest: number;
  /** Of the base rate, where the step is a rung of a ladder. */
  readonly multiplier?: number;
  /** It follows the step before without a break, and is sent by the same virtual users. */
  readonly goesOn?: true;
  /** A warm-up is measured and shown, but has no limits. */
  readonly limits?: StepLimits;
}

/** What has to hold for a step to be held. Shares are 0–1. */
export interface StepLimits {
  /** Of searches: whatever was not a page, sheds included unless `shedsAllowed`. */
  readonly maxErrorRate: number;
  /** Ends the whole run: there is nothing to be learned above this. */
  readonly abortErrorRate: number;
  readonly maxP99Ms?: number;
  /** `hit-l1` and `hit-l2`, of all searches. */
  readonly minHitRatio?: number;
  /** An honest shed (503, Retry-After, problem+json) is no error here. */
  readonly shedsAllowed: boolean;
  /** A drill is run for it, and has to pass. */
  readonly drillPasses?: true;
}

export interface StepWish extends Omit<Step, 'startSeconds' | 'searchesPerRequest'> {
  readonly searchesPerRequest?: number;
}

/** Between two steps that are not one stint: what is under way is answered, and k6 hands its virtual users on. */
export const BREAK_SECONDS = 1.5;

/** Each step begins when the one before has ended. */
export function inTurn(wishes: readonly StepWish[]): readonly Step[] {
  let startSeconds = 0;
  return wishes.map((wish, at) => {
    if (wish.goesOn !== true && at > 0) startSeconds += BREAK_SECONDS;
    const step = { searchesPerRequest: 1, ...wish, startSeconds };
    startSeconds += wish.rampSeconds + wish.holdSeconds;
    return step;
  });
}

/** Since the start of the run: when its rate begins to hold, and when it ends. */
export function holdOf({ startSeconds, rampSeconds, holdSeconds }: Step): readonly [fromSeconds: number, to: number] {
  return [startSeconds + rampSeconds, startSeconds + rampSeconds + holdSeconds];
}
