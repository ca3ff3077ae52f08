import { lightStyle, PLOT_STYLE } from '../../src/report/document.ts';
import { element, type Markup, styleSheet } from '../../src/report/markup.ts';
import { backdrop } from '../../src/report/plot/backdrop.ts';
import { FRAME_WIDTH, linearScale, STRIP_PX, TIMES_PX, valueAxis } from '../../src/report/plot/frame.ts';
import { type LegendEntry, momentSign, panelDrawing, SWATCH_PX, swatch } from '../../src/report/plot/panel.ts';
import { isPanel } from './plot.ts';
import type { ReportOptions } from './report-page.ts';
import { type PlotName, runPlot, sheetOf } from './run-plots.ts';
import { type Sign, sceneryOf, signsUsed } from './scenery.ts';
import { LOAD_STYLE } from './style.ts';

const [WIDTH_PX, EDGE_PX, AXIS_PX] = [960, 16, 62];
const [TITLE_PX, ROW_PX, GAP_PX] = [34, 21, 18];
/** Of a legend's letters, a little more than most are wide: names never run into each other. */
const LETTER_PX = 6.9;

const OWN_STYLE = `
svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif}
.paper{fill:var(--ground)}
.heading{font-size:16px;font-weight:600;fill:var(--ink)}
.entry{font-size:13px;fill:var(--ink)}
.entry .soft{fill:var(--soft)}
`;

/** One plot of a run as an SVG file of its own, on light ground, for pages that are not ours; undefined: not measured. */
export function plotSvg({ record, judged }: ReportOptions, name: PlotName): string | undefined {
  const sheet = sheetOf(record, judged);
  const panel = runPlot(sheet, name);
  if (!isPanel(panel)) return undefined;
  const scenery = sceneryOf(sheet);
  const signs = signsUsed(record, scenery).filter(({ shape }) => panel.isDetailed || shape !== 'disc');
  const legend = laidOut(entriesOf(panel.legend, signs));
  const topPx = TITLE_PX + legend.rows * ROW_PX + 8;
  const heightPx = topPx + STRIP_PX + panel.frame.heightPx + TIMES_PX + 10;
  const widthPx = WIDTH_PX - 2 * EDGE_PX - AXIS_PX;
  const size = { width: WIDTH_PX, height: heightPx, viewBox: `0 0 ${WIDTH_PX} ${heightPx}` };
  const file = element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', ...size },
    // Constants of ours: a style is not escaped.
    styleSheet(`${lightStyle()}${PLOT_STYLE}${LOAD_STYLE}${OWN_STYLE}`),
    element('rect', { class: 'paper', ...{ width: WIDTH_PX, height: heightPx, rx: 6 } }),
    element('text', { class: 'heading', x: EDGE_PX, y: 24 }, `${record.summary.script}: ${panel.title}`),
    legend.drawn,
    backdrop({ id: 'run', x: linearScale(0, sheet.timeline.toMs, 0, FRAME_WIDTH), ...scenery }),
    element('g', { transform: `translate(${EDGE_PX} ${topPx})` }, valueAxis(panel.frame, panel.tickText)),
    panelDrawing(panel, 'run', { x: EDGE_PX + AXIS_PX, y: topPx, width: widthPx }),
  );
  return `${file.markup}\n`;
}

interface Entry {
  readonly sign: (x: number, y: number) => Markup;
  readonly signPx: number;
  readonly name: string;
  readonly figure: string;
}

/** What is drawn, and what was done meanwhile. */
function entriesOf(legend: readonly LegendEntry[], signs: readonly Sign[]): readonly Entry[] {
  return [
    ...legend.map(({ kind, style, name, figure = '' }) => ({
      sign: (x: number, y: number) => swatch(kind, style, { x, y: y + 4 }),
      ...{ signPx: SWATCH_PX[kind], name, figure },
    })),
    ...signs.map(({ style, shape, words }) => ({
      sign: (x: number, y: number) => element('g', { transform: `translate(${x} ${y + 2})` }, momentSign(style, shape)),
      ...{ signPx: 16, name: words, figure: '' },
    })),
  ];
}

/** Names after each other, in as many rows as they need. */
function laidOut(entries: readonly Entry[]): { readonly drawn: readonly Markup[]; readonly rows: number } {
  let [x, row] = [EDGE_PX, 0];
  const drawn = entries.map(({ sign, signPx, name, figure }) => {
    const textPx = signPx + 7;
    const wide = textPx + `${name} ${figure}`.length * LETTER_PX;
    if (x > EDGE_PX && x + wide > WIDTH_PX - EDGE_PX) [x, row] = [EDGE_PX, row + 1];
    const y = TITLE_PX + row * ROW_PX;
    const text = element(
      'text',
      { class: 'entry', x: x + textPx, y: y + 14 },
      ...[`${name} `, element('tspan', { class: 'soft' }, figure)],
    );
    const one = element('g', {}, sign(Math.round(x), y), text);
    x += wide + GAP_PX;
    return one;
  });
  return { drawn, rows: entries.length === 0 ? 0 : row + 1 };
}
