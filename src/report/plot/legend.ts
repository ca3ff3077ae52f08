import { element, type Markup } from '../markup.ts';
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

function swatch(kind: LegendEntry['kind'], style: string): Markup {
  const drawn =
    kind === 'line'
      ? element('path', { class: `line ${style}`, d: 'M0 6h30' })
      : element('rect', { class: `${kind} ${style}`, width: 14, height: 12 });
  const width = kind === 'line' ? 30 : 14;
  return element('svg', { class: 'swatch', width, height: 12, 'aria-hidden': 'true' }, drawn);
}

/** The sign of a moment by itself. */
export function momentSign(style: string, shape: Shape): Markup {
  const sign = element('svg', { x: 8, y: 8, overflow: 'visible' }, element('path', { d: SHAPES[shape] }));
  const drawn = element('g', { class: `moment ${style}` }, sign);
  return element('svg', { class: 'swatch', width: 16, height: 16, 'aria-hidden': 'true' }, drawn);
}
