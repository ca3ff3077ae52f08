import { clockText } from '../format.mjs';
import { element, type Markup } from '../markup.ts';
import { FRAME_WIDTH, percentAcross, type Scale, STRIP_PX, timeTicks } from './frame.ts';

/** The parts that all plots of a domain share: written once into the page, and drawn in each plot by reference. */
interface BackdropOptions {
  /** Unique in the page. */
  readonly id: string;
  readonly x: Scale;
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
}

const LETTER_PX = 6.8;
/** Minimum width of a plot: on a large screen, and on a telephone or with two plots side by side. */
const [WIDE_PX, NARROW_PX] = [960, 290];
const [TIMES_WIDE, TIMES_NARROW] = [12, 6];

/** Ids of the parts of the backdrop; `half` is for plots that are narrow on every screen. */
export function backdropParts(id: string): Readonly<Record<'bands' | 'names' | 'half' | 'marks' | 'all', string>> {
  return { bands: `${id}-b`, names: `${id}-n`, half: `${id}-h`, marks: `${id}-m`, all: `${id}-a` };
}

export function backdrop({ id, x, bands, moments }: BackdropOptions): Markup {
  const parts = backdropParts(id);
  const main = moments.filter(({ shape }) => shape !== 'disc');
  return element(
    'svg',
    { class: 'defined', width: 0, height: 0, 'aria-hidden': 'true' },
    element(
      'defs',
      {},
      element(
        'g',
        { id: parts.bands },
        bands.map((band) => bandRect(x, band)),
      ),
      element('g', { id: parts.names }, strip(x, bands, WIDE_PX)),
      element('g', { id: parts.half }, strip(x, bands, NARROW_PX)),
      element(
        'g',
        { id: parts.marks },
        main.map((moment) => across(x, moment)),
      ),
      element(
        'g',
        { id: parts.all },
        moments.map((moment) => across(x, moment)),
      ),
      element('g', { id: `${parts.names}t` }, times(x, TIMES_WIDE)),
      element('g', { id: `${parts.half}t` }, times(x, TIMES_NARROW)),
    ),
  );
}

function bandRect(x: Scale, { fromMs, toMs, style }: Band): Markup {
  return element('rect', {
    class: `band ${style}`,
    x: percentAcross(x, fromMs),
    width: width(x, fromMs, toMs),
    height: '100%',
  });
}

/** The bands with their names. A name that does not fit is left out: on a telephone only, or on every screen. */
function strip(x: Scale, bands: readonly Band[], roomPx: number): readonly Markup[] {
  const grounds = bands.map(({ fromMs, toMs, style }) =>
    element('rect', { class: style, x: percentAcross(x, fromMs), width: width(x, fromMs, toMs), height: STRIP_PX }),
  );
  const names = bands.flatMap(({ fromMs, toMs, name }) => {
    const share = (x.at(toMs) - x.at(fromMs)) / FRAME_WIDTH;
    const textPx = name.length * LETTER_PX + 6;
    const only = textPx <= share * NARROW_PX ? '' : ' wide-only';
    const place = { x: percentAcross(x, (fromMs + toMs) / 2), y: STRIP_PX - 6 };
    return textPx <= share * roomPx ? [element('text', { class: `band-name${only}`, ...place }, name)] : [];
  });
  return [...grounds, ...names];
}

function across(x: Scale, { atMs, style, shape }: Moment): Markup {
  const at = percentAcross(x, atMs);
  return element(
    'g',
    { class: `moment ${style}` },
    element('line', { x1: at, x2: at, y2: '100%' }),
    element('svg', { x: at, y: 7, overflow: 'visible' }, element('path', { d: SHAPES[shape] })),
  );
}

function times(x: Scale, count: number): readonly Markup[] {
  return timeTicks(x.from, x.to, count).flatMap((atMs, i) => {
    const at = percentAcross(x, atMs);
    // Times at the edges are aligned inwards, so that nothing extends beyond the page.
    const share = x.at(atMs) / FRAME_WIDTH;
    const edge = share < 0.02 ? ' at-start' : share > 0.97 ? ' at-end' : '';
    const only = count === TIMES_WIDE && i % 2 === 1 ? ' wide-only' : '';
    return [
      element('line', { class: `base${only}`, x1: at, x2: at, y2: 4 }),
      element('text', { class: `time${only}${edge}`, x: at, y: 16 }, clockText(atMs / 1000)),
    ];
  });
}

function width(x: Scale, fromMs: number, toMs: number): string {
  return `${Math.round(((x.at(toMs) - x.at(fromMs)) / FRAME_WIDTH) * 10_000) / 100}%`;
}

/** A period with a name, drawn behind the curves. */
export interface Band {
  readonly fromMs: number;
  readonly toMs: number;
  readonly name: string;
  readonly style: string;
}

/** A moment, drawn across the curves. Its `shape` is distinct without the colour. */
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
