import { Compile } from 'typebox/compile';
import type { Control } from '../../control/control.ts';
import type { BucketRange } from '../../control/document.ts';
import { REASONS } from '../../resilience/search-error.ts';
import type { Clock } from '../../runtime.ts';
import type { SearchEvent } from '../../search/events.ts';
import { OUTCOMES, type Outcome } from '../../search/outcome.ts';
import {
  type CohortReading,
  DURATION_BOUNDS_MS,
  type EngineReading,
  type Figures,
  figuresBetween,
  METER_READING,
  type MeterReading,
} from './figures.ts';

/** Counts the searches of one domain in this process, by bucket too, so that any cohort can be read later. */
export type Meter = ReturnType<typeof createMeter>;

/** A request that was answered. */
interface MeteredRequest {
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** The bucket of its key; absent without a key. */
  readonly bucket?: number;
}

interface MeterOptions {
  readonly buckets: number;
  /** The current levels of the engine. */
  readonly engine: () => Omit<EngineReading, 'calls' | 'failed' | 'busyMs'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

const BOUNDS = Float64Array.from(DURATION_BOUNDS_MS);

export function createMeter({ buckets, engine, clock }: MeterOptions) {
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
    /** Called for every search, L1 hits included: a few additions. */
    noteRequest: ({ outcome, durationMs, bucket }: MeteredRequest) => {
      outcomes[outcome] += 1;
      let index = 0;
      while (index < BOUNDS.length && durationMs > (BOUNDS[index] ?? 0)) index += 1;
      durations[index] = (durations[index] ?? 0) + 1;
      if (bucket === undefined) return;
      searches[bucket] = (searches[bucket] ?? 0) + 1;
      if (outcome === 'hit-l1' || outcome === 'hit-l2') hits[bucket] = (hits[bucket] ?? 0) + 1;
    },
    noteEngine: ({ failed, durationMs }: { readonly failed: boolean; readonly durationMs: number }) => {
      calls.calls += 1;
      calls.busyMs += durationMs;
      if (failed) calls.failed += 1;
    },
    /** @param cohorts each a list of bucket ranges. */
    read: (cohorts: readonly (readonly BucketRange[])[] = []): MeterReading => ({
      atMs: clock.monotonicMs(),
      outcomes: { ...outcomes },
      durations: [...durations],
      engine: { ...calls, ...engine() },
      cohorts: cohorts.map(cohort),
    }),
  };
}

/** The callbacks that count the events of each domain in its meter. */
export function meterEvents(meters: ReadonlyMap<string, Pick<Meter, 'noteRequest' | 'noteEngine'>>) {
  return {
    observeRequest: (event: MeteredRequest & { readonly domain: string }): void => {
      meters.get(event.domain)?.noteRequest(event);
    },
    observeSearch: (event: SearchEvent): void => {
      if (event.kind !== 'engine') return;
      meters.get(event.domain)?.noteEngine({ failed: event.result in REASONS, durationMs: event.durationMs });
    },
  };
}

interface RecentOptions {
  readonly meter: Pick<Meter, 'read'>;
  readonly intervalMs?: number;
  /** Number of readings kept, and so the maximum number of intervals that the figures cover. */
  readonly kept?: number;
}

const SELF = 'self';

/** The figures of this process over about the last minute, as dry runs use them. */
export function createRecent({ meter, intervalMs = 5000, kept = 12 }: RecentOptions) {
  const readings: MeterReading[] = [meter.read()];
  const timer = setInterval(() => {
    readings.push(meter.read());
    if (readings.length > kept) readings.shift();
  }, intervalMs).unref();
  return {
    /** Undefined until some time has passed since the first reading. */
    figures: (): Figures | undefined => {
      const [oldest] = readings;
      if (oldest === undefined) return undefined;
      const figures = figuresBetween(new Map([[SELF, oldest]]), new Map([[SELF, meter.read()]]));
      return figures.seconds > 0 ? figures : undefined;
    },
    close: () => clearInterval(timer),
  };
}

/** The readings of all processes that share a domain, while a drill runs in it. */
export type FleetReadings = ReturnType<typeof createFleetReadings>;

/** Prefix of the ids of these reports: other reports are kept in the same place. */
const REPORT_PREFIX = 'process:';

export function createFleetReadings(options: {
  readonly control: Pick<Control, 'overlay' | 'report' | 'reports'>;
  readonly meter: Pick<Meter, 'read'>;
  readonly processId: string;
  readonly intervalMs?: number;
}) {
  const { control, meter, processId, intervalMs = 400 } = options;
  const own = (): MeterReading => meter.read(control.overlay()?.cohorts);
  let timer: NodeJS.Timeout;
  let closed = false;

  /** Reports are only read while a drill runs. */
  const report = async (): Promise<void> => {
    if (control.overlay() !== undefined) await control.report(`${REPORT_PREFIX}${processId}`, own());
    schedule();
  };
  const schedule = (): void => {
    if (!closed) timer = setTimeout(() => void report(), intervalMs).unref();
  };
  schedule();

  return {
    /** The reading of this process. */
    own,
    /** By process id, this process included; undefined when the control store cannot be asked. */
    collect: async (): Promise<ReadonlyMap<string, MeterReading> | undefined> => {
      const reports = await control.reports();
      if (reports === undefined) return undefined;
      const readings = new Map<string, MeterReading>();
      for (const [id, value] of reports) {
        if (id.startsWith(REPORT_PREFIX) && isReading(value)) readings.set(id.slice(REPORT_PREFIX.length), value);
      }
      // The stored report of this process is older than its current reading.
      readings.set(processId, own());
      return readings;
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

const shape = Compile(METER_READING);

/** Refuses reports that are damaged or of another version, so that they cannot make the figures of the fleet invalid. */
function isReading(value: unknown): value is MeterReading {
  return shape.Check(value);
}
