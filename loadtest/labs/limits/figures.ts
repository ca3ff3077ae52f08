import type { Request, Run, Scenario } from './run.ts';

/** What one run was worth. Milliseconds unless it says otherwise; NaN where there was nobody to ask. */
export interface Figures {
  /** Good answers a second, of those the engine could give at the most. */
  readonly good: number;
  readonly p99GoodMs: number;
  readonly p99ShedMs: number;
  readonly longestShedMs: number;
  readonly meanLimit: number;
  /** Seconds from the start until the limit stayed for a second within 0.75–2 × what the engine does at once. */
  readonly foundAfterSeconds: number;
  /** Seconds from the end of the slow time until good answers were back at 0.9 of before, over three seconds. */
  readonly recoveredAfterSeconds: number;
}

const LOOKS_PER_SECOND = 10;

export function figuresOf(run: Run, scenario: Scenario): Figures {
  const { fromSeconds, seconds, deadlineMs, patienceMs } = scenario;
  // Who came in the last moments may have no answer yet.
  const toSeconds = seconds - patienceMs / 1000;
  const counted = run.requests.filter(
    ({ arrivedAtMs }) => arrivedAtMs >= fromSeconds * 1000 && arrivedAtMs < toSeconds * 1000,
  );
  const good = counted.filter((request) => isGood(request, deadlineMs)).map(took);
  const shed = counted.filter((request) => request.shed).map(took);
  const limits = run.limits.slice(fromSeconds * LOOKS_PER_SECOND);
  return {
    good: good.length / (toSeconds - fromSeconds) / run.enginePerSecond,
    p99GoodMs: percentile(good, 0.99),
    p99ShedMs: percentile(shed, 0.99),
    longestShedMs: percentile(shed, 1),
    meanLimit: mean(limits),
    foundAfterSeconds: foundAfterSeconds(run.limits, scenario.atOnce),
    recoveredAfterSeconds: recoveredAfterSeconds(run, scenario),
  };
}

/** Of several runs that differ in their seed alone: means, but the longest of the longest. */
export function together(figures: readonly Figures[]): Figures {
  const of = (pick: (each: Figures) => number): number =>
    mean(figures.map(pick).filter((value) => !Number.isNaN(value)));
  return {
    good: of((each) => each.good),
    p99GoodMs: of((each) => each.p99GoodMs),
    p99ShedMs: of((each) => each.p99ShedMs),
    longestShedMs: percentile(
      figures.map((each) => each.longestShedMs).filter((value) => !Number.isNaN(value)),
      1,
    ),
    meanLimit: of((each) => each.meanLimit),
    foundAfterSeconds: figures.some((each) => Number.isNaN(each.foundAfterSeconds))
      ? Number.NaN
      : of((each) => each.foundAfterSeconds),
    recoveredAfterSeconds: figures.some((each) => Number.isNaN(each.recoveredAfterSeconds))
      ? Number.NaN
      : of((each) => each.recoveredAfterSeconds),
  };
}

function isGood(request: Request, deadlineMs: number): boolean {
  return !request.shed && took(request) <= deadlineMs;
}

function took({ arrivedAtMs, endedAtMs = Number.POSITIVE_INFINITY }: Request): number {
  return endedAtMs - arrivedAtMs;
}

function foundAfterSeconds(limits: readonly number[], atOnce: number): number {
  const fits = limits.map((limit) => limit >= 0.75 * atOnce && limit <= 2 * atOnce);
  const at = fits.findIndex((_, from) => {
    const second = fits.slice(from, from + LOOKS_PER_SECOND);
    return second.length === LOOKS_PER_SECOND && second.every((one) => one);
  });
  return at < 0 ? Number.NaN : at / LOOKS_PER_SECOND;
}

function recoveredAfterSeconds(run: Run, { slow, fromSeconds, seconds, deadlineMs }: Scenario): number {
  if (slow === undefined) return Number.NaN;
  const perSecond = new Array<number>(seconds).fill(0);
  for (const request of run.requests) {
    const second = Math.floor((request.endedAtMs ?? Number.POSITIVE_INFINITY) / 1000);
    if (second < seconds && isGood(request, deadlineMs)) perSecond[second] = (perSecond[second] ?? 0) + 1;
  }
  const before = mean(perSecond.slice(fromSeconds, slow.fromSeconds));
  if (before < 1) return Number.NaN;
  for (let second = slow.toSeconds; second + 3 <= seconds; second += 1)
    if (mean(perSecond.slice(second, second + 3)) >= 0.9 * before) return second - slow.toSeconds;
  return Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
