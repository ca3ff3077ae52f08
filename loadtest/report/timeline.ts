import { medianOf, type Slice, type SliceRuns } from '../../src/report/plot/curve.ts';
import type { RunRecord, Second } from '../judge/record.ts';
import type { Sample } from '../sample/sample.ts';

/** Counters mean something only between two samples; levels are those of the second one. */
export type SamplePair = readonly [before: Sample, after: Sample];

export type Timeline = ReturnType<typeof timelineOf>;

const SECOND_MS = 1000;
/** Samples are about a second apart, or more in a long run; several missing ones are a gap. */
const GAP_FACTOR = 5;
const MIN_GAP_MS = 3000;

export function timelineOf({ summary, seconds, samples }: RunRecord) {
  const sent = byTime(seconds, summary.startedAtMs);
  const durationMs = Number.isFinite(summary.durationMs) ? summary.durationMs : 0;
  const toMs = Math.max(SECOND_MS, durationMs, sent.at(-1)?.toMs ?? 0);
  return {
    toMs,
    seconds: runsOf(secondSlices(sent)),
    samples: runsOf(samplePairs(byTime(samples, summary.startedAtMs), toMs)),
  };
}

interface Timed<T> {
  readonly toMs: number;
  readonly data: T;
}

/** The time of a second is its end. */
function secondSlices(sent: readonly Timed<Second>[]): readonly Slice<Second>[] {
  return sent.flatMap(({ toMs, data }, i) => {
    const fromMs = Math.max(0, toMs - SECOND_MS, sent[i - 1]?.toMs ?? 0);
    return toMs > fromMs ? [{ fromMs, toMs, data }] : [];
  });
}

/** Without samples from before the run or after its end: the warm-up would determine the axis. */
function samplePairs(samples: readonly Timed<Sample>[], endMs: number): readonly Slice<SamplePair>[] {
  return samples.slice(1).flatMap(({ toMs, data: after }, i) => {
    const before = samples[i];
    if (before === undefined || before.toMs < 0 || before.toMs >= endMs || before.toMs === toMs) return [];
    return [{ fromMs: before.toMs, toMs: Math.min(endMs, toMs), data: [before.data, after] }];
  });
}

function runsOf<T>(slices: readonly Slice<T>[]): SliceRuns<T> {
  const gapMs = Math.max(MIN_GAP_MS, GAP_FACTOR * medianLengthMs(slices));
  const runs: Slice<T>[][] = [];
  let endedMs = Number.NEGATIVE_INFINITY;
  for (const slice of slices) {
    // A slice that is too long is itself a gap between two samples: what happened in it is not known.
    if (slice.toMs - slice.fromMs > gapMs) {
      endedMs = Number.NEGATIVE_INFINITY;
      continue;
    }
    if (slice.fromMs - endedMs <= gapMs) runs.at(-1)?.push(slice);
    else runs.push([slice]);
    endedMs = slice.toMs;
  }
  return runs;
}

function byTime<T extends { readonly atMs: number }>(some: readonly T[], startMs: number): readonly Timed<T>[] {
  return some
    .filter(({ atMs }) => Number.isFinite(atMs))
    .map((data) => ({ toMs: data.atMs - startMs, data }))
    .toSorted((a, b) => a.toMs - b.toMs);
}

function medianLengthMs(slices: readonly Slice<unknown>[]): number {
  return medianOf(slices.map(({ fromMs, toMs }) => toMs - fromMs)) ?? 0;
}
