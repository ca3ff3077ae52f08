import type { Clock } from '../clock.ts';
import type { BucketRange } from '../control/document.ts';
import type { RequestEvent } from '../http/events.ts';
import { OUTCOMES, type Outcome } from '../search/outcome.ts';
import { type CohortReading, DURATION_BOUNDS_MS, type EngineReading, type MeterReading } from './reading.ts';

/** Counts what one domain does in this process, by bucket as well, so that any cohort can be read afterwards. */
export interface Meter {
  /** On the path of every hit: a few plain additions. */
  readonly noteRequest: (event: Pick<RequestEvent, 'outcome' | 'durationMs' | 'bucket'>) => void;
  readonly noteEngine: (call: { readonly failed: boolean; readonly durationMs: number }) => void;
  /** @param cohorts each a set of ranges. */
  readonly read: (cohorts?: readonly (readonly BucketRange[])[]) => MeterReading;
}

export interface MeterOptions {
  readonly buckets: number;
  /** The levels of the engine now. */
  readonly engine: () => Omit<EngineReading, 'calls' | 'failed' | 'busyMs'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

const BOUNDS = Float64Array.from(DURATION_BOUNDS_MS);

export function createMeter({ buckets, engine, clock }: MeterOptions): Meter {
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  const durations = new Float64Array(BOUNDS.length + 1);
  const searches = new Float64Array(buckets);
  const hits = new Float64Array(buckets);
  const calls = { calls: 0, failed: 0, busyMs: 0 };

  const cohort = (ranges: readonly BucketRange[]): CohortReading => {
    const sum = { searches: 0, hits: 0 };
    for (const { from, to } of ranges) {
      for (let bucket = from; bucket < to; bucket += 1) {
        sum.searches += searches[bucket] ?? 0;
        sum.hits += hits[bucket] ?? 0;
      }
    }
    return sum;
  };

  return {
    noteRequest: ({ outcome, durationMs, bucket }) => {
      outcomes[outcome] += 1;
      let place = 0;
      while (place < BOUNDS.length && durationMs > (BOUNDS[place] ?? 0)) place += 1;
      durations[place] = (durations[place] ?? 0) + 1;
      if (bucket === undefined) return;
      searches[bucket] = (searches[bucket] ?? 0) + 1;
      if (outcome === 'hit-l1' || outcome === 'hit-l2') hits[bucket] = (hits[bucket] ?? 0) + 1;
    },
    noteEngine: ({ failed, durationMs }) => {
      calls.calls += 1;
      calls.busyMs += durationMs;
      if (failed) calls.failed += 1;
    },
    read: (cohorts = []) => ({
      atMs: clock.monotonicMs(),
      outcomes: { ...outcomes },
      durations: [...durations],
      engine: { ...calls, ...engine() },
      cohorts: cohorts.map(cohort),
    }),
  };
}
