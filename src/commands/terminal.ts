import { isatty } from 'node:tty';
import { countText, durationText, GAP } from '../report/format.ts';
import type { Clock } from '../runtime.ts';

/** A stream for progress and remarks: standard error, or the output of a test. */
export interface ProgressOutput {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** In a clone there is no program `serpcache`: commands in texts for people become those of npm. */
export function withHints(output: ProgressOutput): ProgressOutput {
  const { isTTY, columns } = output;
  const hint = /(?<=(?:: |`|\())serpcache (?=[a-z])/g;
  return { isTTY, columns, write: (text) => output.write(text.replaceAll(hint, 'npm run serpcache -- ')) };
}

/** Standard error, for a service: without a reader, or on a full disk, it takes nothing and ends nothing. */
export function openRemarks(): ProgressOutput {
  const { stderr } = process;
  stderr.on('error', () => {});
  return {
    isTTY: stderr.isTTY,
    columns: stderr.columns,
    write: (text) => {
      try {
        stderr.write(text);
      } catch {
        // Thrown by a file only; a pipe reports to the listener.
      }
    },
  };
}

/** Whether the process was started in a terminal, and without nohup. To be asked before the terminal may be closed. */
export function hasTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor));
}

export interface ProgressOptions {
  /** The task: `indexing goods`. */
  readonly label: string;
  /** The final count; absent or 0 when it is unknown. */
  readonly total?: number;
  /** The unit of the count, in the plural. */
  readonly unit?: string;
  /** Text after the rate. */
  readonly more?: () => string;
  readonly output: ProgressOutput;
  readonly clock: Clock;
}

export type Progress = ReturnType<typeof createProgress>;

export const MAX_NOTES = 100;
const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/**
 * Without a terminal, the first line comes after this time and each interval is 1.5 times the last: a log stays short.
 */
const FIRST_LINE_MS = 3000;
const MAX_INTERVAL_MS = 60_000;

export function createProgress({ label, total = 0, unit = 'documents', more, output, clock }: ProgressOptions) {
  const startedMs = clock.monotonicMs();
  const isTerminal = output.isTTY === true;
  const clear = isTerminal ? '\r\u001b[K' : '';
  let count = 0;
  let share: number | undefined;
  let notes = 0;
  let intervalMs = isTerminal ? REDRAW_MS : FIRST_LINE_MS;
  let nextMs = startedMs + (isTerminal ? 0 : FIRST_LINE_MS);
  let isFinished = false;

  const state = (nowMs: number): string => {
    const seconds = Math.max(0.001, (nowMs - startedMs) / 1000);
    const counted = total > 0 ? `${countText(count)} of ${countText(total)}` : countText(count);
    const rate = `${counted} ${unit}  ${countText(count / seconds)}/s${more?.() ?? ''}`;
    if (share === undefined) return `${label}  ${rate}`;
    const drawn = isTerminal ? `${bar(share)} ` : '';
    const left =
      share > 0 && share < 1 && seconds > 0.5 ? `  ${durationText(((1000 * seconds) / share) * (1 - share))} left` : '';
    return `${label}  ${drawn}${Math.floor(share * 100)} %  ${rate}${left}`;
  };
  // A line wider than the terminal would wrap, and the next redraw would leave half of it on the screen.
  const fitted = (line: string): string => line.slice(0, Math.max(20, (output.columns || 80) - 1));
  const draw = (line: string): void =>
    void output.write(plainSpaces(isTerminal ? `${clear}${fitted(line)}` : `${line}\n`));

  const remark = (text: string): void => void output.write(`${clear}${text}\n`);

  return {
    /** `count` so far; `share` of the work done, 0–1, for a task without a total. Cheap: most calls print nothing. */
    update: (nextCount: number, nextShare?: number): void => {
      count = nextCount;
      share = total > 0 ? count / total : nextShare;
      if (share !== undefined) share = Math.min(1, Math.max(0, share));
      const nowMs = clock.monotonicMs();
      if (isFinished || nowMs < nextMs) return;
      draw(state(nowMs));
      if (!isTerminal) intervalMs = Math.min(MAX_INTERVAL_MS, intervalMs * 1.5);
      nextMs = nowMs + intervalMs;
    },
    /** Prints one line. The first `MAX_NOTES` notes are printed, the others are counted. */
    note: (text: string): void => {
      notes += 1;
      if (notes <= MAX_NOTES) remark(text);
    },
    /** Prints one line, whatever was printed before. */
    remark,
    /** Prints the last line: the count and the duration. Further calls do nothing. */
    finish: (): void => {
      if (isFinished) return;
      isFinished = true;
      if (notes > MAX_NOTES) output.write(`${clear}… and ${countText(notes - MAX_NOTES)} more\n`);
      draw(`${label}  ${countText(count)} ${unit} in ${durationText(clock.monotonicMs() - startedMs)}`);
      if (isTerminal) output.write('\n');
    },
  };
}

function bar(share: number): string {
  const filled = Math.round(share * BAR_WIDTH);
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
}

/** Rows as text in columns, each as wide as its widest cell. Columns of numbers are aligned to the right. */
export function columns(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const all = head === undefined ? rows : [head, ...rows];
  const count = Math.max(0, ...all.map(({ length }) => length));
  const widths = Array.from({ length: count }, (_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))));
  const toRight = widths.map((_, i) => rows.every((row) => /^$|^[–\d.,]+(\s[%×\p{L}]+)?$/u.test(row[i] ?? '')));
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

/**
 * Removes control characters: a query, a reason or an id must not move the cursor or colour the terminal. Spaces inside
 * figures become plain ones, so that a search in the output finds them.
 */
export function printable(text: string): string {
  return plainSpaces(text.replace(/[^\P{Cc}\n]|\p{Bidi_Control}/gu, '·'));
}

function plainSpaces(text: string): string {
  return text.replaceAll(GAP, ' ');
}

interface Greeting {
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** The file of the configuration; empty for the demo. */
  readonly config: string;
  /** The file with the token of the demo. */
  readonly tokenFile?: string;
  /** No token is set, so that nothing can be changed. */
  readonly isReadOnly: boolean;
}

/** The addresses of a service that has started, for the person at the terminal. */
export function greeting({ publicUrl, adminUrl, config, tokenFile, isReadOnly }: Greeting): string {
  const changes = isReadOnly ? '   (to change things there: ADMIN_TOKEN=… npm start)' : '';
  return [
    '',
    `  configuration ${config || 'none: the demo. Your own: npm run serpcache -- init'}`,
    `  search page   ${publicUrl}/`,
    `  search API    ${publicUrl}/search?q=${config === '' ? 'iphone+13' : '…'}`,
    `  API docs      ${publicUrl}/docs`,
    `  metrics       ${adminUrl}/metrics`,
    `  console       ${adminUrl}/ops${tokenFile === undefined ? changes : `   (its token is in ${tokenFile})`}`,
    '',
    '',
  ].join('\n');
}
