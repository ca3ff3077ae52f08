import { Compile } from 'typebox/compile';
import type { StoreEvent } from '../../cache/store.ts';
import type { ChangeEvent } from '../../changes/feed.ts';
import type { Control } from '../../control/control.ts';
import type { BucketRange } from '../../control/document.ts';
import type { GuardEvent } from '../../resilience/guard.ts';
import { REASONS } from '../../resilience/search-error.ts';
import { type Clock, repeat } from '../../runtime.ts';
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

/**
 * Counts the searches of one domain in this process, by bucket too, so that any cohort can be read later, and the events
 * that the doctor asks for.
 */
export type Meter = ReturnType<typeof createMeter>;

/** Events of one domain since the start of the process. The keys are of closed unions, which bound the records. */
export type DomainCounts = Readonly<ReturnType<Meter['counts']>>;

/** A page of this size takes 0.8 ms of a network of 1 Gbit/s, more than a read of the store. */
export const BIG_PAGE_BYTES = 100 * 1024;

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
  const durations = createDurations();
  const searches = new Float64Array(buckets);
  const hits = new Float64Array(buckets);
  const calls = { calls: 0, failed: 0, busyMs: 0 };
  const [shed, reads, misses] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const readDurations = createDurations();
  const permits = { count: 0, waitedMs: 0 };
  const pages = { count: 0, bytes: 0, big: 0, largestBytes: 0 };
  const [audits, changedPages] = [new Map<string, number>(), new Map<string, number>()];
  let staleSinceChange = 0;

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

  const noteEngine = ({ failed, durationMs }: { readonly failed: boolean; readonly durationMs: number }): void => {
    calls.calls += 1;
    calls.busyMs += durationMs;
    if (failed) calls.failed += 1;
  };

  return {
    /** Called for every search, L1 hits included: a few additions. */
    noteRequest: ({ outcome, durationMs, bucket }: MeteredRequest) => {
      outcomes[outcome] += 1;
      countDuration(durations, durationMs);
      if (bucket === undefined) return;
      searches[bucket] = (searches[bucket] ?? 0) + 1;
      if (outcome === 'hit-l1' || outcome === 'hit-l2') hits[bucket] = (hits[bucket] ?? 0) + 1;
    },
    noteEngine,
    noteSearch: (event: SearchEvent) => {
      if (event.kind === 'engine') noteEngine({ failed: event.result in REASONS, durationMs: event.durationMs });
      else if (event.kind === 'miss') addOne(misses, event.reason);
      else if (event.kind === 'audit') {
        addOne(audits, event.result);
        if (event.result === 'changed' || event.result === 'left' || event.result === 'entered') staleSinceChange += 1;
      } else if (event.kind === 'stored' && event.tier === 'l2') {
        pages.count += 1;
        pages.bytes += event.bytes;
        if (event.bytes > BIG_PAGE_BYTES) pages.big += 1;
        if (event.bytes > pages.largestBytes) pages.largestBytes = event.bytes;
      }
    },
    noteChanges: (event: ChangeEvent) => {
      if (event.kind === 'changes-applied') staleSinceChange = 0;
      else if (event.kind === 'page-changed') addOne(changedPages, event.why);
    },
    noteStore: (event: StoreEvent) => {
      if (event.kind !== 'command' || event.operation !== 'read') return;
      const { result, durationMs } = event;
      addOne(reads, result);
      // The others were refused without being sent, or ended with their connection: they say nothing about the deadline.
      if (result === 'value' || result === 'absent' || result === 'store-slow')
        countDuration(readDurations, durationMs);
    },
    noteGuard: (event: GuardEvent) => {
      if (event.kind === 'shed') addOne(shed, event.why);
      if (event.kind !== 'permit') return;
      permits.count += 1;
      permits.waitedMs += event.queuedMs;
    },
    /** @param cohorts each a list of bucket ranges. */
    read: (cohorts: readonly (readonly BucketRange[])[] = []): MeterReading => ({
      atMs: clock.monotonicMs(),
      outcomes: { ...outcomes },
      durations: [...durations],
      engine: { ...calls, ...engine() },
      cohorts: cohorts.map(cohort),
    }),
    counts: () => ({
      /** Refused before the engine, by reason. */
      shed: Object.fromEntries(shed),
      /** Time in the queue for a permit. */
      permits: { ...permits },
      /** Reads of the store by result (`value`, `absent`, `store-slow` …), and by duration: bounds are DURATION_BOUNDS_MS. */
      reads: Object.fromEntries(reads),
      readDurations: [...readDurations] as readonly number[],
      /** By reason. */
      misses: Object.fromEntries(misses),
      /** Stored in L2; `big` is the number above `BIG_PAGE_BYTES`. */
      pages: { ...pages },
      /** Hits compared with the engine: `equal`, or the reason why they were stale. */
      audits: Object.fromEntries(audits),
      /** Those that a change of a document explains, since the last change that the feed brought. */
      staleSinceChange,
      /** Pages that the feed made stale, by reason. */
      changedPages: Object.fromEntries(changedPages),
    }),
  };
}

const createDurations = (): Float64Array => new Float64Array(BOUNDS.length + 1);

function countDuration(durations: Float64Array, durationMs: number): void {
  let index = 0;
  while (index < BOUNDS.length && durationMs > (BOUNDS[index] ?? 0)) index += 1;
  durations[index] = (durations[index] ?? 0) + 1;
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The callbacks that count the events of each domain in its meter. Stores of other names than domains are not counted. */
export function meterEvents(meters: ReadonlyMap<string, Meter>) {
  return {
    observeRequest: (event: MeteredRequest & { readonly domain: string }): void => {
      meters.get(event.domain)?.noteRequest(event);
    },
    observeSearch: (event: SearchEvent): void => meters.get(event.domain)?.noteSearch(event),
    observeChanges: (event: ChangeEvent): void => meters.get(event.domain)?.noteChanges(event),
    observeStore: (domain: string, event: StoreEvent): void => meters.get(domain)?.noteStore(event),
    observeGuard: (domain: string, event: GuardEvent): void => meters.get(domain)?.noteGuard(event),
  };
}

const SELF = 'self';
const RECENT_INTERVAL_MS = 5000;
/** Readings that are kept, and so the maximum number of intervals that the figures cover. */
const KEPT_READINGS = 12;

/** The figures of this process over about the last minute, as dry runs use them. */
export function createRecent({ meter }: { readonly meter: Pick<Meter, 'read'> }) {
  const readings: MeterReading[] = [meter.read()];
  const timer = setInterval(() => {
    readings.push(meter.read());
    if (readings.length > KEPT_READINGS) readings.shift();
  }, RECENT_INTERVAL_MS).unref();
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
  /** Reports are only read while a drill runs. */
  const report = async (): Promise<void> => {
    if (control.overlay() !== undefined) await control.report(`${REPORT_PREFIX}${processId}`, own());
  };
  const endReports = repeat(report, () => intervalMs, intervalMs);

  return {
    /** The reading of this process. */
    own,
    /** By process id, this process included; undefined when the control store cannot be asked. */
    collect: async (): Promise<ReadonlyMap<string, MeterReading> | undefined> => {
      const reports = await control.reports();
      if (reports === undefined) return undefined;
      const readings = new Map<string, MeterReading>();
      for (const [id, value] of reports) {
        if (id.startsWith(REPORT_PREFIX) && shape.Check(value)) readings.set(id.slice(REPORT_PREFIX.length), value);
      }
      // The stored report of this process is older than its current reading.
      readings.set(processId, own());
      return readings;
    },
    close: endReports,
  };
}

/** Refuses reports that are damaged or of another version, so that they cannot make the figures of the fleet invalid. */
const shape = Compile(METER_READING);
