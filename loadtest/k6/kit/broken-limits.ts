import { besideLimit, msWords, numberWords, percentWords } from './number-words.ts';
import type { StepSummary } from './summary.ts';

export type MeasuredStep = Omit<StepSummary, 'result' | 'broken'>;

/** Each limit of the step that did not hold, in words. What a limit asks for and nobody measured did not hold. */
export function brokenLimits({
  step,
  errorRate,
  latencyMs,
  hitRatio,
  dishonest,
  drill,
}: MeasuredStep): readonly string[] {
  if (step.limits === undefined) return [];
  const { maxErrorRate, maxP99Ms, minHitRatio } = step.limits;
  const found = [
    above('error rate', errorRate, maxErrorRate, percentWords),
    maxP99Ms === undefined ? undefined : above('p99', latencyMs?.p99, maxP99Ms, msWords),
    minHitRatio === undefined ? undefined : below('hit ratio', hitRatio, minHitRatio, percentWords),
    step.limits.drillPasses === true && drill !== 'passed' ? `drill ${drill ?? 'unfinished'} (has to pass)` : undefined,
    // Whatever the limits: a client that is not told to come back later cannot know what to do.
    dishonest > 0 ? `${numberWords(dishonest)} × 5xx that was no honest shed (none is allowed)` : undefined,
  ];
  return found.filter((words) => words !== undefined);
}

type Words = (value: number, decimals?: number) => string;

function above(what: string, value: number | undefined, limit: number, words: Words): string | undefined {
  if (value === undefined) return `${what} not measured (limit ${words(limit)})`;
  if (value <= limit) return undefined;
  const [text, limitText] = besideLimit(value, limit, words);
  return `${what} ${text} (limit ${limitText})`;
}

function below(what: string, value: number | undefined, limit: number, words: Words): string | undefined {
  if (value === undefined) return `${what} not measured (at least ${words(limit)})`;
  if (value >= limit) return undefined;
  const [text, limitText] = besideLimit(value, limit, words);
  return `${what} ${text} (at least ${limitText})`;
}
