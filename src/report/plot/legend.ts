import { type Attributes, element, type Markup } from '../markup.ts';
import { SHAPES, type Shape } from './background.ts';

export interface LegendEntry {
  /** `line`: as it is drawn, with its dashes; `area`: a filled square; `spread`: a tint. */
  readonly kind: 'line' | 'area' | 'spread';
  readonly style: string;
  readonly name: string;
  /** A figure that belongs to it. */
  readonly figure?: string;
}

export function legend(entries: readonly LegendEntry[]): Markup | undefined {
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

/** How wide the sample before a name is. */
export const SWATCH_PX: Readonly<Record<LegendEntry['kind'], number>> = { line: 30, area: 14, spread: 14 };

/** What a name stands for, as it is drawn. */
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

/** The sign of a moment by itself. */
export function momentSign(style: string, shape: Shape): Markup {
  const sign = element('svg', { x: 8, y: 8, overflow: 'visible' }, element('path', { d: SHAPES[shape] }));
  const drawn = element('g', { class: `moment ${style}` }, sign);
  return element('svg', { class: 'swatch', width: 16, height: 16, 'aria-hidden': 'true' }, drawn);
}
