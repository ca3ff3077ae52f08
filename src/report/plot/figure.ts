import { clockText, UNKNOWN } from '../format.ts';
import { type Attributes, type Child, h, type TreeElement } from '../tree.ts';
import {
  type AxisScale,
  FRAME_WIDTH,
  type Frame,
  percentAcross,
  percentOf,
  STRIP_PX,
  TIMES_PX,
  type TimeSpan,
  timeTicks,
} from './frame.ts';
import type { LegendEntry, Panel } from './panel.ts';

/** A period with a name, drawn behind the curves. */
export interface Band extends TimeSpan {
  readonly name: string;
  readonly style: string;
}

/** A moment, drawn across the curves. Its `shape` is distinct without the colour. */
export interface Moment {
  readonly atMs: number;
  readonly style: string;
  readonly shape: keyof typeof SHAPES;
}

/** SVG path data around the origin. */
const SHAPES = {
  cross: 'M-5-5l10 10M5-5l-10 10',
  diamond: 'M0-6l6 6-6 6-6-6z',
  disc: 'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z',
} as const;

/** The parts that all plots of a page share: written once into the page, and drawn in each plot by reference. */
export interface BackdropOptions {
  /** Unique in the page. */
  readonly id: string;
  readonly x: AxisScale;
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
  /** By default the time since the begin of the axis. */
  readonly timeText?: (atMs: number) => string;
}

const LETTER_PX = 6.8;
/** Minimum width of a plot: on a large screen, and on a telephone or with two plots side by side. */
const [WIDE_PX, NARROW_PX] = [960, 290];
const [TIMES_WIDE, TIMES_NARROW] = [12, 6];

/** Ids of the parts of the backdrop; `half` is for plots that are narrow on every screen. */
function partIds(id: string) {
  return { bands: `${id}-b`, names: `${id}-n`, half: `${id}-h`, marks: `${id}-m`, all: `${id}-a` };
}

export function backdrop({ id, x, bands, moments, timeText = elapsed }: BackdropOptions): TreeElement {
  const ids = partIds(id);
  const main = moments.filter(({ shape }) => shape !== 'disc');
  const rects = (height: string | number, behind: string): readonly TreeElement[] =>
    bands.map(({ fromMs, toMs, style }) => {
      const width = percentOf(x.at(toMs) - x.at(fromMs));
      return h('rect', { class: `${behind}${style}`, x: percentAcross(x, fromMs), width, height })();
    });
  const strip = rects(STRIP_PX, '');
  const part = (name: string, ...drawn: readonly Child[]): TreeElement => h('g', { id: name })(...drawn);
  return h('svg', { class: 'defined', width: 0, height: 0, 'aria-hidden': 'true' })(
    h('defs')(
      part(ids.bands, rects('100%', 'band ')),
      part(ids.names, strip, bandNames(x, bands, WIDE_PX)),
      part(ids.half, strip, bandNames(x, bands, NARROW_PX)),
      part(
        ids.marks,
        main.map((moment) => across(x, moment)),
      ),
      part(
        ids.all,
        moments.map((moment) => across(x, moment)),
      ),
      part(`${ids.names}t`, times(x, TIMES_WIDE, timeText)),
      part(`${ids.half}t`, times(x, TIMES_NARROW, timeText)),
    ),
  );
}

function elapsed(atMs: number): string {
  return clockText(atMs / 1000);
}

/** A name that does not fit is left out: on a telephone only, or on every screen. */
function bandNames(x: AxisScale, bands: readonly Band[], roomPx: number): readonly TreeElement[] {
  return bands.flatMap(({ fromMs, toMs, name }) => {
    const share = (x.at(toMs) - x.at(fromMs)) / FRAME_WIDTH;
    const textPx = name.length * LETTER_PX + 6;
    if (textPx > share * roomPx) return [];
    const only = textPx <= share * NARROW_PX ? '' : ' wide-only';
    const place = { x: percentAcross(x, (fromMs + toMs) / 2), y: STRIP_PX - 6 };
    return [h('text', { class: `band-name${only}`, ...place })(name)];
  });
}

function across(x: AxisScale, { atMs, style, shape }: Moment): TreeElement {
  const at = percentAcross(x, atMs);
  return h('g', { class: `moment ${style}` })(
    h('line', { x1: at, x2: at, y2: '100%' })(),
    h('svg', { x: at, y: 7, overflow: 'visible' })(h('path', { d: SHAPES[shape] })()),
  );
}

function times(x: AxisScale, count: number, text: (atMs: number) => string): readonly TreeElement[] {
  return timeTicks(x.from, x.to, count).flatMap((atMs, i) => {
    const at = percentAcross(x, atMs);
    // Times at the edges are aligned inwards, so that nothing extends beyond the page.
    const share = x.at(atMs) / FRAME_WIDTH;
    const edge = share < 0.02 ? ' at-start' : share > 0.97 ? ' at-end' : '';
    const only = count === TIMES_WIDE && i % 2 === 1 ? ' wide-only' : '';
    return [
      h('line', { class: `base${only}`, x1: at, x2: at, y2: 4 })(),
      h('text', { class: `time${only}${edge}`, x: at, y: 16 })(text(atMs)),
    ];
  });
}

interface FigureOptions {
  readonly isHalf?: boolean;
  readonly heading?: 'h3' | 'h4';
  /** The legend shows the values at this time. */
  readonly atMs?: number;
  /** The time at the pointer in words, where it is drawn as a line. */
  readonly pointed?: string;
  /** The times are those of a clock and need no unit. */
  readonly isClock?: boolean;
}

/**
 * A plot with its axes, as wide as the page. Only the curves are stretched, so text is readable at any width.
 * @param backdropId the shared parts of the plots, see `backdrop`.
 */
export function panelFigure(panel: Panel, backdropId: string, options: FigureOptions = {}): TreeElement {
  const { frame, isEmpty, title, missing } = panel;
  const { heading = 'h4', pointed } = options;
  if (isEmpty && missing !== undefined) {
    return h('p', { class: 'note missing' })(h('strong')(title), `: ${missing}`);
  }
  const isSilent = isEmpty && panel.words !== undefined;
  return h('figure', { class: 'plot' })(
    h('figcaption')(
      h(heading)(title, pointed !== undefined && h('small')(` at ${pointed}`)),
      !isSilent && legendList(panel.legend, options.atMs),
    ),
    h('div', { class: 'canvas' })(
      valueAxis(frame, panel.tickText, options.isClock),
      panelDrawing(panel, backdropId, { width: '100%' }, options),
    ),
    !isEmpty && panel.notes?.map((text) => h('p', { class: 'note' })(text)),
  );
}

/** The column at the left of a drawing: the ticks of the values, and the unit of the times that stand below the drawing. */
export function valueAxis(frame: Frame, text: (value: number) => string, isClock = false): TreeElement {
  const heightPx = STRIP_PX + frame.heightPx + TIMES_PX;
  return h('svg', { class: 'values', width: 62, height: heightPx, 'aria-hidden': 'true' })(
    frame.ticks.map((tick) => h('text', { x: 56, y: STRIP_PX + frame.y.at(tick) + 4 })(text(tick))),
    !isClock && h('text', { x: 56, y: heightPx - 4 })(frame.x.to >= 3_600_000 ? 'h:min:s' : 'min:s'),
  );
}

/** The drawing without its axis of values. `place` has its position and width. */
export function panelDrawing(
  panel: Panel,
  backdropId: string,
  place: Attributes,
  { isHalf = false, atMs, pointed }: FigureOptions = {},
): TreeElement {
  const { id, frame, isEmpty, words } = panel;
  const ids = partIds(backdropId);
  const names = isHalf ? ids.half : ids.names;
  const inner = { y: STRIP_PX, width: '100%', height: frame.heightPx };
  const label =
    words === undefined ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-labelledby': `${id}-title ${id}-desc` };
  return h('svg', { class: 'drawing', ...place, height: STRIP_PX + frame.heightPx + TIMES_PX, ...label })(
    words !== undefined && [
      h('title', { id: `${id}-title` })(panel.title),
      h('desc', { id: `${id}-desc` })(isEmpty ? 'Nothing was measured.' : words),
    ],
    drawnBy(names),
    h('svg', inner)(drawnBy(ids.bands)),
    frame.ticks.map((tick, i) => {
      const y = STRIP_PX + frame.y.at(tick);
      return h('line', { class: i === 0 ? 'base' : 'grid', x2: '100%', y1: y, y2: y })();
    }),
    isEmpty
      ? h('text', { class: 'nothing', x: '50%', y: STRIP_PX + frame.heightPx / 2 })('nothing was measured')
      : curves(panel),
    drawnBy(`${names}t`, STRIP_PX + frame.heightPx),
    h('svg', inner)(drawnBy(panel.isDetailed ? ids.all : ids.marks)),
    pointed !== undefined && atMs !== undefined && cursor(frame, atMs),
  );
}

function drawnBy(id: string, y?: number): TreeElement {
  return h('use', { href: `#${id}`, y })();
}

function curves({ frame, drawn, names }: Panel): Child {
  const place = { y: STRIP_PX, width: '100%', height: frame.heightPx };
  const stretched = { viewBox: `0 0 ${FRAME_WIDTH} ${frame.heightPx}`, preserveAspectRatio: 'none' };
  return [h('svg', { ...place, ...stretched })(drawn), names.length > 0 && h('svg', place)(names)];
}

function cursor({ x, heightPx }: Frame, atMs: number): TreeElement {
  const at = percentAcross(x, atMs);
  return h('line', { class: 'cursor', x1: at, x2: at, y1: STRIP_PX, y2: STRIP_PX + heightPx })();
}

function legendList(entries: readonly LegendEntry[], atMs: number | undefined): TreeElement | undefined {
  if (entries.length === 0) return undefined;
  return h('ul', { class: 'legend' })(
    entries.map(({ kind, style, name, figure: whole, textAt }) => {
      const figure = atMs === undefined ? whole : (textAt(atMs) ?? UNKNOWN);
      return h('li')(
        swatch(kind, style),
        h('span')(name, figure !== undefined && h('span', { class: 'soft' })(` ${figure}`)),
      );
    }),
  );
}

/** Width of the sample before a name. */
export const SWATCH_PX: Readonly<Record<LegendEntry['kind'], number>> = { line: 30, area: 14 };

export function swatch(kind: LegendEntry['kind'], style: string, place: Attributes = {}): TreeElement {
  const drawn =
    kind === 'line'
      ? h('path', { class: `line ${style}`, d: 'M0 6h30' })()
      : h('rect', { class: `area ${style}`, width: 14, height: 12 })();
  return h('svg', { class: 'swatch', width: SWATCH_PX[kind], height: 12, 'aria-hidden': 'true', ...place })(drawn);
}

export function momentSign({ style, shape }: Omit<Moment, 'atMs'>): TreeElement {
  const sign = h('svg', { x: 8, y: 8, overflow: 'visible' })(h('path', { d: SHAPES[shape] })());
  const drawn = h('g', { class: `moment ${style}` })(sign);
  return h('svg', { class: 'swatch', width: 16, height: 16, 'aria-hidden': 'true' })(drawn);
}

/** The signs of moments with their words; nothing without one. */
export function signLegend(signs: readonly (Omit<Moment, 'atMs'> & { readonly words: string })[]): Child {
  if (signs.length === 0) return undefined;
  return h('ul', { class: 'legend' })(signs.map(({ words, ...sign }) => h('li')(momentSign(sign), h('span')(words))));
}
