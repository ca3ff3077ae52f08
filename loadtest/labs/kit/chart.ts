import { UNKNOWN } from '../../../src/report/format.ts';
import { AREA_INKS, type Ink, LINE_INKS, readableOn } from '../../../src/report/palette.ts';
import { type Place, pathData } from '../../../src/report/plot/shapes.ts';
import { h, type TreeElement } from '../../../src/report/tree.ts';
import { type ChartScale, chartScale, fitted, isKnown, placeNames, textPx } from './chart-layout.ts';
import type { Chart, Finding, Series } from './finding.ts';
import { EDGE_PX, PICTURE_PX, pictureSvg } from './picture.ts';
import { valueText } from './text.ts';

const PLOT_PX = 280;
const TICK = { fontPx: 12 } as const;
const LOGARITHMIC = 'logarithmic';
const ACROSS = { fontPx: 12.5, lines: 2 } as const;

export function chartSvg(chart: Chart): string {
  const looks = looksOf(chart);
  const legend = looks.map((look) => ({
    sample: (x: number, y: number): readonly TreeElement[] =>
      chart.shape === 'bars'
        ? barShape(look, { x, y: y + 3, width: SAMPLE_PX.bars, height: 13 })
        : lineShape(look, [x, y + 9.5]),
    samplePx: SAMPLE_PX[chart.shape],
    name: look.name,
  }));
  const body = (legendEndPx: number) => chartBody(chart, looks, legendEndPx + HEAD_PX + 6);
  return pictureSvg({ title: chart.title, words: words(chart, looks), style: CHART_STYLE, legend, body });
}

function chartBody(chart: Chart, looks: readonly Look[], topPx: number) {
  const scale = chartScale(chart, PLOT_PX);
  const floor = topPx + PLOT_PX;
  const tickTexts = [chart.isLog ? LOGARITHMIC : '', ...scale.ticks.map(({ text = '' }) => text)];
  const leftPx = EDGE_PX + 8 + Math.max(30, ...tickTexts.map((text) => textPx(text, TICK)));
  const wide = PICTURE_PX - EDGE_PX - leftPx;
  const stepPx = wide / Math.max(1, chart.places.length);
  const startPx = leftPx + stepPx / 2;
  const names = placeNames({ places: chart.places, startPx, stepPx, y: floor + 2 });
  const across = fitted(chart.across, { ...ACROSS, px: wide }).lines;
  const drawing = { chart, looks, scale, startPx, stepPx, topPx };
  const acrossPx = floor + names.heightPx + 20;
  const isEmpty = !chart.series.some(({ values }) => values.slice(0, chart.places.length).some(isKnown));
  const drawn = [
    axis(scale, { leftPx, topPx }),
    chart.isLog && h('text', { class: 'tick', x: leftPx - 8, y: topPx - 12 })(LOGARITHMIC),
    names.drawn,
    isEmpty
      ? h('text', { class: 'nothing', x: leftPx + wide / 2, y: topPx + PLOT_PX / 2 })('nothing was measured')
      : (chart.shape === 'bars' ? bars : lines)(drawing),
    across.map((line, i) => h('text', { class: 'across', x: leftPx + wide / 2, y: acrossPx + i * 16 })(line)),
  ];
  return { drawn, endPx: acrossPx + (across.length - 1) * 16 + 12 };
}

function axis(
  { ticks }: ChartScale,
  { leftPx, topPx }: { readonly leftPx: number; readonly topPx: number },
): TreeElement {
  return h('g')(
    ticks.map(({ y }, i) => {
      const at = topPx + y;
      return h('line', { class: i === 0 ? 'base' : 'grid', x1: leftPx, x2: PICTURE_PX - EDGE_PX, y1: at, y2: at })();
    }),
    ticks.map(({ y, text }) =>
      text === undefined ? undefined : h('text', { class: 'tick', x: leftPx - 8, y: topPx + y + 4 })(text),
    ),
  );
}

/** All figures, for screen readers. */
function words({ across, places, unit, isLog }: Chart, looks: readonly Look[]): string {
  const figures = looks.map(({ name, values }) => {
    const points = places.map((place, at) => `${place}: ${valueText(values[at], unit)}`);
    return `${name}: ${points.join('; ')}.`;
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
function bars(drawing: Drawing): readonly TreeElement[] {
  const { chart, looks, startPx, stepPx } = drawing;
  const barPx = Math.min((stepPx * GROUP_SHARE) / chart.series.length, WIDEST_PX);
  const writing = writingOf(drawing, barPx);
  return chart.places.map((_, place) => {
    const left = startPx + place * stepPx - (barPx * chart.series.length) / 2;
    const width = Math.max(1, barPx - Math.min(BETWEEN_PX, barPx / 5));
    return h('g')(looks.map((look, at) => bar(drawing, place, { x: left + at * barPx, width, look, writing })));
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

function bar(drawing: Drawing, place: number, { x, width, look, writing }: Bar): readonly TreeElement[] {
  const { chart, scale, topPx } = drawing;
  const value = look.values[place];
  const floor = topPx + PLOT_PX;
  const middle = x + width / 2;
  const isGap = !isKnown(value);
  const height = isGap || value <= 0 ? 0 : Math.max(LOWEST_PX, PLOT_PX - scale.at(value));
  const drawn = height === 0 ? [] : barShape(look, { x, y: floor - height, width, height });
  const text = isGap ? UNKNOWN : valueText(value, chart.unit);
  if (writing === 'none') return drawn;
  if (writing === 'level' || text.length === 1) {
    return [...drawn, h('text', { class: 'value', x: middle, y: floor - height - 5 })(text)];
  }
  // A bar without room above it is higher than the length of any value.
  const isAbove = textPx(text, { fontPx: VALUE_FONT_PX }) + 9 <= floor - height - topPx + HEAD_PX;
  const y = floor - height + (isAbove ? -5 : 6);
  const transform = `translate(${(middle + VALUE_FONT_PX * 0.36).toFixed(1)} ${y.toFixed(1)}) rotate(-90)`;
  const style = isAbove ? 'value upright' : `value upright within ${look.isHollow ? 'hollow' : look.style}`;
  return [...drawn, h('text', { class: style, transform })(text)];
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function barShape({ style, isHollow, isStriped }: Look, box: Box): readonly TreeElement[] {
  const { x, y, width, height } = box;
  if (isHollow) {
    // The outline is inside the box, so that a hollow bar is as high as a filled one.
    const inner = { x: x + 0.8, y: y + 0.8, width: Math.max(0.5, width - 1.6), height: Math.max(0.5, height - 0.8) };
    return [h('rect', { class: `bar hollow ${style}`, ...inner })()];
  }
  const filled = h('rect', { class: `bar ${style}`, x, y, width, height })();
  if (!isStriped) return [filled];
  // The dashes of a line as wide as the bar are its stripes.
  const line = { class: 'stripes', x1: x + width / 2, x2: x + width / 2, y1: y + height, y2: y, 'stroke-width': width };
  return [filled, h('line', line)()];
}

/** A line for each series with a point for each value. A missing value interrupts the line. */
function lines({ chart, looks, scale, startPx, stepPx, topPx }: Drawing): readonly TreeElement[] {
  return looks.map((look) => {
    const points = chart.places.map((_, place): Place | undefined => {
      const value = look.values[place];
      return isKnown(value) ? [startPx + place * stepPx, topPx + scale.at(value)] : undefined;
    });
    const data = runsOf(points).map(pathData).join('');
    const line = data === '' ? [] : [h('path', { class: lineStyle(look), d: data })()];
    return h('g')(
      line,
      points.flatMap((point) => (point === undefined ? [] : pointShape(look, point))),
    );
  });
}

function lineShape(look: Look, [x, y]: Place): readonly TreeElement[] {
  return [h('path', { class: lineStyle(look), d: `M${x} ${y}h30` })(), pointShape(look, [x + 15, y])];
}

function lineStyle({ style, isHollow }: Look): string {
  return `line ${style}${isHollow ? ' dashed' : ''}`;
}

function pointShape({ style, point, isHollow }: Look, [x, y]: Place): TreeElement {
  const place = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  return h('path', { class: `point ${isHollow ? 'hollow ' : ''}${style}`, d: point, transform: place })();
}

function runsOf(points: readonly (Place | undefined)[]): readonly (readonly Place[])[] {
  const runs: Place[][] = [[]];
  for (const point of points) {
    if (point === undefined) runs.push([]);
    else runs.at(-1)?.push(point);
  }
  return runs.filter((run) => run.length > 1);
}

const SAMPLE_PX = { bars: 16, lines: 30 } as const;

/** A series with its style as a bar, as a line with points, and in the legend. */
interface Look extends Pick<Series, 'name' | 'values'> {
  readonly style: string;
  readonly isStriped: boolean;
  /** SVG path data of a point around 0, 0. */
  readonly point: string;
  /** Published by others: hollow and dashed. */
  readonly isHollow: boolean;
}

/** Contrast to the background is at least 3 : 1, and neighbours differ in lightness, so that adjacent bars differ without hue. */
const INKS: readonly Ink[] = [
  LINE_INKS.control,
  AREA_INKS.lifeboat,
  AREA_INKS.unanswered,
  AREA_INKS.failed,
  AREA_INKS.engine,
  AREA_INKS.collapsed,
  AREA_INKS.shed,
  AREA_INKS['hit-l2'],
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

function looksOf({ series }: Chart): readonly Look[] {
  return series.map(({ name, values, isPublished = false }, index) => {
    const at = index % INKS.length;
    return {
      name: isPublished && !/publish/i.test(name) ? `${name} (published)` : name,
      values,
      style: `s${at}`,
      isStriped: at >= STRIPED_FROM,
      point: POINTS[at] ?? '',
      isHollow: isPublished,
    };
  });
}

interface Drawing {
  readonly chart: Chart;
  readonly looks: readonly Look[];
  readonly scale: ChartScale;
  /** The middle of the first place, and the distance between two places. */
  readonly startPx: number;
  readonly stepPx: number;
  readonly topPx: number;
}

/** Room above the axis for the text of a value at its end. */
const HEAD_PX = 20;

export function plotFile(name: string, id: string): string {
  return id === '' ? `${name}.svg` : `${name}-${id}.svg`;
}

export function drawnCharts({ name, charts }: Finding): ReadonlyMap<string, string> {
  return new Map(charts.map((chart) => [plotFile(name, chart.id), chartSvg(chart)]));
}

const INK_STYLE = INKS.map(({ light }, at) => `.s${at}{--own:${light};--on:${readableOn(light)}}`).join('\n');

/** Styles besides the palette. Values have an outline in the background's colour, so that no line crosses a letter. */
const CHART_STYLE = `
${INK_STYLE}
.place,.tick{font-size:12px;fill:var(--ink);font-variant-numeric:tabular-nums}
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
