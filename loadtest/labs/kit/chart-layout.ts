import { element, type Markup } from '../../../src/report/markup.ts';
import { linearScale, logTicks, roundTicks } from '../../../src/report/plot/frame.ts';
import type { Chart, Unit } from './finding.ts';
import { valueText } from './text.ts';

/** From values to heights. */
export interface ChartScale {
  readonly ticks: readonly Tick[];
  /** Pixels below the top of the drawing. */
  readonly at: (value: number) => number;
}

export interface Tick {
  readonly y: number;
  /** Absent where it would show a wrong value (0.5 of a count is not 1), repeat the tick below, or overlap it. */
  readonly text?: string;
}

const [TICKS, TICK_LINE_PX] = [5, 14];
/** Height of the lowest bar on a logarithmic axis. */
const BELOW_LOWEST = 0.7;
const [KIB, FEW_POWERS] = [1024, 6];

export function chartScale(chart: Chart, heightPx: number): ChartScale {
  const values = chart.series.flatMap((one) => one.values).filter((value) => value !== undefined && value > 0);
  const ticks = chart.isLog ? logarithmic(chart, values.filter(isKnown)) : linear(chart, values.filter(isKnown));
  const [from, to] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const scale = chart.isLog
    ? linearScale(Math.log(from), Math.log(to), heightPx, 0)
    : linearScale(from, to, heightPx, 0);
  const at = (value: number): number => scale.at(chart.isLog ? Math.log(Math.max(value, from)) : value);
  const shown: Tick[] = [];
  for (const tick of ticks) {
    const [y, text] = [at(tick), valueText(tick, chart.unit)];
    const below = shown.findLast((one) => one.text !== undefined);
    const hasRoom = below === undefined || (below.text !== text && below.y - y >= TICK_LINE_PX);
    shown.push({ y, ...(hasRoom && says(text, tick, chart.unit) && { text }) });
  }
  return { ticks: shown, at };
}

/** Whether a text was not rounded. Powers of ten come from units: 2,500 ms are 2.5 s, and a share of 0.2 is 20 %. */
function says(text: string, value: number, unit: Unit): boolean {
  // Steps of both are round in their own units, of 1024 and of 60.
  if (value === 0 || unit === 'bytes' || unit === 'bytes-per-second' || text.includes('min')) return true;
  if (/^[<>]/.test(text)) return false;
  const power = Math.log10(value / Number.parseFloat(text.replaceAll(',', '')));
  return Math.abs(power - Math.round(power)) < 1e-6;
}

/** A value that is not finite was not measured. */
export function isKnown(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value);
}

function linear({ unit }: Chart, values: readonly number[]): readonly number[] {
  const highest = Math.max(0, ...values);
  const isBytes = unit === 'bytes' || unit === 'bytes-per-second';
  const part = isBytes ? KIB ** Math.max(0, Math.floor(Math.log2(Math.max(1, highest)) / 10)) : 1;
  return roundTicks(highest / part, TICKS, unit === 'count').map((tick) => tick * part);
}

function logarithmic({ unit, shape }: Chart, values: readonly number[]): readonly number[] {
  const highest = values.length === 0 ? 1 : Math.max(...values);
  const lowest = (values.length === 0 ? 1 : Math.min(...values)) * (shape === 'bars' ? BELOW_LOWEST : 1);
  if (unit !== 'bytes' && unit !== 'bytes-per-second') return logTicks(lowest, highest);
  const [first, last] = [Math.floor(Math.log2(lowest)), Math.ceil(Math.log2(highest))];
  const step = Math.max(1, Math.ceil((last - first) / FEW_POWERS));
  const count = Math.max(1, Math.ceil((last - first) / step));
  return Array.from({ length: count + 1 }, (_, i) => 2 ** (first + i * step));
}

/** The names of the points of the axis, below the drawing. */
export interface PlaceNames {
  readonly drawn: readonly Markup[];
  readonly heightPx: number;
}

export interface PlaceOptions {
  readonly places: readonly string[];
  /** Distance of the first point from the left edge of the picture. */
  readonly startPx: number;
  /** Distance between two points. */
  readonly stepPx: number;
  readonly y: number;
}

const [FONT_PX, LINE_PX, BETWEEN_PX] = [12, 14.5, 10];
const [MOST_LINES, FEWEST_ROOM_PX] = [3, 20];
const TILT = 40;
const [SIN, COS] = [Math.sin((TILT * Math.PI) / 180), Math.cos((TILT * Math.PI) / 180)];
const [LONGEST_PX, EDGE_PX] = [190, 6];

/** Names in lines where whole words fit below their points, tilted otherwise: they never overlap. */
export function placeNames(options: PlaceOptions): PlaceNames {
  const room = { fontPx: FONT_PX, px: options.stepPx - BETWEEN_PX, lines: MOST_LINES };
  const names = options.places.map((place) => fitted(place, room));
  return room.px > FEWEST_ROOM_PX && names.every(({ isWhole }) => isWhole) ? level(options, names) : tilted(options);
}

function level({ startPx, stepPx, y }: PlaceOptions, names: readonly Fitted[]): PlaceNames {
  return {
    drawn: names.map(({ lines }, at) => {
      const x = startPx + at * stepPx;
      const parts = lines.map((line, i) => element('tspan', { x, dy: i === 0 ? undefined : LINE_PX }, line));
      return element('text', { class: 'place', x, y: y + LINE_PX }, parts);
    }),
    heightPx: Math.max(1, ...names.map(({ lines }) => lines.length)) * LINE_PX + 4,
  };
}

/** Each name ends below its point. Where there is no room for all names, every second point is named, or every third. */
function tilted({ places, startPx, stepPx, y }: PlaceOptions): PlaceNames {
  const every = Math.max(1, Math.ceil(LINE_PX / (stepPx * SIN)));
  const most = Math.min(MOST_LINES, Math.max(1, Math.floor((stepPx * every * SIN) / LINE_PX)));
  const names = places.flatMap((place, at) => {
    if (at % every !== 0) return [];
    const x = startPx + at * stepPx;
    const room = (x - EDGE_PX - most * LINE_PX * SIN) / COS;
    return [{ x, ...fitted(place, { fontPx: FONT_PX, px: Math.min(LONGEST_PX, room), lines: most }) }];
  });
  return {
    drawn: names.map(({ x, lines }) => {
      // Lines follow each other downwards and to the right: their middle is below the point.
      const left = x - ((lines.length - 1) * LINE_PX * SIN) / 2;
      return element(
        'text',
        {
          class: 'place tilted',
          transform: `translate(${left.toFixed(1)} ${(y + LINE_PX).toFixed(1)}) rotate(-${TILT})`,
        },
        lines.map((line, i) => element('tspan', { x: 0, dy: i === 0 ? undefined : LINE_PX }, line)),
      );
    }),
    heightPx: Math.max(0, ...names.map(({ lines }) => heightOf(lines))),
  };
}

function heightOf(lines: readonly string[]): number {
  const longest = Math.max(0, ...lines.map((line) => textPx(line, { fontPx: FONT_PX })));
  return longest * SIN + lines.length * LINE_PX * COS + LINE_PX;
}

/**
 * How wide letters are at most, in ems, among the fonts that a system is likely to choose (DejaVu Sans has the widest).
 * A drawing cannot measure its own text: the viewer chooses the fonts.
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

export interface Lettering {
  readonly fontPx: number;
  readonly isBold?: true;
}

/** An upper estimate of the width of a text. */
export function textPx(text: string, { fontPx, isBold }: Lettering): number {
  const ems = [...text].reduce((sum, letter) => sum + emsOf(letter), 0);
  return ems * fontPx * (isBold ? BOLD : 1);
}

function emsOf(letter: string): number {
  const known = EMS.find(([letters]) => letters.test(letter));
  if (known !== undefined) return known[1];
  return (letter.codePointAt(0) ?? 0) > 0xffff ? PICTURE_EMS : OTHER_EMS;
}

export interface Room extends Lettering {
  readonly px: number;
  readonly lines: number;
}

export interface Fitted {
  readonly lines: readonly string[];
  /** No word was split and nothing was left out. */
  readonly isWhole: boolean;
}

/** A text in the lines that fit; an ellipsis replaces the rest. */
export function fitted(text: string, room: Room): Fitted {
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
