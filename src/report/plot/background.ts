/** A stretch of time with a name, behind everything that is drawn. */
export interface Band {
  readonly fromMs: number;
  readonly toMs: number;
  readonly name: string;
  readonly style: string;
}

/** A moment, drawn across everything. `shape` tells it from others without its colour. */
export interface Moment {
  readonly atMs: number;
  readonly style: string;
  readonly shape: Shape;
}

export type Shape = 'cross' | 'diamond' | 'disc';

/** SVG path data around the origin. */
export const SHAPES: Readonly<Record<Shape, string>> = {
  cross: 'M-5-5l10 10M5-5l-10 10',
  diamond: 'M0-6l6 6-6 6-6-6z',
  disc: 'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z',
};
