import type { FlushPreview } from '../../flush/flush.ts';
import type { Journal, Learned, Mark, Sample } from '../journal.ts';

/** A sample with the stretch of time it stands for. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly sample: Sample;
}

/** One domain's part of a journal, in the order of time: what all its tables and plots are drawn from. */
export interface Track {
  readonly domain: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Unbroken: between two of them nothing was measured for a while. */
  readonly runs: readonly (readonly Stretch[])[];
  readonly marks: readonly Mark[];
  readonly learned?: Learned;
  readonly preview?: FlushPreview;
}

/** Samples come twice a second, or farther apart in a long drill; a hole of several of them is a gap. */
const GAP_FACTOR = 5;
const LEAST_GAP_MS = 3000;
/** A drill of which nothing is known yet is drawn as long as this. */
const LEAST_SPAN_MS = 1000;

export function trackOf(journal: Journal, domain: string): Track {
  const samples = byTime(journal.samples.filter((sample) => sample.domain === domain));
  const marks = byTime(journal.marks.filter((mark) => mark.domain === domain));
  const gapMs = Math.max(LEAST_GAP_MS, GAP_FACTOR * usualDistanceMs(samples));
  const runs: Stretch[][] = [];
  for (const [i, sample] of samples.entries()) {
    const before = samples[i - 1];
    if (before !== undefined && sample.atMs - before.atMs <= gapMs) {
      runs[runs.length - 1]?.push({ fromMs: before.atMs, toMs: sample.atMs, sample });
    } else {
      const ownMs = Math.min(gapMs, Math.max(0, sample.figures.seconds * 1000 || 0));
      const fromMs = Math.max(0, before?.atMs ?? 0, sample.atMs - ownMs);
      runs.push([{ fromMs, toMs: sample.atMs, sample }]);
    }
  }
  const moments = [...runs.flatMap((run) => run.flatMap(({ fromMs, toMs }) => [fromMs, toMs])), ...marks.map(at)];
  const firstMs = moments.reduce((low, ms) => Math.min(low, ms), moments[0] ?? 0);
  // A whole second, so that an axis begins with a tick.
  const fromMs = Math.floor(firstMs / 1000) * 1000;
  const toMs = moments.reduce((high, ms) => Math.max(high, ms), fromMs + LEAST_SPAN_MS);
  const learned = journal.learned.find((one) => one.domain === domain);
  const preview = Object.hasOwn(journal.previews, domain) ? journal.previews[domain] : undefined;
  return {
    ...{ domain, fromMs, toMs, runs, marks },
    ...(learned !== undefined && { learned }),
    ...(preview !== undefined && { preview }),
  };
}

export function samplesOf(track: Track): readonly Sample[] {
  return track.runs.flatMap((run) => run.map(({ sample }) => sample));
}

/** The highest stage whose flush was begun; undefined when nothing was flushed. */
export function lastStage(track: Track): number | undefined {
  return track.marks.reduce<number | undefined>(
    (last, mark) => (mark.kind === 'stage' ? Math.max(last ?? 0, mark.stage) : last),
    undefined,
  );
}

function byTime<T extends { readonly atMs: number }>(some: readonly T[]): readonly T[] {
  return some.filter((one) => Number.isFinite(one.atMs)).toSorted((a, b) => a.atMs - b.atMs);
}

function usualDistanceMs(samples: readonly Sample[]): number {
  const distances = samples.slice(1).map((sample, i) => sample.atMs - (samples[i]?.atMs ?? sample.atMs));
  return distances.toSorted((a, b) => a - b)[Math.floor(distances.length / 2)] ?? 0;
}

function at({ atMs }: Mark): number {
  return atMs;
}
