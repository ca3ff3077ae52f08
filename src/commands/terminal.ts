import type { Clock } from '../runtime.ts';

/** A stream for progress and remarks: standard error, or the output of a test. */
export interface ProgressOutput {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface ProgressOptions {
  /** The task: `indexing goods`. */
  readonly label: string;
  /** The final count; absent or 0 when it is unknown. */
  readonly total?: number;
  /** The unit of the count, in the plural. */
  readonly unit?: string;
  readonly output: ProgressOutput;
  readonly clock: Clock;
}

export interface Progress {
  /** `count` so far; `share` of the work done, 0–1, for a task without a total. Cheap: most calls print nothing. */
  readonly update: (count: number, share?: number) => void;
  /** Prints one line. The first `MAX_NOTES` notes are printed, the others are counted. */
  readonly note: (text: string) => void;
  /** Prints the last line: the count and the duration. Further calls do nothing. */
  readonly finish: () => void;
}

export const MAX_NOTES = 100;
const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/**
 * Without a terminal, the first line comes after this time and each interval is 1.5 times the last: a log stays short.
 */
const FIRST_LINE_MS = 3000;
const MAX_INTERVAL_MS = 60_000;

export function createProgress({ label, total = 0, unit = 'documents', output, clock }: ProgressOptions): Progress {
  const startedMs = clock.monotonicMs();
  const isTerminal = output.isTTY === true;
  let count = 0;
  let share: number | undefined;
  let notes = 0;
  let intervalMs = isTerminal ? REDRAW_MS : FIRST_LINE_MS;
  let nextMs = startedMs + (isTerminal ? 0 : FIRST_LINE_MS);
  let isFinished = false;

  const state = (nowMs: number): string => {
    const seconds = Math.max(0.001, (nowMs - startedMs) / 1000);
    const counted = total > 0 ? `${grouped(count)} of ${grouped(total)}` : grouped(count);
    const rate = `${counted} ${unit}  ${grouped(Math.round(count / seconds))}/s`;
    if (share === undefined) return `${label}  ${rate}`;
    const drawn = isTerminal ? `${bar(share)} ` : '';
    const left =
      share > 0 && share < 1 && seconds > 0.5 ? `  ${duration(((1000 * seconds) / share) * (1 - share))} left` : '';
    return `${label}  ${drawn}${Math.floor(share * 100)} %  ${rate}${left}`;
  };
  // A line wider than the terminal would wrap, and the next redraw would leave half of it on the screen.
  const fitted = (line: string): string => line.slice(0, Math.max(20, (output.columns || 80) - 1));
  const draw = (line: string): void => void output.write(isTerminal ? `\r\u001b[K${fitted(line)}` : `${line}\n`);

  return {
    update: (nextCount, nextShare) => {
      count = nextCount;
      share = total > 0 ? count / total : nextShare;
      if (share !== undefined) share = Math.min(1, Math.max(0, share));
      const nowMs = clock.monotonicMs();
      if (isFinished || nowMs < nextMs) return;
      draw(state(nowMs));
      if (!isTerminal) intervalMs = Math.min(MAX_INTERVAL_MS, intervalMs * 1.5);
      nextMs = nowMs + intervalMs;
    },
    note: (text) => {
      notes += 1;
      if (notes > MAX_NOTES) return;
      output.write(isTerminal ? `\r\u001b[K${text}\n` : `${text}\n`);
    },
    finish: () => {
      if (isFinished) return;
      isFinished = true;
      if (notes > MAX_NOTES)
        output.write(`${isTerminal ? '\r\u001b[K' : ''}… and ${grouped(notes - MAX_NOTES)} more\n`);
      draw(`${label}  ${grouped(count)} ${unit} in ${duration(clock.monotonicMs() - startedMs)}`);
      if (isTerminal) output.write('\n');
    },
  };
}

function bar(share: number): string {
  const filled = Math.round(share * BAR_WIDTH);
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
}

/** 12,345 */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** 0.0012 → 0.12 %; 0.895 → 89.5 % */
export function percent(share: number | undefined): string {
  if (share === undefined) return '–';
  const value = share * 100;
  const digits = value === 0 || Number.isInteger(Number(value.toFixed(6))) ? 0 : value < 1 ? 2 : 1;
  return `${value.toFixed(digits)} %`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  const scaled = value / 1024 ** power;
  return `${power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`;
}

/** 340 ms, 4.2 s, 3:05 min, 1:03:05 h */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const tail = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${tail} h` : `${minutes}:${tail} min`;
}

/** Time since a start: 0:07 min, 12:40 min. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}

/** A rate or a factor: one decimal below 10. */
export function figure(value: number | undefined): string {
  if (value === undefined) return '–';
  return value < 10 ? value.toFixed(1) : grouped(value);
}

export function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

/** `2026-11-21 06:43:48Z` */
export function moment(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** The kind of a drill's verdict as text: `not measured`. */
export function verdictText(kind: string): string {
  return kind.replaceAll('-', ' ');
}

/** Rows as text in columns, each as wide as its widest cell. Columns of numbers are aligned to the right. */
export function columns(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const all = head === undefined ? rows : [head, ...rows];
  const count = Math.max(0, ...all.map(({ length }) => length));
  const widths = Array.from({ length: count }, (_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))));
  const toRight = widths.map((_, i) => rows.every((row) => /^$|^[–\d.,]+( [%\p{L}]+)?$/u.test(row[i] ?? '')));
  return all
    .map((row) =>
      row
        .map((cell, i) => {
          const space = ' '.repeat((widths[i] ?? 0) - widthOf(cell));
          return toRight[i] ? space + cell : cell + space;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function widthOf(text: string): number {
  return [...text].length;
}

export function indented(text: string, by = '  '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n');
}

/** Removes control characters: a query, a reason or an id must not move the cursor or colour the terminal. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Bidi_Control}/gu, '·');
}
