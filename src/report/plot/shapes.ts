import { h, type TreeElement } from '../tree.ts';
import type { Pile, Point, PointRun } from './curve.ts';
import { FRAME_WIDTH, type Frame } from './frame.ts';

/** [x, y] in units of the frame. */
export type Place = readonly [number, number];

/** An area, or a curve. */
export interface Named {
  readonly name: string;
  readonly style: string;
  /** Shown after the name in the legend. */
  readonly figure?: string;
}

/** Minimum height of an area that gets a name. */
const NAME_HEIGHT_PX = 16;
const LETTER_PX = 7;
/** Width of a plot on a telephone: a name that fits there fits everywhere. */
const NARROW_PX = 300;

/** Stacked areas. Each run of piles is drawn separately, so gaps stay empty. */
export function stack(
  frame: Frame,
  runs: readonly (readonly Pile[])[],
  areas: readonly Named[],
): readonly TreeElement[] {
  return areas.flatMap(({ style }, at) => {
    if (runs.every((run) => run.every(({ values }) => (values[at] ?? 0) <= 0))) return [];
    const data = runs.map((run) => {
      const top = run.flatMap((pile) => edge(frame, pile, at + 1));
      const bottom = run.flatMap((pile) => edge(frame, pile, at)).toReversed();
      return run.length === 0 ? '' : `${pathData([...top, ...bottom])}z`;
    });
    return [h('path', { class: `area ${style}`, d: data.join('') })()];
  });
}

/** The name of each area, at its highest place. An area without enough height has no name. */
export function stackNames(
  frame: Frame,
  runs: readonly (readonly Pile[])[],
  areas: readonly Named[],
): readonly TreeElement[] {
  return areas.flatMap(({ name, style }, at) => {
    const width = (name.length * LETTER_PX * FRAME_WIDTH) / NARROW_PX;
    const room = runs.flatMap((run) => run.flatMap((_, first) => roomFrom(frame, run.slice(first), at, width)));
    const [most] = room.toSorted((a, b) => b.bottom - b.top - (a.bottom - a.top));
    if (most === undefined) return [];
    const x = `${Math.round(most.centre) / (FRAME_WIDTH / 100)}%`;
    return [h('text', { class: `name on-${style}`, x, y: (most.top + most.bottom) / 2 + 4 })(name)];
  });
}

/** The room inside the area over `width` from the first pile; empty when the run ends before or a name is too high. */
function roomFrom(frame: Frame, piles: readonly Pile[], at: number, width: number) {
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

/** The upper edge of an area: flat over the period of the pile, because its value is a sum over the period. */
function edge(frame: Frame, pile: Pile, areas: number): readonly Place[] {
  const y = edgeOf(frame, pile, areas);
  return [
    [frame.x.at(pile.fromMs), y],
    [frame.x.at(pile.toMs), y],
  ];
}

function edgeOf(frame: Frame, pile: Pile, areas: number): number {
  return frame.y.at(pile.values.slice(0, areas).reduce((sum, value) => sum + value, 0));
}

/** One line per run. A run of one point is drawn over the period of the point. */
export function line(frame: Frame, runs: readonly PointRun[], style: string): TreeElement {
  const data = runs.map((run) => {
    const [first] = run;
    if (first === undefined) return '';
    if (run.length === 1) return pathData([first.fromMs, first.toMs].map((ms) => placeOf(frame, ms, first.value)));
    return pathData(run.map((point) => placeOf(frame, middle(point), point.value)));
  });
  return h('path', { class: `line ${style}`, d: data.join('') })();
}

/** The area between the lowest and the highest value of each point; undefined when they are equal everywhere. */
export function spread(frame: Frame, runs: readonly PointRun[], style: string): TreeElement | undefined {
  const data = runs.flatMap((run) => {
    if (run.every((point) => point.low === point.high)) return [];
    const side = (points: PointRun, of: (point: Point) => number): readonly Place[] =>
      points.map((point) => placeOf(frame, middle(point), of(point)));
    return [`${pathData([...side(run, ({ high }) => high), ...side(run.toReversed(), ({ low }) => low)])}z`];
  });
  return data.length === 0 ? undefined : h('path', { class: `spread ${style}`, d: data.join('') })();
}

/** A horizontal line. */
export function level(frame: Frame, fromMs: number, toMs: number, value: number, style: string): TreeElement {
  return h('path', { class: `line ${style}`, d: pathData([fromMs, toMs].map((ms) => placeOf(frame, ms, value))) })();
}

function middle({ fromMs, toMs }: Point): number {
  return (fromMs + toMs) / 2;
}

function placeOf(frame: Frame, atMs: number, value: number): Place {
  return [frame.x.at(atMs), frame.y.at(value)];
}

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
