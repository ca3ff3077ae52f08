/** A measurement that is not one row: a table, and a verdict for each figure that was promised. */
export interface Figure {
  readonly name: string;
  readonly summary: string;
  readonly run: (options: { readonly checkout: string }) => Promise<FigureResult>;
}

export interface FigureResult {
  /** Printed as a table: the keys of the first row are its head. */
  readonly table: readonly Readonly<Record<string, string | number>>[];
  readonly verdicts: readonly FigureVerdict[];
}

export interface FigureVerdict {
  readonly says: string;
  readonly holds: Holds;
}

/** `not measured`: there were no samples, or the generator was late, so the promise is neither kept nor broken. */
export type Holds = boolean | 'not measured';

/** @param value NaN when it was computed from no samples, and ±Infinity when it is an extreme of none. */
export function measured(value: number, holds: (value: number) => boolean): Holds {
  return Number.isFinite(value) ? holds(value) : 'not measured';
}

/** Nothing of the kind was found among that many. */
export function noneFound(found: readonly unknown[], among: number): Holds {
  if (found.length > 0) return false;
  return Number.isFinite(among) && among > 0 ? true : 'not measured';
}

/** A generator later than this was not the open loop the figure is about. */
export const MAX_LAG_MS = 60;

/** A generator that was late has not measured what the figure is about; no promise of the service is broken by that. */
export const generatorKeptUp = (lagMs: number): Holds =>
  Number.isFinite(lagMs) && lagMs <= MAX_LAG_MS ? true : 'not measured';

export interface Lagged {
  readonly lagMs: number;
  readonly wrong: readonly string[];
  readonly faults: readonly string[];
}

/**
 * A machine that was busy once may be idle now: measured again, a few times, while the generator lagged. Wrong answers
 * and answers nobody can act on count in every try.
 */
export async function retryWhileLagging<T extends Lagged>(measure: () => Promise<T>, tries = 3): Promise<T> {
  const measured = await measure();
  if (measured.lagMs <= MAX_LAG_MS || tries <= 1) return measured;
  const again = await retryWhileLagging(measure, tries - 1);
  return { ...again, wrong: [...measured.wrong, ...again.wrong], faults: [...measured.faults, ...again.faults] };
}

/** Rounded for a table; a dash for a figure about nobody. */
export function shown(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** The first finding, as the end of a sentence about all of them. */
export const example = ([first]: readonly string[]): string => (first === undefined ? '' : `, such as ${first}`);
