import { element, type Markup } from '../../../../src/report/markup.ts';
import { type Fitted, fitted, textPx } from './text-room.ts';

/** What stands below a drawing: what each place is. */
export interface PlaceNames {
  readonly drawn: readonly Markup[];
  readonly heightPx: number;
}

export interface PlaceOptions {
  readonly places: readonly string[];
  /** Of the first place, from the left edge of the picture. */
  readonly startPx: number;
  /** From one place to the next. */
  readonly stepPx: number;
  readonly y: number;
}

const [FONT_PX, LINE_PX, BETWEEN_PX] = [12, 14.5, 10];
const [MOST_LINES, FEWEST_ROOM_PX] = [3, 20];
const TILT = 40;
const [SIN, COS] = [Math.sin((TILT * Math.PI) / 180), Math.cos((TILT * Math.PI) / 180)];
const [LONGEST_PX, EDGE_PX] = [190, 6];

/** Names in lines where whole words fit below their places, and tilted otherwise: they never run into each other. */
export function placeNames(options: PlaceOptions): PlaceNames {
  const room = { fontPx: FONT_PX, px: options.stepPx - BETWEEN_PX, lines: MOST_LINES };
  const names = options.places.map((place) => fitted(place, room));
  return room.px > FEWEST_ROOM_PX && names.every(({ isWhole }) => isWhole) ? level(options, names) : tilted(options);
}

function level({ startPx, stepPx, y }: PlaceOptions, names: readonly Fitted[]): PlaceNames {
  return {
    drawn: names.map(({ lines }, at) => {
      const x = startPx + at * stepPx;
      const parts = lines.map((line, i) => element('tspan', { x, dy: i === 0 ? undefined : LINE_PX }, line));
      return element('text', { class: 'place', x, y: y + LINE_PX }, parts);
    }),
    heightPx: Math.max(1, ...names.map(({ lines }) => lines.length)) * LINE_PX + 4,
  };
}

/** Each name ends below its place. Of more places than there is room for, every second is named, or every third. */
function tilted({ places, startPx, stepPx, y }: PlaceOptions): PlaceNames {
  const every = Math.max(1, Math.ceil(LINE_PX / (stepPx * SIN)));
  const most = Math.min(MOST_LINES, Math.max(1, Math.floor((stepPx * every * SIN) / LINE_PX)));
  const names = places.flatMap((place, at) => {
    if (at % every !== 0) return [];
    const x = startPx + at * stepPx;
    const room = (x - EDGE_PX - most * LINE_PX * SIN) / COS;
    return [{ x, ...fitted(place, { fontPx: FONT_PX, px: Math.min(LONGEST_PX, room), lines: most }) }];
  });
  return {
    drawn: names.map(({ x, lines }) => {
      // Lines follow each other downwards and to the right: their middle is below the place.
      const left = x - ((lines.length - 1) * LINE_PX * SIN) / 2;
      return element(
        'text',
        {
          class: 'place tilted',
          transform: `translate(${left.toFixed(1)} ${(y + LINE_PX).toFixed(1)}) rotate(-${TILT})`,
        },
        lines.map((line, i) => element('tspan', { x: 0, dy: i === 0 ? undefined : LINE_PX }, line)),
      );
    }),
    heightPx: Math.max(0, ...names.map(({ lines }) => heightOf(lines))),
  };
}

function heightOf(lines: readonly string[]): number {
  const longest = Math.max(0, ...lines.map((line) => textPx(line, { fontPx: FONT_PX })));
  return longest * SIN + lines.length * LINE_PX * COS + LINE_PX;
}
