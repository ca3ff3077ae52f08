import { element, type Markup } from '../markup.ts';
import { STRIP_PX, TIMES_PX } from './backdrop.ts';
import type { Frame } from './frame.ts';

/** The column left of a drawing: the values' ticks, and what the times below are counted in. */
export function valueAxis(frame: Frame, text: (value: number) => string): Markup {
  const heightPx = STRIP_PX + frame.heightPx + TIMES_PX;
  return element(
    'svg',
    { class: 'values', width: 62, height: heightPx, 'aria-hidden': 'true' },
    frame.ticks.map((tick) => element('text', { x: 56, y: STRIP_PX + frame.y.at(tick) + 4 }, text(tick))),
    element('text', { x: 56, y: heightPx - 4 }, frame.x.to >= 3_600_000 ? 'h:min:s' : 'min:s'),
  );
}

export function gridLines(frame: Frame): readonly Markup[] {
  return frame.ticks.map((tick) => {
    const y = STRIP_PX + frame.y.at(tick);
    return element('line', { class: tick === frame.ticks[0] ? 'base' : 'grid', x2: '100%', y1: y, y2: y });
  });
}
