import type { RunRecord, Second } from '../judge/record.ts';
import type { DomainSample, ReplicaSample, Sample } from '../sample/sample.ts';

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

/** Parts that count for themselves: a process, a node. */
export type Counted = readonly (readonly [name: string, count: number | undefined])[];

/**
 * How much the counters of all parts grew between two samples; undefined when no part was there in both. One that began
 * anew in between has counted from 0 since.
 */
export function growth({ before, after }: Between, read: (sample: Sample) => Counted): number | undefined {
  const earlier = new Map(read(before));
  return total(
    read(after).map(([name, count]) => {
      const from = earlier.get(name);
      if (count === undefined || from === undefined) return undefined;
      return count >= from ? count - from : count;
    }),
  );
}

/** By the samples' own times: one that began before the run did is longer than what is drawn of it. */
export function growthPerSecond(between: Between, read: (sample: Sample) => Counted): number | undefined {
  const grown = growth(between, read);
  const seconds = (between.after.atMs - between.before.atMs) / 1000;
  return grown === undefined || !(seconds > 0) ? undefined : grown / seconds;
}

/** Of those that are known; undefined without any. */
export function total(some: readonly (number | undefined)[]): number | undefined {
  return some.reduce<number | undefined>((sum, one) => (one === undefined ? sum : (sum ?? 0) + one), undefined);
}

/** A level of all processes and domains together. */
export function levelOf({ replicas }: Sample, read: (domain: DomainSample) => number | undefined): number | undefined {
  return total(replicas.flatMap(({ domains }) => Object.values(domains).map(read)));
}

/** A counter of each process, over its domains. */
export function perReplica({ replicas }: Sample, read: (domain: DomainSample) => number | undefined): Counted {
  return replicas.map(({ name, domains }: ReplicaSample) => [name, total(Object.values(domains).map(read))]);
}

/** What takes part in a run and uses processor time of its own. */
export interface Part {
  readonly style: string;
  readonly name: string;
  /** Seconds of processor time of each of its processes. */
  readonly cpuSeconds: (sample: Sample) => Counted;
}

const ENGINE = /^searchd/;
const GENERATOR = /^k6/;
const SERVICE = /^serpcache/;

export const PARTS: readonly Part[] = [
  { style: 'service', name: 'service', cpuSeconds: serviceSeconds },
  { style: 'stores', name: 'stores', cpuSeconds: ({ stores }) => stores.map((node) => [node.name, node.cpuSeconds]) },
  { style: 'engine', name: 'engine', cpuSeconds: (sample) => processSeconds(sample, ENGINE) },
  { style: 'generator', name: 'generator', cpuSeconds: (sample) => processSeconds(sample, GENERATOR) },
];

/** Against what was idle, not against the clock: a sample's time is when all its answers were there. */
export function machineCores({ before, after }: Between): number | undefined {
  if (before.host === undefined || after.host === undefined) return undefined;
  const busy = after.host.busySeconds - before.host.busySeconds;
  const idle = after.host.idleSeconds - before.host.idleSeconds;
  return busy + idle > 0 ? (after.host.cores * busy) / (busy + idle) : undefined;
}

/** Of all processes of serpcache, as they say themselves or as the machine does. */
export function serviceBytes({ replicas, processes }: Sample): readonly (number | undefined)[] {
  const own = replicas.map(({ residentBytes }) => residentBytes);
  if (own.some((bytes) => bytes !== undefined)) return own;
  return processes.filter(({ name }) => SERVICE.test(name)).map(({ residentBytes }) => residentBytes);
}

function serviceSeconds(sample: Sample): Counted {
  const own = processSeconds(sample, SERVICE);
  return own.length > 0 ? own : sample.replicas.map(({ name, cpuSeconds }) => [name, cpuSeconds]);
}

function processSeconds({ processes }: Sample, names: RegExp): Counted {
  return processes.filter(({ name }) => names.test(name)).map(({ name, cpuSeconds }) => [name, cpuSeconds]);
}
