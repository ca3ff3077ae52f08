import type { LimitSample } from './limit.ts';

/** Calls in a row, seen as one. */
export interface SampleWindow {
  readonly answered: number;
  readonly lost: number;
  /** Geometric mean of the answered: one costly search in twenty moves it by an eighth, a median jumps where two kinds mix. */
  readonly durationMs: number;
  /** Of the logarithms of the answered's durations; 0 when it is not known. */
  readonly variance: number;
  readonly mostInFlight: number;
  readonly meanInFlight: number;
}

export interface SampleWindows {
  /** The window that this call closes, if it does. */
  readonly add: (call: LimitSample) => SampleWindow | undefined;
}

export interface SampleWindowsOptions {
  readonly monotonicMs: () => number;
  /** Calls that make a window, at the least. */
  readonly minCalls: () => number;
}

/** Fast engines need not be judged more often than that, unless so many calls have come. */
const MIN_SPAN_MS = 50;
const MAX_CALLS = 256;
/** Below that it is the clock that is measured. */
const SHORTEST_MS = 0.05;

export function createSampleWindows({ monotonicMs, minCalls }: SampleWindowsOptions): SampleWindows {
  let beganAtMs = monotonicMs();
  let answered = 0;
  let lost = 0;
  let sumOfLogs = 0;
  let sumOfSquares = 0;
  let mostInFlight = 0;
  let sumOfInFlight = 0;

  const restart = (): void => {
    beganAtMs = monotonicMs();
    answered = lost = sumOfLogs = sumOfSquares = mostInFlight = sumOfInFlight = 0;
  };

  return {
    add: ({ durationMs, inFlight, result }) => {
      if (result === 'failed') return undefined;
      if (result === 'lost') lost += 1;
      else {
        answered += 1;
        const log = Math.log(Math.max(SHORTEST_MS, durationMs));
        sumOfLogs += log;
        sumOfSquares += log ** 2;
      }
      mostInFlight = Math.max(mostInFlight, inFlight);
      sumOfInFlight += inFlight;
      const calls = answered + lost;
      const isWhole = calls >= minCalls() && monotonicMs() - beganAtMs >= MIN_SPAN_MS;
      if (!isWhole && calls < MAX_CALLS) return undefined;
      const mean = sumOfLogs / Math.max(1, answered);
      const variance = Math.max(0, sumOfSquares - answered * mean ** 2) / Math.max(1, answered - 1);
      const meanInFlight = sumOfInFlight / calls;
      const closed = { answered, lost, durationMs: Math.exp(mean), variance, mostInFlight, meanInFlight };
      restart();
      return closed;
    },
  };
}
