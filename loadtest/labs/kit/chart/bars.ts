import { UNKNOWN } from '../../../../src/report/format.ts';
import { element, type Markup } from '../../../../src/report/markup.ts';
import { valueText } from '../value-text.ts';
import { type Drawing, HEAD_PX } from './drawing.ts';
import type { Look } from './look.ts';
import { isKnown } from './scale.ts';
import { textPx } from './text-room.ts';

const GROUP_SHARE = 0.84;
const [WIDEST_PX, BETWEEN_PX] = [72, 2];
const FONT_PX = 11;
/** Lower ones could not be seen, and would be taken for nothing. */
const LOWEST_PX = 1.5;
/** Narrower bars have no room for letters, not even upright. */
const LETTERS_PX = 14;

/** A group of bars for each place, with their values where there is room. */
export function bars(drawing: Drawing): readonly Markup[] {
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

/** The same for all bars of a chart: some with their value and some without would look like a difference. */
function writingOf({ chart, stepPx }: Drawing, barPx: number): Writing {
  const texts = chart.series.flatMap(({ values }) =>
    values.filter(isKnown).map((value) => valueText(value, chart.unit)),
  );
  const longest = Math.max(0, ...texts.map((text) => textPx(text, { fontPx: FONT_PX })));
  if (longest <= (chart.series.length === 1 ? stepPx - 6 : barPx)) return 'level';
  return barPx >= LETTERS_PX ? 'upright' : 'none';
}

function bar(drawing: Drawing, value: number | undefined, { x, width, look, writing }: Bar): readonly Markup[] {
  const { chart, scale, topPx, heightPx } = drawing;
  const floor = topPx + heightPx;
  const middle = x + width / 2;
  const isGap = !isKnown(value);
  const height = isGap || value <= 0 ? 0 : Math.max(LOWEST_PX, heightPx - scale.at(value));
  const drawn = height === 0 ? [] : barShape(look, { x, y: floor - height, width, height });
  const text = isGap ? UNKNOWN : valueText(value, chart.unit);
  if (writing === 'none') return drawn;
  if (writing === 'level' || text.length === 1) {
    return [...drawn, element('text', { class: 'value', x: middle, y: floor - height - 5 }, text)];
  }
  // Where there is no room above a bar, it is higher than any value is long.
  const isAbove = textPx(text, { fontPx: FONT_PX }) + 9 <= floor - height - topPx + HEAD_PX;
  const y = floor - height + (isAbove ? -5 : 6);
  const place = `translate(${(middle + FONT_PX * 0.36).toFixed(1)} ${y.toFixed(1)}) rotate(-90)`;
  const style = isAbove ? 'value upright' : `value upright within ${look.isHollow ? 'hollow' : look.style}`;
  return [...drawn, element('text', { class: style, transform: place }, text)];
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** As it is drawn, and as the legend shows it. */
export function barShape({ style, isHollow, isStriped }: Look, box: Box): readonly Markup[] {
  const { x, y, width, height } = box;
  if (isHollow) {
    // The line lies within the box, so that a hollow bar is as high as a filled one.
    const inner = { x: x + 0.8, y: y + 0.8, width: Math.max(0.5, width - 1.6), height: Math.max(0.5, height - 0.8) };
    return [element('rect', { class: `bar hollow ${style}`, ...inner })];
  }
  const filled = element('rect', { class: `bar ${style}`, x, y, width, height });
  if (!isStriped) return [filled];
  // Dashes of a line as broad as the bar: stripes that no file has to spell out.
  const line = { class: 'stripes', x1: x + width / 2, x2: x + width / 2, y1: y + height, y2: y, 'stroke-width': width };
  return [filled, element('line', line)];
}
