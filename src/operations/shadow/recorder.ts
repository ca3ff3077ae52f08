import { type Clock, repeat } from '../../runtime.ts';
import type { ShadowFigures, ShadowSample } from './figures.ts';
import type { OpenStore } from './placed-store.ts';
import { addGrown, comparisonOf, grownBetween, type Interval, MAX_WRONG_KEYS, type Reading } from './readings.ts';
import { addCounters, readServers, type ServerInterval, type ServerReading, serversBetween } from './server-figures.ts';

/** The curves of one shadow: what all processes counted, and what the servers of both sides say, interval by interval. */
export type Recorder = ReturnType<typeof createRecorder>;

const INTERVAL_MS = 2000;
/**
 * Half an hour at the first resolution, which is halved each time this number is reached: a shadow of a day has intervals of
 * two minutes or less.
 */
const MAX_INTERVALS = 900;

/** Processes that have ended or are silent. */
const MAX_REMEMBERED = 256;

export function createRecorder(options: {
  /** Monotonic time of the start of the shadow, as far as this process knows. */
  readonly startedMs: number;
  /** The readings by process id: this one, and those of the others that are known now. */
  readonly readings: () => Promise<ReadonlyMap<string, Reading>>;
  readonly primary: () => Pick<OpenStore, 'content'>;
  readonly candidate: Pick<OpenStore, 'content'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly intervalMs?: number;
}) {
  const { startedMs, readings, primary, candidate, clock, intervalMs = INTERVAL_MS } = options;
  let intervals: Interval[] = [];
  let resolutionMs = intervalMs;
  const samples = new WeakMap<Interval, ShadowSample>();
  /** The last reading of each process: one that is missing for a while has not begun anew. */
  let before: ReadonlyMap<string, Reading> | undefined;
  let serversBefore: { readonly primary?: ServerReading; readonly candidate?: ServerReading } = {};
  let beforeMs = clock.monotonicMs();
  const wrong = new Set<string>();
  let closed = false;

  /** A console asks for all of them every other second. */
  const sampleOf = (one: Interval): ShadowSample => {
    const known = samples.get(one);
    if (known !== undefined) return known;
    const sample = { atMs: one.atMs, figures: comparisonOf([one]) };
    samples.set(one, sample);
    return sample;
  };

  const record = async (): Promise<void> => {
    const [now, own, theirs] = await Promise.all([
      readings(),
      readServers(primary().content),
      readServers(candidate.content),
    ]);
    if (closed) return;
    const nowMs = clock.monotonicMs();
    const seconds = (nowMs - beforeMs) / 1000;
    for (const { wrongKeys } of now.values()) {
      for (const key of wrongKeys) if (wrong.size < MAX_WRONG_KEYS) wrong.add(key);
    }
    const known = before;
    // In the first interval the counts of another process are of an unknown time: they are only remembered.
    const grown = known === undefined ? [] : [...now].map(([id, reading]) => grownBetween(known.get(id), reading));
    intervals.push({
      atMs: nowMs - startedMs,
      seconds,
      processes: now.size,
      grown: addGrown(grown),
      servers: {
        primary: serversBetween(serversBefore.primary, own, seconds),
        candidate: serversBetween(serversBefore.candidate, theirs, seconds),
      },
    });
    const missing = [...(known ?? [])].filter(([id]) => !now.has(id));
    before = new Map([...missing.slice(-MAX_REMEMBERED), ...now]);
    serversBefore = { primary: own, candidate: theirs };
    beforeMs = nowMs;
    if (intervals.length <= MAX_INTERVALS) return;
    resolutionMs *= 2;
    intervals = joinedTo(resolutionMs / 1000, intervals);
  };
  const endRecords = repeat(record, () => intervalMs);

  return {
    samples: (): readonly ShadowSample[] => intervals.map(sampleOf),
    /** True figures between two times since the start of the shadow; percentiles come from the joined histograms. */
    between: (fromMs: number, toMs: number) =>
      comparisonOf(intervals.filter(({ atMs }) => atMs > fromMs && atMs <= toMs)),
    total: (): ShadowFigures => comparisonOf(intervals),
    wrongKeys: (): readonly string[] => [...wrong],
    close: () => {
      closed = true;
      endRecords();
    },
  };
}

/** Joins neighbours until each interval is about `minSeconds` long: all parts of the curve keep one resolution. */
function joinedTo(minSeconds: number, intervals: readonly Interval[]): Interval[] {
  const out: Interval[] = [];
  for (const one of intervals) {
    const last = out.at(-1);
    if (last !== undefined && last.seconds < minSeconds) out[out.length - 1] = joined(last, one);
    else out.push(one);
  }
  return out;
}

function joined(left: Interval, right: Interval): Interval {
  const servers = (name: 'primary' | 'candidate'): ServerInterval | undefined => {
    const [before, after] = [left.servers[name], right.servers[name]];
    if (before?.grown === undefined || after?.grown === undefined) return after ?? before;
    return { ...after, seconds: before.seconds + after.seconds, grown: addCounters(before.grown, after.grown) };
  };
  const [primary, candidate] = [servers('primary'), servers('candidate')];
  return {
    atMs: right.atMs,
    seconds: left.seconds + right.seconds,
    processes: right.processes,
    grown: addGrown([left.grown, right.grown]),
    servers: { primary, candidate },
  };
}
