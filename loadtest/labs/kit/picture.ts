import { drawnStyle, drawnVariables } from '../../../src/report/document.ts';
import { toFile } from '../../../src/report/html.ts';
import { type Child, h, type TreeElement } from '../../../src/report/tree.ts';
import { fitted, textPx } from './chart-layout.ts';

/** A chart as a separate SVG file with a light background, for pages of other sites. It is well-formed with any text. */
interface Picture {
  readonly title: string;
  /** All figures, for screen readers. */
  readonly words: string;
  /** Rules besides the palette. Not escaped, so only constants. */
  readonly style: string;
  readonly legend: readonly LegendSample[];
  readonly body: (topPx: number) => { readonly drawn: readonly Child[]; readonly endPx: number };
}

export interface LegendSample {
  readonly sample: (x: number, y: number) => Child;
  readonly samplePx: number;
  readonly name: string;
  readonly figure?: string;
}

export const [PICTURE_PX, EDGE_PX] = [960, 16];
const INNER_PX = PICTURE_PX - 2 * EDGE_PX;
const TITLE = { fontPx: 16, isBold: true, px: INNER_PX, lines: 3 } as const;
const TITLE_LINE_PX = 21;
const [ROW_PX, GAP_PX, FONT_PX, BEFORE_NAME_PX] = [21, 20, 13, 7];

/** The light palette only: a picture has a background of its own. */
const lightStyle = [`:root{color-scheme:light;${drawnVariables('light')}}`, ...drawnStyle()].join('\n');

/** Styles of every picture for a page of another site. */
const PICTURE_STYLE = `
svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif}
.paper{fill:var(--ground)}
.heading{font-size:16px;font-weight:600;fill:var(--ink)}
.entry{font-size:13px;fill:var(--ink)}
.entry .soft{fill:var(--soft)}
`;

export function pictureSvg({ title, words, style, legend, body }: Picture): string {
  const lines = fitted(title, TITLE).lines;
  const legendPx = EDGE_PX + lines.length * TITLE_LINE_PX;
  const { entries, rows } = legendRows(legend, legendPx);
  const { drawn, endPx } = body(legendPx + rows * ROW_PX);
  const size = { width: PICTURE_PX, height: endPx, viewBox: `0 0 ${PICTURE_PX} ${Math.round(endPx * 100) / 100}` };
  const label = { role: 'img', 'aria-labelledby': 'chart-title chart-desc' };
  const file = h('svg', { xmlns: 'http://www.w3.org/2000/svg', ...size, ...label })(
    h('title', { id: 'chart-title' })(title),
    h('desc', { id: 'chart-desc' })(words),
    h('style')(`${lightStyle}${style}${PICTURE_STYLE}`),
    h('rect', { class: 'paper', width: PICTURE_PX, height: endPx, rx: 6 })(),
    lines.map((line, i) => h('text', { class: 'heading', x: EDGE_PX, y: 24 + i * TITLE_LINE_PX })(line)),
    entries,
    drawn,
  );
  return `${toFile(file)}\n`;
}

function legendRows(legend: readonly LegendSample[], topPx: number) {
  let [x, row] = [EDGE_PX, 0];
  const entries = legend.map(({ sample, samplePx, name, figure = '' }): TreeElement => {
    const beforePx = samplePx + BEFORE_NAME_PX;
    const [text = ''] = fitted(name, { fontPx: FONT_PX, px: INNER_PX - beforePx, lines: 1 }).lines;
    const wide = beforePx + textPx(figure === '' ? text : `${text} ${figure}`, { fontPx: FONT_PX });
    if (x > EDGE_PX && x + wide > PICTURE_PX - EDGE_PX) [x, row] = [EDGE_PX, row + 1];
    const y = topPx + row * ROW_PX;
    const place = { class: 'entry', x: x + beforePx, y: y + 14 };
    const entry = h('text', place)(text, figure !== '' && [' ', h('tspan', { class: 'soft' })(figure)]);
    const drawn = h('g')(sample(Math.round(x), y), entry);
    x += wide + GAP_PX;
    return drawn;
  });
  return { entries, rows: entries.length === 0 ? 0 : row + 1 };
}
