import type { Control } from '../control/control.ts';
import type { Meter } from './meter.ts';
import type { MeterReading } from './reading.ts';

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

/** Of another version perhaps, or damaged: then it is not counted. */
function isReading(value: unknown): value is MeterReading {
  if (typeof value !== 'object' || value === null) return false;
  const { atMs, outcomes, durations, engine, cohorts } = value as Partial<Record<keyof MeterReading, unknown>>;
  return (
    typeof atMs === 'number' &&
    typeof outcomes === 'object' &&
    typeof engine === 'object' &&
    outcomes !== null &&
    engine !== null &&
    Array.isArray(durations) &&
    Array.isArray(cohorts)
  );
}
