import { type Attributes, type Content, element, type Markup } from '../markup.ts';
import { backdropParts, SHAPES, type Shape } from './backdrop.ts';
import { FRAME_WIDTH, type Frame, gridLines, STRIP_PX, TIMES_PX, valueAxis } from './frame.ts';

export interface Panel {
  /** Unique in the page. */
  readonly id: string;
  /** Includes the unit of the values. */
  readonly title: string;
  /** The plot in words, for screen readers. */
  readonly words: string;
  readonly frame: Frame;
  readonly tickText: (value: number) => string;
  /** In the units of the frame, and stretched with it. */
  readonly drawn: readonly (Markup | undefined)[];
  /** Names inside the drawing: placed by percent and pixels, not stretched. */
  readonly names?: readonly Markup[];
  readonly legend: readonly LegendEntry[];
  readonly notes?: readonly string[];
  /** Nothing was measured; a text says so. */
  readonly isEmpty: boolean;
  /** Also shows the recovery of each stage. */
  readonly isDetailed?: boolean;
}

/**
 * A plot with its axes, as wide as the page. Only the curves are stretched, so text is readable at any width.
 * @param backdropId the shared parts of a domain's plots, see `backdrop`. @param isHalf for two plots side by side.
 */
export function panelFigure(panel: Panel, backdropId: string, isHalf = false): Markup {
  const { frame, isEmpty } = panel;
  return element(
    'figure',
    { class: 'plot' },
    element('figcaption', {}, element('h4', {}, panel.title), isEmpty ? undefined : legend(panel.legend)),
    element(
      'div',
      { class: 'canvas' },
      valueAxis(frame, panel.tickText),
      panelDrawing(panel, backdropId, { width: '100%' }, isHalf),
    ),
    isEmpty ? undefined : panel.notes?.map((note) => element('p', { class: 'note' }, note)),
  );
}

/** The drawing without its axis of values. `place` has its position and width. */
export function panelDrawing(panel: Panel, backdropId: string, place: Attributes, isHalf = false): Markup {
  const { id, frame, isEmpty } = panel;
  const parts = backdropParts(backdropId);
  const names = isHalf ? parts.half : parts.names;
  const inner = { y: STRIP_PX, width: '100%', height: frame.heightPx };
  return element(
    'svg',
    {
      class: 'drawing',
      ...place,
      height: STRIP_PX + frame.heightPx + TIMES_PX,
      role: 'img',
      'aria-labelledby': `${id}-title ${id}-desc`,
    },
    element('title', { id: `${id}-title` }, panel.title),
    element('desc', { id: `${id}-desc` }, isEmpty ? 'Nothing was measured.' : panel.words),
    drawnBy(names),
    element('svg', inner, drawnBy(parts.bands)),
    gridLines(frame),
    isEmpty ? nothing(frame) : curves(panel),
    drawnBy(`${names}t`, STRIP_PX + frame.heightPx),
    element('svg', inner, drawnBy(panel.isDetailed ? parts.all : parts.marks)),
  );
}

function drawnBy(id: string, y?: number): Markup {
  return element('use', { href: `#${id}`, y });
}

function curves({ frame, drawn, names = [] }: Panel): Content {
  const { heightPx } = frame;
  const stretched = { viewBox: `0 0 ${FRAME_WIDTH} ${heightPx}`, preserveAspectRatio: 'none' };
  return [
    element('svg', { y: STRIP_PX, width: '100%', height: heightPx, ...stretched }, drawn),
    names.length === 0 ? undefined : element('svg', { y: STRIP_PX, width: '100%', height: heightPx }, names),
  ];
}

function nothing(frame: Frame): Markup {
  return element('text', { class: 'nothing', x: '50%', y: STRIP_PX + frame.heightPx / 2 }, 'nothing was measured');
}

export interface LegendEntry {
  /** `line`: a line with its dashes; `area`: a filled square; `spread`: a tint. */
  readonly kind: 'line' | 'area' | 'spread';
  readonly style: string;
  readonly name: string;
  /** Shown after the name. */
  readonly figure?: string;
}

function legend(entries: readonly LegendEntry[]): Markup | undefined {
  if (entries.length === 0) return undefined;
  return element(
    'ul',
    { class: 'legend' },
    entries.map(({ kind, style, name, figure }) =>
      element(
        'li',
        {},
        swatch(kind, style),
        element('span', {}, name, figure === undefined ? undefined : element('span', { class: 'soft' }, ` ${figure}`)),
      ),
    ),
  );
}

/** Width of the sample before a name. */
export const SWATCH_PX: Readonly<Record<LegendEntry['kind'], number>> = { line: 30, area: 14, spread: 14 };

/** The sample before a name, in the style of its curve. */
export function swatch(kind: LegendEntry['kind'], style: string, place: Attributes = {}): Markup {
  const drawn =
    kind === 'line'
      ? element('path', { class: `line ${style}`, d: 'M0 6h30' })
      : element('rect', { class: `${kind} ${style}`, width: 14, height: 12 });
  return element(
    'svg',
    { class: 'swatch', width: SWATCH_PX[kind], height: 12, 'aria-hidden': 'true', ...place },
    drawn,
  );
}

/** The sign of a moment, for a legend. */
export function momentSign(style: string, shape: Shape): Markup {
  const sign = element('svg', { x: 8, y: 8, overflow: 'visible' }, element('path', { d: SHAPES[shape] }));
  const drawn = element('g', { class: `moment ${style}` }, sign);
  return element('svg', { class: 'swatch', width: 16, height: 16, 'aria-hidden': 'true' }, drawn);
}
