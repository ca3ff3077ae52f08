/**
 * A part of a run with one rate and one purpose: the unit of verdicts, tables and plots. Steps follow each other. Metrics
 * are tagged `step=<name>` while the step's rate holds.
 */
export interface Step {
  /** `x3`, `steady`, `recovery`: letters, digits and dashes. */
  readonly name: string;
  readonly title: string;
  /** Since the start of the run. The ramp comes first, then the rate holds. */
  readonly startSeconds: number;
  readonly rampSeconds: number;
  readonly holdSeconds: number;
  readonly ratePerSecond: number;
  /** 1 unless the requests are batches. */
  readonly searchesPerRequest: number;
  /** The multiple of the base rate, if the step is a rung of a ladder. */
  readonly multiplier?: number;
  /** The step follows the one before without a break, and the same virtual users send it. */
  readonly goesOn?: true;
  /** Absent in a warm-up, which is measured and shown but not judged. */
  readonly limits?: StepLimits;
}

/** The conditions under which a step held. Shares are 0–1. */
export interface StepLimits {
  /** Share of the searches that were not answered with a page; sheds count unless `shedsAllowed`. */
  readonly maxErrorRate: number;
  /** Above this error rate the whole run ends, because nothing more can be learned. */
  readonly abortErrorRate: number;
  readonly maxP99Ms?: number;
  /** `hit-l1` and `hit-l2`, divided by all searches. */
  readonly minHitRatio?: number;
  /** An honest shed (503, Retry-After, problem+json) is no error in this step. */
  readonly shedsAllowed: boolean;
  readonly drillPasses?: true;
}

export interface StepWish extends Omit<Step, 'startSeconds' | 'searchesPerRequest'> {
  readonly searchesPerRequest?: number;
}

/** Limits of a step without any disturbance: those of a rung of x-load, without the hit ratio. */
export const CALM_LIMITS: StepLimits = {
  maxErrorRate: 0.001,
  abortErrorRate: 0.05,
  maxP99Ms: 500,
  shedsAllowed: false,
};

/** The break between two scenarios: running requests are answered, and k6 reuses the virtual users. */
export const BREAK_SECONDS = 1.5;

/** Steps in sequence: each begins when the one before has ended. */
export function inTurn(wishes: readonly StepWish[]): readonly Step[] {
  let startSeconds = 0;
  return wishes.map((wish, at) => {
    if (wish.goesOn !== true && at > 0) startSeconds += BREAK_SECONDS;
    const step = { searchesPerRequest: 1, ...wish, startSeconds };
    startSeconds += wish.rampSeconds + wish.holdSeconds;
    return step;
  });
}

interface LadderOptions extends Pick<Step, 'rampSeconds' | 'holdSeconds'> {
  readonly baseRps: number;
  readonly multipliers: readonly number[];
  readonly limits: StepLimits;
}

/** Rungs `x1`, `x1-5`, `x3` …: the same step at a growing rate. */
export function ladder({ baseRps, multipliers, ...each }: LadderOptions): readonly StepWish[] {
  return multipliers.map((multiplier) => ({
    // k6 allows no dots in the names of scenarios.
    name: `x${String(multiplier).replace('.', '-')}`,
    title: `${multiplier} times the base rate`,
    ratePerSecond: baseRps * multiplier,
    multiplier,
    ...each,
  }));
}

/** Searches a second while the rate of the step holds. */
export function plannedRate({ ratePerSecond, searchesPerRequest }: Step): number {
  return ratePerSecond * searchesPerRequest;
}

/** Start and end of the time in which the rate holds, since the start of the run. */
export function holdOf({ startSeconds, rampSeconds, holdSeconds }: Step): readonly [fromSeconds: number, to: number] {
  return [startSeconds + rampSeconds, startSeconds + rampSeconds + holdSeconds];
}

/** The step whose rate holds at that time; undefined during ramps and breaks. */
export function stepAt(steps: readonly Step[], elapsedSeconds: number): Step | undefined {
  return steps.find((step) => {
    const [from, to] = holdOf(step);
    return elapsedSeconds >= from && elapsedSeconds < to;
  });
}

export function lastSecond(steps: readonly Step[]): number {
  return steps.reduce((last, step) => Math.max(last, holdOf(step)[1]), 0);
}

/**
 * Steps without a break between them, sent by the same virtual users: one scenario of k6, with the name of its first step.
 * With one scenario per step, two adjacent scenarios would each need all their users at the same time, and the second
 * would open new connections.
 */
export interface Segment {
  readonly name: string;
  readonly steps: readonly Step[];
}

export function segmentsOf(steps: readonly Step[]): readonly Segment[] {
  const segments: { name: string; steps: Step[] }[] = [];
  for (const step of steps) {
    const current = segments.at(-1);
    if (step.goesOn === true && current !== undefined) current.steps.push(step);
    else segments.push({ name: step.name, steps: [step] });
  }
  return segments;
}

/** The segment's step at that time since its start, and whether the rate holds. After the end it is the last step. */
export function momentOf({ steps }: Segment, sinceStartMs: number): { readonly step: Step; readonly holds: boolean } {
  const [first] = steps;
  if (first === undefined) throw new Error('a segment without a step');
  const seconds = first.startSeconds + sinceStartMs / 1000;
  const step = steps.findLast(({ startSeconds }) => startSeconds <= seconds) ?? first;
  const [from, to] = holdOf(step);
  return { step, holds: seconds >= from && seconds < to };
}

/** The number of each segment's first search, by segment name. No two segments use the same number. */
export function firstNumbers(segments: readonly Segment[]): ReadonlyMap<string, number> {
  let next = 0;
  return new Map(
    segments.map(({ name, steps }) => {
      const first = next;
      const rate = Math.max(...steps.map(plannedRate));
      // An upper bound: a ramp sends less than its final rate.
      next += Math.ceil(steps.reduce((sum, step) => sum + step.rampSeconds + step.holdSeconds + 1, 0) * rate);
      return [name, first];
    }),
  );
}
