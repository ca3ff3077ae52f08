import { type Figures, figuresBetween, type MeterReading, searchesBetween } from '../meter/figures.ts';

export type Readings = ReadonlyMap<string, MeterReading>;

/** What the fleet did of late, over whichever stretch somebody asks for. */
export interface MetricsWindow {
  /** What happened since the reading before; undefined at the first. */
  readonly add: (nowMs: number, readings: Readings) => Figures | undefined;
  /**
   * Over the last `stretch.atLeastMs`, or longer until there were enough searches, but nothing before `fromMs`. Undefined
   * when all that is remembered is not enough.
   */
  readonly over: (stretch: Lookback, fromMs?: number) => Figures | undefined;
  /** Engine calls in flight ÷ the fleet's ceiling, on average over the last `ms`. */
  readonly inFlightShare: (ms: number) => number | undefined;
}

export interface Lookback {
  readonly atLeastMs: number;
  readonly atLeastSearches?: number;
  /** Undefined: as far back as is remembered. */
  readonly atMostMs?: number;
  /** By their places: only their searches are counted. */
  readonly cohorts?: readonly number[];
}

interface Kept {
  readonly atMs: number;
  readonly readings: Readings;
  readonly figures: Figures | undefined;
}

/** At two a second a minute and a half: longer than anything waits for a cohort that is hardly asked for. */
const MAX_KEPT = 180;

/** A timer comes late more often than early. */
const TIMER_MS = 50;

export function createMetricsWindow(): MetricsWindow {
  const kept: Kept[] = [];
  return {
    add: (nowMs, readings) => {
      const before = kept.at(-1);
      const figures = before === undefined ? undefined : figuresBetween(before.readings, readings);
      kept.push({ atMs: nowMs, readings, figures });
      if (kept.length > MAX_KEPT) kept.shift();
      return figures;
    },
    over: (stretch, fromMs = Number.NEGATIVE_INFINITY) => {
      const { atLeastMs, atLeastSearches = 0, atMostMs = Number.POSITIVE_INFINITY, cohorts } = stretch;
      const latest = kept.at(-1);
      if (latest === undefined) return undefined;
      for (let place = kept.length - 2; place >= 0; place -= 1) {
        const start = kept[place];
        if (start === undefined || start.atMs < fromMs || latest.atMs - start.atMs > atMostMs) return undefined;
        if (latest.atMs - start.atMs < atLeastMs - TIMER_MS) continue;
        // All figures at every reading that is kept would be most of what a drill costs.
        const isEnough =
          atLeastSearches === 0 || searchesBetween(start.readings, latest.readings, cohorts) >= atLeastSearches;
        if (isEnough) return figuresBetween(start.readings, latest.readings);
      }
      return undefined;
    },
    inFlightShare: (ms) => {
      const nowMs = kept.at(-1)?.atMs ?? 0;
      const shares = kept
        .filter(({ atMs }) => atMs > nowMs - ms)
        .flatMap(({ figures }) => (figures === undefined ? [] : shareInFlight(figures)));
      return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length;
    },
  };
}

export function shareInFlight({ engineInFlight, engineCeiling }: Figures): readonly number[] {
  return engineCeiling > 0 ? [engineInFlight / engineCeiling] : [];
}
