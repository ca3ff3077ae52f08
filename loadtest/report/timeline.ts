import type { RunRecord, Second } from '../judge/record.ts';
import type { Sample } from '../sample/sample.ts';

/** Something that was measured, with the stretch of time it stands for, in ms since the run began. */
export interface Stretch<T> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly own: T;
}

/** Unbroken: between two of them nothing was measured for a while. */
export type Track<T> = readonly (readonly Stretch<T>[])[];

/** Counters mean something between two samples only; levels are those of the later one. */
export interface Between {
  readonly before: Sample;
  readonly after: Sample;
}

/** A run in the order of time: what all its plots are drawn from. */
export interface Timeline {
  readonly toMs: number;
  readonly seconds: Track<Second>;
  readonly samples: Track<Between>;
}

const SECOND_MS = 1000;
/** Samples come about once a second, or farther apart in a long run; a hole of several of them is a gap. */
const GAP_FACTOR = 5;
const LEAST_GAP_MS = 3000;

export function timelineOf({ summary, seconds, samples }: RunRecord): Timeline {
  const sent = byTime(seconds, summary.startedAtMs);
  const last = sent[sent.length - 1]?.toMs ?? 0;
  const toMs = Math.max(SECOND_MS, finite(summary.durationMs), last);
  return {
    toMs,
    seconds: unbroken(ownSeconds(sent)),
    samples: unbroken(pairs(byTime(samples, summary.startedAtMs), toMs)),
  };
}

interface Timed<T> {
  readonly toMs: number;
  readonly own: T;
}

/** A second's time is its end. */
function ownSeconds(sent: readonly Timed<Second>[]): readonly Stretch<Second>[] {
  return sent.flatMap(({ toMs, own }, i) => {
    const fromMs = Math.max(0, toMs - SECOND_MS, sent[i - 1]?.toMs ?? 0);
    return toMs > fromMs ? [{ fromMs, toMs, own }] : [];
  });
}

/** What was sampled before the run began, or after it ended, is not drawn: the warm-up would set the axis. */
function pairs(samples: readonly Timed<Sample>[], endMs: number): readonly Stretch<Between>[] {
  return samples.slice(1).flatMap(({ toMs, own: after }, i) => {
    const before = samples[i];
    if (before === undefined || before.toMs < 0 || before.toMs >= endMs || before.toMs === toMs) return [];
    return [{ fromMs: before.toMs, toMs: Math.min(endMs, toMs), own: { before: before.own, after } }];
  });
}

function unbroken<T>(stretches: readonly Stretch<T>[]): Track<T> {
  const gapMs = Math.max(LEAST_GAP_MS, GAP_FACTOR * usualLengthMs(stretches));
  const runs: Stretch<T>[][] = [];
  let endedMs = Number.NEGATIVE_INFINITY;
  for (const stretch of stretches) {
    // A stretch that is too long itself is a gap between two samples: what happened in it is not known.
    const isLong = stretch.toMs - stretch.fromMs > gapMs;
    if (!isLong && stretch.fromMs - endedMs <= gapMs) runs[runs.length - 1]?.push(stretch);
    else if (!isLong) runs.push([stretch]);
    if (!isLong) endedMs = stretch.toMs;
    else endedMs = Number.NEGATIVE_INFINITY;
  }
  return runs;
}

function byTime<T extends { readonly atMs: number }>(some: readonly T[], startMs: number): readonly Timed<T>[] {
  return some
    .filter(({ atMs }) => Number.isFinite(atMs))
    .map((own) => ({ toMs: own.atMs - startMs, own }))
    .toSorted((a, b) => a.toMs - b.toMs);
}

function usualLengthMs(stretches: readonly Stretch<unknown>[]): number {
  const lengths = stretches.map(({ fromMs, toMs }) => toMs - fromMs);
  return lengths.toSorted((a, b) => a - b)[Math.floor(lengths.length / 2)] ?? 0;
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}
