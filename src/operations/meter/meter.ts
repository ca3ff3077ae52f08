import type { Control } from '../../control/control.ts';
import type { BucketRange } from '../../control/document.ts';
import type { RequestEvent } from '../../http/events.ts';
import type { Clock } from '../../runtime.ts';
import { OUTCOMES, type Outcome } from '../../search/events.ts';
import {
  type CohortReading,
  DURATION_BOUNDS_MS,
  type EngineReading,
  type Figures,
  figuresBetween,
  type MeterReading,
} from './figures.ts';

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

/** What this process did in the last minute or so: a dry run is told from it. */
export interface Recent {
  /** Undefined until there is a first reading to compare with. */
  readonly figures: () => Figures | undefined;
  readonly close: () => void;
}

export interface RecentOptions {
  readonly meter: Pick<Meter, 'read'>;
  readonly intervalMs?: number;
  /** Readings kept: so many intervals are looked back at most. */
  readonly kept?: number;
}

const SELF = 'self';

export function createRecent({ meter, intervalMs = 5000, kept = 12 }: RecentOptions): Recent {
  const readings: MeterReading[] = [meter.read()];
  const timer = setInterval(() => {
    readings.push(meter.read());
    if (readings.length > kept) readings.shift();
  }, intervalMs).unref();
  return {
    figures: () => {
      const [oldest] = readings;
      if (oldest === undefined) return undefined;
      const figures = figuresBetween(new Map([[SELF, oldest]]), new Map([[SELF, meter.read()]]));
      return figures.seconds > 0 ? figures : undefined;
    },
    close: () => clearInterval(timer),
  };
}

/** What every process that shares a domain has counted, while a drill runs in it. */
export interface FleetReadings {
  /** By process id, this one's included; undefined when the control store cannot be asked. */
  readonly collect: () => Promise<ReadonlyMap<string, MeterReading> | undefined>;
  /** This process's own, at once. */
  readonly own: () => MeterReading;
  readonly close: () => void;
}

export interface FleetReadingsOptions {
  readonly control: Pick<Control, 'overlay' | 'report' | 'reports'>;
  readonly meter: Pick<Meter, 'read'>;
  readonly processId: string;
  readonly intervalMs?: number;
}

/** Reports of processes carry this before their id: others use the same place. */
const PROCESS = 'process:';

export function createFleetReadings(options: FleetReadingsOptions): FleetReadings {
  const { control, meter, processId, intervalMs = 400 } = options;
  const own = (): MeterReading => meter.read(control.overlay()?.cohorts);
  let timer: NodeJS.Timeout;
  let closed = false;

  /** Nobody reads the reports unless a drill runs. */
  const report = async (): Promise<void> => {
    if (control.overlay() !== undefined) await control.report(`${PROCESS}${processId}`, own());
    rest();
  };
  const rest = (): void => {
    if (!closed) timer = setTimeout(() => void report(), intervalMs).unref();
  };
  rest();

  return {
    own,
    collect: async () => {
      const reports = await control.reports();
      if (reports === undefined) return undefined;
      const readings = new Map<string, MeterReading>();
      for (const [id, value] of reports) {
        if (id.startsWith(PROCESS) && isReading(value)) readings.set(id.slice(PROCESS.length), value);
      }
      // Its own report is as old as the others' may be, its own figures need not be.
      readings.set(processId, own());
      return readings;
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** Of another version perhaps, or damaged: then it is not counted, or one process would make every figure unknown. */
function isReading(value: unknown): value is MeterReading {
  if (!isRecord(value)) return false;
  const { atMs, outcomes, durations, engine, cohorts } = value;
  return (
    isAmount(atMs) &&
    isRecord(outcomes) &&
    OUTCOMES.every((outcome) => isAmount(outcomes[outcome])) &&
    Array.isArray(durations) &&
    durations.length === DURATION_BOUNDS_MS.length + 1 &&
    durations.every(isAmount) &&
    isRecord(engine) &&
    ENGINE_FIGURES.every((figure) => isAmount(engine[figure])) &&
    Array.isArray(cohorts) &&
    cohorts.length <= MAX_COHORTS &&
    cohorts.every((cohort) => isRecord(cohort) && isAmount(cohort['searches']) && isAmount(cohort['hits']))
  );
}

/** More than any process counts: sums over a fleet stay exact and finite. */
const MAX_AMOUNT = 1e12;
/** Of a drill's plan, and room for more. */
const MAX_COHORTS = 256;

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= MAX_AMOUNT;
}

const ENGINE_FIGURES = ['calls', 'failed', 'busyMs', 'inFlight', 'queued', 'maxConcurrent', 'ceiling'] as const;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
