import { type Figures, figuresBetween, type MeterReading, searchesBetween } from '../meter/figures.ts';

/** The readings of all processes at one moment, by process id. */
export type Readings = ReadonlyMap<string, MeterReading>;

/** The latest readings of the fleet, from which figures over any recent period are computed. */
export type MetricsWindow = ReturnType<typeof createMetricsWindow>;

export interface Lookback {
  readonly atLeastMs: number;
  readonly atLeastSearches?: number;
  /** Undefined: the whole window. */
  readonly atMostMs?: number;
  /** Indexes of cohorts: only their searches count for `atLeastSearches`. */
  readonly cohorts?: readonly number[];
}

/** A minute and a half at two readings a second: longer than the longest wait for a cohort with little traffic. */
const MAX_ENTRIES = 180;

/** Timers fire late more often than early. */
const TIMER_SLACK_MS = 50;

export function createMetricsWindow() {
  /** `figures`: since the entry before. */
  const entries: { readonly atMs: number; readonly readings: Readings; readonly figures: Figures | undefined }[] = [];
  return {
    /** Figures since the previous readings; undefined for the first readings. */
    add: (nowMs: number, readings: Readings): Figures | undefined => {
      const before = entries.at(-1);
      const figures = before === undefined ? undefined : figuresBetween(before.readings, readings);
      entries.push({ atMs: nowMs, readings, figures });
      if (entries.length > MAX_ENTRIES) entries.shift();
      return figures;
    },
    /**
     * Figures over the last `atLeastMs`, or over a longer period until there were enough searches. The period never begins
     * before `fromMs`. Undefined when the readings in the window are not enough.
     */
    over: (lookback: Lookback, fromMs = Number.NEGATIVE_INFINITY): Figures | undefined => {
      const { atLeastMs, atLeastSearches = 0, atMostMs = Number.POSITIVE_INFINITY, cohorts } = lookback;
      const latest = entries.at(-1);
      if (latest === undefined) return undefined;
      for (let index = entries.length - 2; index >= 0; index -= 1) {
        const start = entries[index];
        if (start === undefined || start.atMs < fromMs || latest.atMs - start.atMs > atMostMs) return undefined;
        if (latest.atMs - start.atMs < atLeastMs - TIMER_SLACK_MS) continue;
        // Computing all figures for every entry would be most of the cost of a drill, so searches are counted first.
        const isEnough =
          atLeastSearches === 0 || searchesBetween(start.readings, latest.readings, cohorts) >= atLeastSearches;
        if (isEnough) return figuresBetween(start.readings, latest.readings);
      }
      return undefined;
    },
    /** Engine calls in flight ÷ the fleet's ceiling: the mean over the last `ms`. */
    inFlightShare: (ms: number): number | undefined => {
      const nowMs = entries.at(-1)?.atMs ?? 0;
      const shares = entries
        .filter(({ atMs }) => atMs > nowMs - ms)
        .flatMap(({ figures }) => (figures === undefined ? [] : (shareInFlight(figures) ?? [])));
      return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length;
    },
  };
}

/** Engine calls in flight ÷ the fleet's ceiling at the end of the figures; undefined while no process reports. */
export function shareInFlight({ engineInFlight, engineCeiling }: Figures): number | undefined {
  return engineCeiling > 0 ? engineInFlight / engineCeiling : undefined;
}
