import type { Clock } from '../runtime.ts';

/** Where a long task says how far it is: standard error, or a test's own. */
export interface ProgressOutput {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface ProgressOptions {
  /** What is being done: `indexing goods`. */
  readonly label: string;
  /** How many there will be; absent or 0 where nobody knows. */
  readonly total?: number;
  /** What is counted, in the plural. */
  readonly unit?: string;
  readonly output: ProgressOutput;
  readonly clock: Clock;
}

export interface Progress {
  /** `count` so far; `share` of the work done, 0–1, where there is no total. Cheap: most calls print nothing. */
  readonly update: (count: number, share?: number) => void;
  /** A line of its own beside the progress; the first `MAX_NOTES` are printed, the rest counted. */
  readonly note: (text: string) => void;
  /** The last line, printed once whatever became of the task: how many in which time. */
  readonly finish: () => void;
}

export const MAX_NOTES = 100;
const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/** Elsewhere than on a terminal: the first line after this long, then ever more seldom, so that a log stays short. */
const FIRST_LINE_MS = 3000;
const LONGEST_PAUSE_MS = 60_000;

export function createProgress({ label, total = 0, unit = 'documents', output, clock }: ProgressOptions): Progress {
  const startedMs = clock.monotonicMs();
  const isTerminal = output.isTTY === true;
  let count = 0;
  let share: number | undefined;
  let notes = 0;
  let pauseMs = isTerminal ? REDRAW_MS : FIRST_LINE_MS;
  let nextMs = startedMs + (isTerminal ? 0 : FIRST_LINE_MS);
  let isFinished = false;

  const state = (nowMs: number): string => {
    const seconds = Math.max(0.001, (nowMs - startedMs) / 1000);
    const counted = total > 0 ? `${grouped(count)} of ${grouped(total)}` : grouped(count);
    const rate = `${counted} ${unit}  ${grouped(Math.round(count / seconds))}/s`;
    if (share === undefined) return `${label}  ${rate}`;
    const picture = isTerminal ? `${bar(share)} ` : '';
    const left = share > 0 && share < 1 && seconds > 0.5 ? `  ${duration((seconds / share) * (1 - share))} left` : '';
    return `${label}  ${picture}${Math.floor(share * 100)} %  ${rate}${left}`;
  };
  // A line wider than the terminal would wrap, and the next redraw would leave its first half behind.
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
      if (!isTerminal) pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5);
      nextMs = nowMs + pauseMs;
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
      const seconds = (clock.monotonicMs() - startedMs) / 1000;
      draw(`${label}  ${grouped(count)} ${unit} in ${duration(seconds)}`);
      if (isTerminal) output.write('\n');
    },
  };
}

function bar(share: number): string {
  const filled = Math.round(share * BAR_WIDTH);
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
}

/** 3.2 s, 1:05 min, 2:00:09 h. */
function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  if (hours > 0) return `${hours}:${two(minutes)}:${two(whole % 60)} h`;
  return `${minutes}:${two(whole % 60)} min`;
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
