import type { Control } from '../control/control.ts';
import { OUTCOMES } from '../search/outcome.ts';
import type { Meter } from './meter.ts';
import { DURATION_BOUNDS_MS, type MeterReading } from './reading.ts';

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
