import type { Control } from '../../../src/control/control.ts';
import type { BucketRange, Overlay } from '../../../src/control/document.ts';
import { DURATION_BOUNDS_MS, type MeterReading } from '../../../src/operations/meter/figures.ts';
import type { FleetReadings } from '../../../src/operations/meter/meter.ts';
import { OUTCOMES, type Outcome } from '../../../src/search/events.ts';
import type { FakeClock } from '../../fakes/clock.ts';

/** How the domain fares; a test changes it while a drill runs. */
export interface Weather {
  searchesPerSecond: number;
  /** Of the searches that miss. */
  failing: number;
  shedding: number;
  /** Of all searches, whatever the cache does. */
  p99Ms: number;
  /** Hit ratio of keys nobody flushed. */
  hitRatio: number;
  /** Until a flushed key is back. */
  refillMs: number;
  inFlight: number;
  /** Other processes that report, and are asked for nothing. */
  others: number;
  /** The control store does not answer. */
  away: boolean;
}

/** A domain under steady load, in virtual time: what it counts follows from the overlay and the weather. */
export interface World {
  readonly weather: Weather;
  readonly readings: Pick<FleetReadings, 'collect'>;
}

const CEILING = 8;

export function createWorld(clock: FakeClock, control: Pick<Control, 'overlay'>): World {
  const weather: Weather = {
    searchesPerSecond: 1000,
    failing: 0,
    shedding: 0,
    p99Ms: 18,
    hitRatio: 0.9,
    refillMs: 3000,
    inFlight: 1,
    others: 0,
    away: false,
  };
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  const durations = [...DURATION_BOUNDS_MS, 0].map(() => 0);
  const engine = { calls: 0, failed: 0, busyMs: 0 };
  let cohorts: { searches: number; hits: number }[] = [];
  /** By the floor that took them. */
  const flushedAtMs = new Map<number, number>();
  let countedMs = clock.monotonicMs();

  const hitRatioOf = (buckets: readonly BucketRange[], overlay: Overlay | undefined): number => {
    if (overlay === undefined) return weather.hitRatio;
    const width = widthOf(buckets);
    const lost = overlay.ranges.reduce((sum, range) => {
      const floor = range.floor ?? overlay.floor;
      const sinceMs = flushedAtMs.get(floor) ?? clock.monotonicMs();
      flushedAtMs.set(floor, sinceMs);
      const missing = Math.max(0, 1 - (clock.monotonicMs() - sinceMs) / weather.refillMs);
      return sum + missing * widthOf(buckets.map((one) => overlap(one, range)));
    }, 0);
    return weather.hitRatio * (1 - lost / Math.max(1, width));
  };

  const count = (): void => {
    const nowMs = clock.monotonicMs();
    const searches = ((nowMs - countedMs) * weather.searchesPerSecond) / 1000;
    countedMs = nowMs;
    const overlay = control.overlay();
    const hits = searches * hitRatioOf([{ from: 0, to: 10_000 }], overlay);
    const misses = overlay?.blackout === true ? 0 : searches - hits;
    outcomes['hit-l1'] += hits;
    outcomes.shed += searches * weather.shedding;
    outcomes.failed += searches * weather.failing;
    outcomes.engine += Math.max(0, misses - searches * (weather.shedding + weather.failing));
    engine.calls += misses;
    engine.busyMs += misses * 5;
    const place = DURATION_BOUNDS_MS.findIndex((bound) => bound >= weather.p99Ms);
    durations[place] = (durations[place] ?? 0) + searches;
    if (overlay === undefined) return;
    cohorts = overlay.cohorts.map((ranges, at) => {
      const before = cohorts[at] ?? { searches: 0, hits: 0 };
      const searched = (searches * widthOf(ranges)) / 10_000;
      return { searches: before.searches + searched, hits: before.hits + searched * hitRatioOf(ranges, overlay) };
    });
  };
  const read = (): MeterReading => ({
    atMs: clock.monotonicMs(),
    outcomes: { ...outcomes },
    durations: [...durations],
    engine: {
      ...engine,
      ...{ inFlight: weather.inFlight, queued: 0, maxConcurrent: CEILING, ceiling: CEILING, breaker: 'closed' },
    },
    cohorts,
  });

  const idle = (): MeterReading => ({
    atMs: clock.monotonicMs(),
    outcomes: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>,
    durations: durations.map(() => 0),
    engine: { ...read().engine, calls: 0, failed: 0, busyMs: 0, inFlight: 0 },
    cohorts: [],
  });

  return {
    weather,
    readings: {
      collect: async () => {
        count();
        if (weather.away) return undefined;
        const others = Array.from({ length: weather.others }, (_, n): [string, MeterReading] => [`other-${n}`, idle()]);
        return new Map([['only', read()], ...others]);
      },
    },
  };
}

function widthOf(ranges: readonly BucketRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0);
}

function overlap(a: BucketRange, b: BucketRange): BucketRange {
  return { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
}
