import { element, type Markup } from '../../../../src/report/markup.ts';
import type { Chart } from '../finding.ts';
import { barShape } from './bars.ts';
import { lineShape } from './lines.ts';
import { type Look, seriesName } from './look.ts';
import { fitted, textPx } from './text-room.ts';

const [ROW_PX, GAP_PX, FONT_PX] = [21, 20, 13];
const SWATCH_PX = { bars: 16, lines: 30 } as const;
const BEFORE_NAME_PX = 7;

/** What each series is called, beside a sample of it: after each other, in as many rows as they need. */
export function legendOf(
  { shape, series }: Chart,
  looks: readonly Look[],
  { x: left, y: top, width }: { readonly x: number; readonly y: number; readonly width: number },
): { readonly drawn: readonly Markup[]; readonly heightPx: number } {
  const beforePx = SWATCH_PX[shape] + BEFORE_NAME_PX;
  let [x, row] = [left, 0];
  const drawn = series.flatMap((one, at) => {
    const look = looks[at];
    if (look === undefined) return [];
    const [text = ''] = fitted(seriesName(one), { fontPx: FONT_PX, px: width - beforePx, lines: 1 }).lines;
    const wide = beforePx + textPx(text, { fontPx: FONT_PX });
    if (x > left && x + wide > left + width) [x, row] = [left, row + 1];
    const y = top + row * ROW_PX;
    const sample =
      shape === 'bars'
        ? barShape(look, { x, y: y + 3, width: SWATCH_PX.bars, height: 13 })
        : lineShape(look, [Math.round(x), y + 9.5]);
    const entry = element('g', {}, sample, element('text', { class: 'entry', x: x + beforePx, y: y + 14 }, text));
    x += wide + GAP_PX;
    return [entry];
  });
  return { drawn, heightPx: drawn.length === 0 ? 0 : (row + 1) * ROW_PX };
}
