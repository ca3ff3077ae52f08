import { linearScale, logTicks, roundTicks } from '../../../src/report/plot/frame.ts';
import { h } from '../../../src/report/tree.ts';
import type { Chart } from './finding.ts';
import { type Unit, valueText } from './text.ts';

export type ChartScale = ReturnType<typeof chartScale>;

interface Tick {
  readonly y: number;
  /** Absent where it would be rounded to another value (a count of 0.5), or would equal or overlap the text below. */
  readonly text?: string;
}

const [TICKS, TICK_LINE_PX] = [5, 14];
/** A logarithmic axis begins at this share of the lowest bar, so that the bar is visible. */
const BELOW_LOWEST = 0.7;
const [KIB, MAX_POWERS] = [1024, 6];

/** The axis of values; `at` is the position of a value in pixels below the top of the drawing. */
export function chartScale(chart: Chart, heightPx: number) {
  const values = chart.series.flatMap((one) => one.values.filter(isKnown)).filter((value) => value > 0);
  const ticks = chart.isLog ? logarithmic(chart, values) : linear(chart, values);
  const [from, to] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const placed = (value: number): number => (chart.isLog ? Math.log(Math.max(value, from)) : value);
  const scale = linearScale(placed(from), placed(to), heightPx, 0);
  const at = (value: number): number => scale.at(placed(value));
  const shown: Tick[] = [];
  for (const tick of ticks) {
    const [y, text] = [at(tick), valueText(tick, chart.unit)];
    const below = shown.findLast((one) => one.text !== undefined);
    const hasRoom = below === undefined || (below.text !== text && below.y - y >= TICK_LINE_PX);
    shown.push({ y, ...(hasRoom && says(text, tick, chart.unit) && { text }) });
  }
  return { ticks: shown, at };
}

/** Whether a text was not rounded. Units may differ by powers of ten: 2,500 ms are 2.5 s, and a share of 0.2 is 20 %. */
function says(text: string, value: number, unit: Unit): boolean {
  // Ticks of bytes and of minutes are round in their own units, of 1024 and of 60.
  if (value === 0 || isBytes(unit) || text.includes('min')) return true;
  if (/^[<>]/.test(text)) return false;
  const power = Math.log10(value / Number.parseFloat(text.replaceAll(',', '')));
  return Math.abs(power - Math.round(power)) < 1e-6;
}

/** A value that is not finite was not measured. */
export function isKnown(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}

function isBytes(unit: Unit): boolean {
  return unit === 'bytes' || unit === 'bytes-per-second';
}

function linear({ unit }: Chart, values: readonly number[]): readonly number[] {
  const highest = Math.max(0, ...values);
  const part = isBytes(unit) ? KIB ** Math.max(0, Math.floor(Math.log2(Math.max(1, highest)) / 10)) : 1;
  return roundTicks(highest / part, TICKS, unit === 'count').map((tick) => tick * part);
}

function logarithmic({ unit, shape }: Chart, values: readonly number[]): readonly number[] {
  const highest = values.length === 0 ? 1 : Math.max(...values);
  const lowest = (values.length === 0 ? 1 : Math.min(...values)) * (shape === 'bars' ? BELOW_LOWEST : 1);
  if (!isBytes(unit)) return logTicks(lowest, highest);
  const [first, last] = [Math.floor(Math.log2(lowest)), Math.ceil(Math.log2(highest))];
  const step = Math.max(1, Math.ceil((last - first) / MAX_POWERS));
  const count = Math.max(1, Math.ceil((last - first) / step));
  return Array.from({ length: count + 1 }, (_, i) => 2 ** (first + i * step));
}

interface PlaceOptions {
  readonly places: readonly string[];
  /** Position of the first place from the left edge of the picture. */
  readonly startPx: number;
  readonly stepPx: number;
  readonly y: number;
}

const [FONT_PX, LINE_PX, BETWEEN_PX] = [12, 14.5, 10];
const [MAX_LINES, MIN_ROOM_PX] = [3, 20];
const TILT = 40;
const [SIN, COS] = [Math.sin((TILT * Math.PI) / 180), Math.cos((TILT * Math.PI) / 180)];
const [MAX_NAME_PX, EDGE_PX] = [190, 6];

/** Names in horizontal lines if all words fit below their places, otherwise tilted. They never overlap. */
export function placeNames(options: PlaceOptions) {
  const room = { fontPx: FONT_PX, px: options.stepPx - BETWEEN_PX, lines: MAX_LINES };
  const names = options.places.map((place) => fitted(place, room));
  return room.px > MIN_ROOM_PX && names.every(({ isWhole }) => isWhole) ? level(options, names) : tilted(options);
}

function level({ startPx, stepPx, y }: PlaceOptions, names: readonly Fitted[]) {
  return {
    drawn: names.map(({ lines }, at) => {
      const x = startPx + at * stepPx;
      const parts = lines.map((line, i) => h('tspan', { x, dy: i === 0 ? undefined : LINE_PX })(line));
      return h('text', { class: 'place', x, y: y + LINE_PX })(parts);
    }),
    heightPx: Math.max(1, ...names.map(({ lines }) => lines.length)) * LINE_PX + 4,
  };
}

/** Each name ends below its place. If there is not enough room, only every second or third place is named, and so on. */
function tilted({ places, startPx, stepPx, y }: PlaceOptions) {
  const every = Math.max(1, Math.ceil(LINE_PX / (stepPx * SIN)));
  const most = Math.min(MAX_LINES, Math.max(1, Math.floor((stepPx * every * SIN) / LINE_PX)));
  const names = places.flatMap((place, at) => {
    if (at % every !== 0) return [];
    const x = startPx + at * stepPx;
    const room = (x - EDGE_PX - most * LINE_PX * SIN) / COS;
    return [{ x, ...fitted(place, { fontPx: FONT_PX, px: Math.min(MAX_NAME_PX, room), lines: most }) }];
  });
  return {
    drawn: names.map(({ x, lines }) => {
      // Tilted lines proceed downwards and to the right. Their middle is below the place.
      const left = x - ((lines.length - 1) * LINE_PX * SIN) / 2;
      return h('text', {
        class: 'place tilted',
        transform: `translate(${left.toFixed(1)} ${(y + LINE_PX).toFixed(1)}) rotate(-${TILT})`,
      })(lines.map((line, i) => h('tspan', { x: 0, dy: i === 0 ? undefined : LINE_PX })(line)));
    }),
    heightPx: Math.max(0, ...names.map(({ lines }) => heightOf(lines))),
  };
}

function heightOf(lines: readonly string[]): number {
  const longest = Math.max(0, ...lines.map((line) => textPx(line, { fontPx: FONT_PX })));
  return longest * SIN + lines.length * LINE_PX * COS + LINE_PX;
}

/**
 * Maximum widths of letters in ems, for the fonts that a system is likely to choose (DejaVu Sans is the widest). An SVG
 * file cannot measure its own text, and the fonts of the reader are not known.
 */
const EMS: readonly (readonly [letters: RegExp, ems: number])[] = [
  [/[\p{Cc}\p{Bidi_Control}]/u, 1.1],
  [/[ \u00a0ijlI.,:;'|!]/, 0.36],
  [/[frt()[\]/\\"-]/, 0.45],
  [/[mwMW@%]/, 1],
  [/[A-Z+=<>~#&^]/, 0.84],
  [/[\x20-\x7e]/, 0.65],
  [/[\u00a1-\u024f\u2010-\u2026]/, 0.95],
];
const [OTHER_EMS, PICTURE_EMS] = [1.1, 1.4];
const BOLD = 1.13;

interface Lettering {
  readonly fontPx: number;
  readonly isBold?: true;
}

/** An upper bound of the width of a text. */
export function textPx(text: string, { fontPx, isBold }: Lettering): number {
  const ems = [...text].reduce((sum, letter) => sum + emsOf(letter), 0);
  return ems * fontPx * (isBold ? BOLD : 1);
}

function emsOf(letter: string): number {
  const known = EMS.find(([letters]) => letters.test(letter));
  if (known !== undefined) return known[1];
  return (letter.codePointAt(0) ?? 0) > 0xffff ? PICTURE_EMS : OTHER_EMS;
}

interface Room extends Lettering {
  readonly px: number;
  readonly lines: number;
}

type Fitted = ReturnType<typeof fitted>;

/** Breaks a text into the available lines. A longer text is cut off with an ellipsis. */
export function fitted(text: string, room: Room) {
  const words = text
    .trim()
    .replaceAll(/[ \t\r\n]+/g, ' ')
    .split(/(?<= )|(?<=\p{L}[-/])(?=\p{L})/u);
  const isWide = (line: string): boolean => textPx(line.trimEnd(), room) > room.px;
  const pieces = words.flatMap((word) => (isWide(word) ? [...word] : [word]));
  const lines: string[] = [];
  let current = '';
  for (const piece of pieces) {
    if (current !== '' && isWide(current + piece)) {
      lines.push(current.trimEnd());
      current = '';
    }
    current += piece;
  }
  lines.push(current.trimEnd());
  /** No word was split and nothing was cut off. */
  const isWhole = pieces.length === words.length && lines.length <= room.lines;
  if (lines.length <= room.lines) return { lines, isWhole };
  const kept = lines.slice(0, room.lines);
  return { lines: [...kept.slice(0, -1), cut(kept.at(-1) ?? '', isWide)], isWhole };
}

function cut(line: string, isWide: (line: string) => boolean): string {
  const letters = [...line];
  while (letters.length > 0 && isWide(`${letters.join('')}…`)) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}
