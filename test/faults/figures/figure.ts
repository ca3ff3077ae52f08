/** A measurement that is not one row: a table, and a verdict for each figure that was promised. */
export interface Figure {
  readonly name: string;
  readonly says: string;
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
export function none(found: readonly unknown[], among: number): Holds {
  if (found.length > 0) return false;
  return Number.isFinite(among) && among > 0 ? true : 'not measured';
}
