import { lightStyle } from '../../../src/report/document.ts';
import { UNKNOWN } from '../../../src/report/format.mjs';
import { element, type Markup, styleSheet } from '../../../src/report/markup.ts';
import { AREAS, type Ink, LINES, readableOn } from '../../../src/report/palette.ts';
import { type Place, pathData } from '../../../src/report/plot/series.ts';
import { type ChartScale, chartScale, fitted, isKnown, placeNames, textPx } from './chart-layout.ts';
import type { Chart, Finding, Series } from './finding.ts';
import { valueText } from './text.ts';

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const [WIDTH_PX, EDGE_PX, PLOT_PX] = [960, 16, 280];
const TITLE = { fontPx: 16, isBold: true, px: WIDTH_PX - 2 * EDGE_PX, lines: 3 } as const;
const TITLE_LINE_PX = 21;
const TICK = { fontPx: 12 } as const;
const LOGARITHMIC = 'logarithmic';
const ACROSS = { fontPx: 12.5, lines: 2 } as const;

/** A chart as a separate SVG file with a light background, for pages of other sites. It is well-formed with any text. */
export function chartSvg(chart: Chart): string {
  const looks = looksOf(chart);
  const scale = chartScale(chart, PLOT_PX);
  const title = fitted(chart.title, TITLE).lines;
  const legend = legendOf(chart, looks, {
    ...{ x: EDGE_PX, y: EDGE_PX + title.length * TITLE_LINE_PX },
    width: WIDTH_PX - 2 * EDGE_PX,
  });
  const topPx = EDGE_PX + title.length * TITLE_LINE_PX + legend.heightPx + HEAD_PX + 6;
  const floor = topPx + PLOT_PX;
  const tickTexts = [chart.isLog ? LOGARITHMIC : '', ...scale.ticks.map(({ text = '' }) => text)];
  const leftPx = EDGE_PX + 8 + Math.max(30, ...tickTexts.map((text) => textPx(text, TICK)));
  const wide = WIDTH_PX - EDGE_PX - leftPx;
  const stepPx = wide / Math.max(1, chart.places.length);
  const startPx = leftPx + stepPx / 2;
  const names = placeNames({ places: chart.places, startPx, stepPx, y: floor + 2 });
  const across = fitted(chart.across, { ...ACROSS, px: wide }).lines;
  const drawing = { chart, looks, scale, startPx, stepPx, topPx };
  const acrossPx = floor + names.heightPx + 20;
  const heightPx = acrossPx + (across.length - 1) * 16 + 12;
  const isEmpty = !chart.series.some(({ values }) => values.slice(0, chart.places.length).some(isKnown));
  const file = element(
    'svg',
    {
      ...{ xmlns: 'http://www.w3.org/2000/svg', width: WIDTH_PX, height: heightPx },
      ...{ viewBox: `0 0 ${WIDTH_PX} ${Math.round(heightPx * 100) / 100}`, role: 'img' },
      'aria-labelledby': 'chart-title chart-desc',
    },
    element('title', { id: 'chart-title' }, chart.title),
    element('desc', { id: 'chart-desc' }, words(chart)),
    // A style is not escaped; it consists of constants.
    styleSheet(`${lightStyle()}${CHART_STYLE}`),
    element('rect', { class: 'paper', width: WIDTH_PX, height: heightPx, rx: 6 }),
    title.map((line, i) => element('text', { class: 'heading', x: EDGE_PX, y: 24 + i * TITLE_LINE_PX }, line)),
    legend.drawn,
    axis(scale, { leftPx, topPx }),
    chart.isLog ? element('text', { class: 'tick', x: leftPx - 8, y: topPx - 12 }, LOGARITHMIC) : undefined,
    names.drawn,
    isEmpty
      ? element('text', { class: 'nothing', x: leftPx + wide / 2, y: topPx + PLOT_PX / 2 }, 'nothing was measured')
      : (chart.shape === 'bars' ? bars : lines)(drawing),
    across.map((line, i) => element('text', { class: 'across', x: leftPx + wide / 2, y: acrossPx + i * 16 }, line)),
  );
  return `${file.markup}\n`;
}

function axis({ ticks }: ChartScale, { leftPx, topPx }: { readonly leftPx: number; readonly topPx: number }): Markup {
  return element(
    'g',
    {},
    ticks.map(({ y }, i) => {
      const at = topPx + y;
      return element('line', { class: i === 0 ? 'base' : 'grid', x1: leftPx, x2: WIDTH_PX - EDGE_PX, y1: at, y2: at });
    }),
    ticks.map(({ y, text }) =>
      text === undefined ? undefined : element('text', { class: 'tick', x: leftPx - 8, y: topPx + y + 4 }, text),
    ),
  );
}

/** All figures, for screen readers. */
function words({ across, places, unit, isLog, series }: Chart): string {
  const figures = series.map((one) => {
    const points = places.map((place, at) => `${place}: ${valueText(one.values[at], unit)}`);
    return `${seriesName(one)}: ${points.join('; ')}.`;
  });
  return [`Over ${across}${isLog ? ', on a logarithmic axis' : ''}.`, ...figures].join(' ');
}

const GROUP_SHARE = 0.84;
const [WIDEST_PX, BETWEEN_PX] = [72, 2];
const VALUE_FONT_PX = 11;
/** A lower bar would be invisible. */
const LOWEST_PX = 1.5;
/** Narrower bars have no room for a value, not even an upright one. */
const LETTERS_PX = 14;

/** A group of bars for each place, with their values where there is room. */
function bars(drawing: Drawing): readonly Markup[] {
  const { chart, looks, startPx, stepPx } = drawing;
  const barPx = Math.min((stepPx * GROUP_SHARE) / chart.series.length, WIDEST_PX);
  const writing = writingOf(drawing, barPx);
  return chart.places.map((_, place) => {
    const left = startPx + place * stepPx - (barPx * chart.series.length) / 2;
    const group = chart.series.flatMap(({ values }, at) => {
      const look = looks[at];
      const box = { x: left + at * barPx, width: Math.max(1, barPx - Math.min(BETWEEN_PX, barPx / 5)) };
      return look === undefined ? [] : bar(drawing, values[place], { ...box, look, writing });
    });
    return element('g', {}, group);
  });
}

type Writing = 'level' | 'upright' | 'none';

interface Bar {
  readonly x: number;
  readonly width: number;
  readonly look: Look;
  readonly writing: Writing;
}

/** The same for all bars of a chart, since values at some of them only would look like a difference. */
function writingOf({ chart, stepPx }: Drawing, barPx: number): Writing {
  const texts = chart.series.flatMap(({ values }) =>
    values.filter(isKnown).map((value) => valueText(value, chart.unit)),
  );
  const longest = Math.max(0, ...texts.map((text) => textPx(text, { fontPx: VALUE_FONT_PX })));
  if (longest <= (chart.series.length === 1 ? stepPx - 6 : barPx)) return 'level';
  return barPx >= LETTERS_PX ? 'upright' : 'none';
}

function bar(drawing: Drawing, value: number | undefined, { x, width, look, writing }: Bar): readonly Markup[] {
  const { chart, scale, topPx } = drawing;
  const floor = topPx + PLOT_PX;
  const middle = x + width / 2;
  const isGap = !isKnown(value);
  const height = isGap || value <= 0 ? 0 : Math.max(LOWEST_PX, PLOT_PX - scale.at(value));
  const drawn = height === 0 ? [] : barShape(look, { x, y: floor - height, width, height });
  const text = isGap ? UNKNOWN : valueText(value, chart.unit);
  if (writing === 'none') return drawn;
  if (writing === 'level' || text.length === 1) {
    return [...drawn, element('text', { class: 'value', x: middle, y: floor - height - 5 }, text)];
  }
  // A bar without room above it is higher than the length of any value.
  const isAbove = textPx(text, { fontPx: VALUE_FONT_PX }) + 9 <= floor - height - topPx + HEAD_PX;
  const y = floor - height + (isAbove ? -5 : 6);
  const place = `translate(${(middle + VALUE_FONT_PX * 0.36).toFixed(1)} ${y.toFixed(1)}) rotate(-90)`;
  const style = isAbove ? 'value upright' : `value upright within ${look.isHollow ? 'hollow' : look.style}`;
  return [...drawn, element('text', { class: style, transform: place }, text)];
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A bar of the drawing or of the legend. */
function barShape({ style, isHollow, isStriped }: Look, box: Box): readonly Markup[] {
  const { x, y, width, height } = box;
  if (isHollow) {
    // The outline is inside the box, so that a hollow bar is as high as a filled one.
    const inner = { x: x + 0.8, y: y + 0.8, width: Math.max(0.5, width - 1.6), height: Math.max(0.5, height - 0.8) };
    return [element('rect', { class: `bar hollow ${style}`, ...inner })];
  }
  const filled = element('rect', { class: `bar ${style}`, x, y, width, height });
  if (!isStriped) return [filled];
  // The dashes of a line as wide as the bar are its stripes.
  const line = { class: 'stripes', x1: x + width / 2, x2: x + width / 2, y1: y + height, y2: y, 'stroke-width': width };
  return [filled, element('line', line)];
}

/** A line for each series with a point for each value. A missing value interrupts the line. */
function lines({ chart, looks, scale, startPx, stepPx, topPx }: Drawing): readonly Markup[] {
  return chart.series.flatMap(({ values }, at) => {
    const look = looks[at];
    if (look === undefined) return [];
    const points = chart.places.map((_, place): Place | undefined => {
      const value = values[place];
      return isKnown(value) ? [startPx + place * stepPx, topPx + scale.at(value)] : undefined;
    });
    const data = runsOf(points).map(pathData).join('');
    const line = data === '' ? [] : [element('path', { class: lineStyle(look), d: data })];
    return element(
      'g',
      {},
      line,
      points.flatMap((point) => (point === undefined ? [] : pointShape(look, point))),
    );
  });
}

/** A line of the legend. */
function lineShape(look: Look, [x, y]: Place): readonly Markup[] {
  return [element('path', { class: lineStyle(look), d: `M${x} ${y}h30` }), pointShape(look, [x + 15, y])];
}

function lineStyle({ style, isHollow }: Look): string {
  return `line ${style}${isHollow ? ' dashed' : ''}`;
}

function pointShape({ style, point, isHollow }: Look, [x, y]: Place): Markup {
  const place = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  return element('path', { class: `point ${isHollow ? 'hollow ' : ''}${style}`, d: point, transform: place });
}

/** Successive points without a gap. */
function runsOf(points: readonly (Place | undefined)[]): readonly (readonly Place[])[] {
  const runs: Place[][] = [[]];
  for (const point of points) {
    if (point === undefined) runs.push([]);
    else runs.at(-1)?.push(point);
  }
  return runs.filter((run) => run.length > 1);
}

const [ROW_PX, GAP_PX, FONT_PX] = [21, 20, 13];
const SWATCH_PX = { bars: 16, lines: 30 } as const;
const BEFORE_NAME_PX = 7;

/** The names of the series beside a sample of each, in as many rows as needed. */
function legendOf(
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

/** The style of a series as a bar, as a line with points, and in the legend. */
interface Look {
  /** The class of its colour. */
  readonly style: string;
  readonly isStriped: boolean;
  /** SVG path data of a point around 0, 0. */
  readonly point: string;
  /** Published by others: hollow and dashed. */
  readonly isHollow: boolean;
}

/** Contrast to the background is at least 3 : 1, and neighbours differ in lightness, so that adjacent bars differ without hue. */
export const INKS: readonly Ink[] = [
  LINES.control,
  AREAS.lifeboat,
  AREAS.unanswered,
  AREAS.failed,
  AREAS.engine,
  AREAS.collapsed,
  AREAS.shed,
  AREAS['hit-l2'],
];
/** From here on lightness repeats, so the bars are striped. */
const STRIPED_FROM = 4;
const POINTS: readonly string[] = [
  'M-4.4 0a4.4 4.4 0 1 0 8.8 0a4.4 4.4 0 1 0-8.8 0z',
  'M-4-4h8v8h-8z',
  'M0-5.400L5 3.800h-10z',
  'M0-5.600L5.600 0L0 5.600L-5.600 0z',
  'M0 5.400L5-3.800h-10z',
  'M-1.700-5.200h3.400v3.500h3.500v3.400h-3.500v3.500h-3.400v-3.500h-3.500v-3.400h3.500z',
  'M-4.800-4.600h9.600l-9.600 9.200h9.600z',
  'M-2.500-4.800h5l2.800 4.800l-2.800 4.800h-5l-2.800-4.800z',
];

/** A look for each series. If there are as many published series as measured ones, the pairs have the same colour. */
export function looksOf({ series }: Chart): readonly Look[] {
  const published = series.filter(isPublished);
  const isPaired = published.length * 2 === series.length;
  return series.map((one, at) => {
    const own = isPaired ? series.filter((other) => isPublished(other) === isPublished(one)).indexOf(one) : at;
    return lookOf(own % INKS.length, isPublished(one));
  });
}

function lookOf(at: number, isHollow: boolean): Look {
  return { style: `s${at}`, isStriped: at >= STRIPED_FROM, point: POINTS[at] ?? '', isHollow };
}

/** The name of a series, marked if it was published. */
function seriesName({ name, isPublished }: Series): string {
  return isPublished && !/publish/i.test(name) ? `${name} (published)` : name;
}

function isPublished(series: Series): boolean {
  return series.isPublished === true;
}

/** A chart with its layout in pixels of the picture. */
interface Drawing {
  readonly chart: Chart;
  readonly looks: readonly Look[];
  readonly scale: ChartScale;
  /** The middle of the first place, and the distance between two places. */
  readonly startPx: number;
  readonly stepPx: number;
  /** The upper end of the axis. */
  readonly topPx: number;
}

/** Room above the axis for the text of a value at its end. */
const HEAD_PX = 20;

/** `<name>.svg`, or `<name>-<id>.svg`. @throws unless both consist of lower-case words. */
export function plotFile(name: string, id: string): string {
  const check = (what: string, word: string): void => {
    if (NAME.test(word)) return;
    throw new Error(
      `a ${what} cannot be called ${JSON.stringify(word)}: it becomes the name of a file, like value-size`,
    );
  };
  check('finding', name);
  if (id !== '') check('chart', id);
  return id === '' ? `${name}.svg` : `${name}-${id}.svg`;
}

/** The SVG of all charts of a finding by file name. @throws when two have the same name. */
export function drawnCharts({ name, charts }: Finding): ReadonlyMap<string, string> {
  const drawn = new Map<string, string>();
  for (const chart of charts) {
    const file = plotFile(name, chart.id);
    if (drawn.has(file)) throw new Error(`${name} has two charts with the id ${JSON.stringify(chart.id)}`);
    drawn.set(file, chartSvg(chart));
  }
  return drawn;
}

/** The colours of all looks, and of text on them. */
const INK_STYLE = INKS.map(({ light }, at) => `.s${at}{--own:${light};--on:${readableOn(light)}}`).join('\n');

/** Styles of every picture for a page of another site. */
export const PICTURE_STYLE = `
svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif}
.paper{fill:var(--ground)}
.heading{font-size:16px;font-weight:600;fill:var(--ink)}
.entry{font-size:13px;fill:var(--ink)}
`;

/** Styles besides the palette. Values have an outline in the background's colour, so that no line crosses a letter. */
const CHART_STYLE = `
${INK_STYLE}${PICTURE_STYLE}.place,.tick{font-size:12px;fill:var(--ink);font-variant-numeric:tabular-nums}
.place{text-anchor:middle}
.tilted,.tick{text-anchor:end}
.tick{fill:var(--soft)}
.across{font-size:12.5px;fill:var(--soft);text-anchor:middle}
.nothing{font-size:14px;fill:var(--soft);text-anchor:middle}
.grid{stroke:var(--line)}
.base{stroke:var(--soft)}
.bar{fill:var(--own)}
.stripes{stroke:var(--ground);stroke-dasharray:1.6 4.4;stroke-dashoffset:-3}
.bar.hollow{fill:var(--ground);stroke:var(--own);stroke-width:1.6;stroke-dasharray:4 2.5}
.line{fill:none;stroke:var(--own);stroke-width:2;stroke-linejoin:round}
.line.dashed{stroke-width:1.6;stroke-dasharray:5 4}
.point{fill:var(--own);stroke:var(--ground);stroke-width:1}
.point.hollow{fill:var(--ground);stroke:var(--own);stroke-width:1.6}
.value{font-size:11px;fill:var(--ink);text-anchor:middle;stroke:var(--ground);stroke-width:3px;stroke-linejoin:round;paint-order:stroke;font-variant-numeric:tabular-nums}
.value.upright{text-anchor:start}
.value.within{text-anchor:end;stroke-width:4px;fill:var(--on);stroke:var(--own)}
.value.within.hollow{fill:var(--ink);stroke:var(--ground)}
`;
