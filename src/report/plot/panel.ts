import { type Attributes, type Content, element, type Markup } from '../markup.ts';
import { gridLines, valueAxis } from './axis.ts';
import { backdropParts, STRIP_PX, TIMES_PX } from './backdrop.ts';
import { FRAME_WIDTH, type Frame } from './frame.ts';
import { type LegendEntry, legend } from './legend.ts';

export interface Panel {
  /** Unique in the page. */
  readonly id: string;
  /** With the unit of its values. */
  readonly title: string;
  /** The plot in words, for who cannot see it. */
  readonly words: string;
  readonly frame: Frame;
  readonly tickText: (value: number) => string;
  /** In the frame's units, stretched with it. */
  readonly drawn: readonly (Markup | undefined)[];
  /** Names inside the drawing: placed by percent and pixels, never stretched. */
  readonly names?: readonly Markup[];
  readonly legend: readonly LegendEntry[];
  readonly notes?: readonly string[];
  /** Nothing was measured: said instead of drawn. */
  readonly isEmpty: boolean;
  /** Whether each stage's recovery is shown as well. */
  readonly isDetailed?: boolean;
}

/**
 * A plot with its axes, as wide as there is room and readable at any width: only the curves are stretched, no text.
 * @param backdropId what all plots of a domain have in common, see `backdrop`. @param isHalf two stand side by side.
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

/** The drawing alone, without its axis of values: as wide as `place` says. */
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
