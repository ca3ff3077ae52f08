import { figuresBetween } from './figures.ts';
import type { Meter } from './meter.ts';
import type { Figures, MeterReading } from './reading.ts';

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
