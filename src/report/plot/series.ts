import { element, type Markup } from '../markup.ts';
import { FRAME_WIDTH, type Frame } from './frame.ts';

/** The stacked values of one period: one value per layer, from the bottom up. */
export interface Pile {
  readonly fromMs: number;
  readonly toMs: number;
  readonly values: readonly number[];
}

export interface Layer {
  readonly name: string;
  readonly style: string;
}

/** Minimum height of an area that gets a name. */
const NAME_HEIGHT_PX = 16;
const LETTER_PX = 7;
/** Width of a plot on a telephone: a name that fits there fits everywhere. */
const NARROW_PX = 300;

/** Stacked areas. Each run of piles is drawn separately, so gaps stay empty. */
export function stack(frame: Frame, runs: readonly (readonly Pile[])[], layers: readonly Layer[]): readonly Markup[] {
  return layers.flatMap(({ style }, at) => {
    if (runs.every((run) => run.every(({ values }) => (values[at] ?? 0) <= 0))) return [];
    const data = runs.map((run) => {
      const top = run.flatMap((pile) => edge(frame, pile, at + 1));
      const bottom = run.flatMap((pile) => edge(frame, pile, at)).toReversed();
      return `${pathData([...top, ...bottom])}z`;
    });
    return [element('path', { class: `area ${style}`, d: data.join('') })];
  });
}

/** The name of each area, at its highest place. An area without enough height has no name. */
export function stackNames(
  frame: Frame,
  runs: readonly (readonly Pile[])[],
  layers: readonly Layer[],
): readonly Markup[] {
  return layers.flatMap(({ name, style }, at) => {
    const width = (name.length * LETTER_PX * FRAME_WIDTH) / NARROW_PX;
    const room = runs.flatMap((run) => run.flatMap((_, first) => roomFrom(frame, run.slice(first), at, width)));
    const most = room.reduce<Room | undefined>(
      (best, one) => (best && heightOf(best) >= heightOf(one) ? best : one),
      undefined,
    );
    if (most === undefined || heightOf(most) < NAME_HEIGHT_PX) return [];
    const x = `${Math.round(most.centre) / (FRAME_WIDTH / 100)}%`;
    return [element('text', { class: `name on-${style}`, x, y: (most.top + most.bottom) / 2 + 4 }, name)];
  });
}

interface Room {
  readonly centre: number;
  readonly top: number;
  readonly bottom: number;
}

/** The room inside the area over `width` from the first pile; empty when the run ends before. */
function roomFrom(frame: Frame, piles: readonly Pile[], at: number, width: number): readonly Room[] {
  const start = frame.x.at(piles[0]?.fromMs ?? 0);
  let [top, bottom] = [0, frame.heightPx];
  for (const pile of piles) {
    top = Math.max(top, edgeOf(frame, pile, at + 1));
    bottom = Math.min(bottom, edgeOf(frame, pile, at));
    if (bottom - top < NAME_HEIGHT_PX) return [];
    if (frame.x.at(pile.toMs) - start >= width) return [{ centre: start + width / 2, top, bottom }];
  }
  return [];
}

function heightOf({ top, bottom }: Room): number {
  return bottom - top;
}

/** The upper edge of a layer: flat over the period of the pile, because its value is a sum over the period. */
function edge(frame: Frame, pile: Pile, layers: number): readonly Place[] {
  const y = edgeOf(frame, pile, layers);
  return [
    [frame.x.at(pile.fromMs), y],
    [frame.x.at(pile.toMs), y],
  ];
}

function edgeOf(frame: Frame, pile: Pile, layers: number): number {
  return frame.y.at(pile.values.slice(0, layers).reduce((sum, value) => sum + value, 0));
}

/** One line per run. A run of one point is drawn over the period of the point. */
export function line(frame: Frame, runs: readonly Run[], style: string): Markup {
  const data = runs.map((run) => {
    const [first] = run;
    if (first === undefined) return '';
    if (run.length === 1) return pathData([first.fromMs, first.toMs].map((ms) => placeOf(frame, ms, first.value)));
    return pathData(run.map((point) => placeOf(frame, middle(point), point.value)));
  });
  return element('path', { class: `line ${style}`, d: data.join('') });
}

/** The area between the lowest and the highest value of each point; undefined when they are equal everywhere. */
export function spread(frame: Frame, runs: readonly Run[], style: string): Markup | undefined {
  const data = runs.flatMap((run) => {
    if (run.every((point) => point.low === point.high)) return [];
    const edge = (points: Run, side: (point: Point) => number): readonly Place[] =>
      points.map((point) => placeOf(frame, middle(point), side(point)));
    const outline = [...edge(run, (point) => point.high), ...edge(run.toReversed(), (point) => point.low)];
    return [`${pathData(outline)}z`];
  });
  return data.length === 0 ? undefined : element('path', { class: `spread ${style}`, d: data.join('') });
}

/** A horizontal line. */
export function level(frame: Frame, fromMs: number, toMs: number, value: number, style: string): Markup {
  const data = pathData([fromMs, toMs].map((ms) => placeOf(frame, ms, value)));
  return element('path', { class: `line ${style}`, d: data });
}

function middle(point: Point): number {
  return (point.fromMs + point.toMs) / 2;
}

function placeOf(frame: Frame, atMs: number, value: number): Place {
  return [frame.x.at(atMs), frame.y.at(value)];
}

/** How several points become one: their weighted mean, their highest value, or their median. */
export type Combine = 'mean' | 'worst' | 'middle';

/** At most one point per column. The lowest and the highest value of the column are kept. */
export function condense(runs: readonly Run[], fromMs: number, columnMs: number, combine: Combine): readonly Run[] {
  return runs.map((run) => {
    const columns = Map.groupBy(run, (point) => Math.floor(((point.fromMs + point.toMs) / 2 - fromMs) / columnMs));
    return [...columns.values()].flatMap((points) => merged(points, combine));
  });
}

/** Joins points into one; no point for none. */
export function merged(points: Run, combine: Combine): readonly Point[] {
  const [first] = points;
  const last = points[points.length - 1];
  if (first === undefined || last === undefined) return [];
  if (first === last) return [first];
  return [
    {
      fromMs: first.fromMs,
      toMs: last.toMs,
      value: combined(points, combine),
      low: points.reduce((low, point) => Math.min(low, point.low), first.low),
      high: points.reduce((high, point) => Math.max(high, point.high), first.high),
      weight: points.reduce((sum, point) => sum + point.weight, 0),
    },
  ];
}

function combined(points: Run, combine: Combine): number {
  const values = points.map((point) => point.value);
  switch (combine) {
    case 'worst':
      return values.reduce((worst, value) => Math.max(worst, value));
    case 'middle':
      return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
    case 'mean': {
      const weight = points.reduce((sum, point) => sum + point.weight, 0);
      const weighed = points.reduce((sum, point) => sum + point.value * point.weight, 0);
      return weight > 0 ? weighed / weight : values.reduce((sum, value) => sum + value) / values.length;
    }
  }
}

/** [x, y] in units of the frame. */
export type Place = readonly [number, number];

/** A polyline as SVG path data in relative steps, which are half as long as absolute ones. */
export function pathData(places: readonly Place[]): string {
  let [atX, atY] = [0, 0];
  return places
    .map(([x, y], i) => {
      // Steps between rounded positions, so that rounding errors do not add up.
      const [toX, toY] = [Math.round(x * 10), Math.round(y * 10)];
      const [dx, dy] = [toX - atX, toY - atY];
      [atX, atY] = [toX, toY];
      if (i === 0) return `M${toX / 10} ${toY / 10}`;
      if (dy === 0) return `h${dx / 10}`;
      return dx === 0 ? `v${dy / 10}` : `l${dx / 10}${dy < 0 ? '' : ' '}${dy / 10}`;
    })
    .join('');
}

/** A value of one period: measured, or joined from several measured values. */
export interface Point {
  readonly fromMs: number;
  readonly toMs: number;
  readonly value: number;
  /** The lowest and the highest of the joined values. */
  readonly low: number;
  readonly high: number;
  /** Weight in a mean: searches, or seconds. */
  readonly weight: number;
}

/** Consecutive points without a gap. No line is drawn over a time without measurements. */
export type Run = readonly Point[];
