import { element, type Markup } from '../markup.ts';
import { FRAME_WIDTH, type Frame } from './frame.ts';
import { type Place, pathData } from './path-data.ts';

/** What lies on top of each other in one stretch of time: a value per layer, from the bottom up. */
export interface Pile {
  readonly fromMs: number;
  readonly toMs: number;
  readonly values: readonly number[];
}

export interface Layer {
  readonly name: string;
  readonly style: string;
}

/** Below this a name would not fit between the edges of its area. */
const NAME_HEIGHT_PX = 16;
const LETTER_PX = 7;
/** Of a telephone's plot: a name that fits there fits everywhere. */
const NARROW_PX = 300;

/** Stacked areas. Each run of piles is drawn by itself, a gap stays empty. */
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

/** Each area's name, where the area has most room for it; an area that is thin everywhere has none. */
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

/** What stays within the area from the first pile on, for so far; nothing where the run ends before. */
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

/** Flat over the pile's own time: a sum of a stretch is no slope. */
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
