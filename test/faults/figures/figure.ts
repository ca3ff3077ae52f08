/** A measurement outside the rows: a table, and a verdict for each promised number. */
export interface Figure {
  readonly name: string;
  readonly summary: string;
  readonly run: (options: { readonly checkout: string }) => Promise<FigureResult>;
}

export interface FigureResult {
  /** Printed as a table; the keys of the first row are its header. */
  readonly table: readonly Readonly<Record<string, string | number>>[];
  readonly verdicts: readonly FigureVerdict[];
}

export interface FigureVerdict {
  readonly says: string;
  readonly holds: Holds;
}

/** `not measured`: there were no samples or the generator was late, so the promise is neither kept nor broken. */
export type Holds = boolean | 'not measured';

/** @param value NaN when computed without samples, ±Infinity for the minimum or maximum of an empty list. */
export function measured(value: number, holds: (value: number) => boolean): Holds {
  return Number.isFinite(value) ? holds(value) : 'not measured';
}

/** Holds when nothing was found among `among` samples. */
export function noneFound(found: readonly unknown[], among: number): Holds {
  if (found.length > 0) return false;
  return Number.isFinite(among) && among > 0 ? true : 'not measured';
}

/** Maximum p99 lateness of the generator. Above it the load was not the open loop that the figure needs. */
export const MAX_LAG_MS = 60;

/** A late generator makes the figure `not measured`; it breaks no promise of the service. */
export const generatorKeptUp = (lagMs: number): Holds =>
  Number.isFinite(lagMs) && lagMs <= MAX_LAG_MS ? true : 'not measured';

interface Lagged {
  readonly lagMs: number;
  readonly wrong: readonly string[];
  readonly faults: readonly string[];
}

/**
 * Measures again while the generator lags, because the machine may be less busy then. Wrong answers and answers that a
 * client cannot act on count in every attempt.
 * @param attempts maximum number of measurements.
 */
export async function retryWhileLagging<T extends Lagged>(measure: () => Promise<T>, attempts = 3): Promise<T> {
  const measured = await measure();
  if (measured.lagMs <= MAX_LAG_MS || attempts <= 1) return measured;
  const again = await retryWhileLagging(measure, attempts - 1);
  return { ...again, wrong: [...measured.wrong, ...again.wrong], faults: [...measured.faults, ...again.faults] };
}

/** Rounded for a table; a dash when there is no value. */
export function shown(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** The first finding, as the end of a sentence about all of them. */
export const example = ([first]: readonly string[]): string => (first === undefined ? '' : `, such as ${first}`);
