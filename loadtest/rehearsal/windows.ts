import { setTimeout as sleep } from 'node:timers/promises';
import { processorMs } from '../stack/processors.ts';
import { type Answered, hitRatio, type Load } from './load.ts';

/** The load in a stretch of time, as its clients saw it, and its cost. */
export interface Window {
  readonly fromMs: number;
  readonly answers: readonly Answered[];
  readonly errors: number;
  readonly p99Ms: number;
  readonly hitRatio: number;
  /** Processor time of all replicas together. */
  readonly cpuMsPerSearch: number;
}

interface Watched {
  readonly load: Load;
  readonly pids: readonly number[];
}

export async function windowDuring<T>(
  { load, pids }: Watched,
  work: () => Promise<T>,
): Promise<Window & { readonly result: T }> {
  const fromMs = performance.now();
  const usedBeforeMs = usedMs(pids);
  const result = await work();
  const untilMs = performance.now();
  const used = usedMs(pids) - usedBeforeMs;
  const answers = load.answers.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  return {
    fromMs,
    answers,
    result,
    errors: answers.filter(isError).length,
    p99Ms: p99Of(answers),
    hitRatio: hitRatio(answers),
    cpuMsPerSearch: used / answers.length,
  };
}

export function windowOf(watched: Watched, ms: number): Promise<Window> {
  return windowDuring(watched, () => sleep(ms));
}

function usedMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + processorMs(pid), 0);
}

export function isError({ result }: Pick<Answered, 'result'>): boolean {
  return result === 'refused' || result === 'broken';
}

/** Nearest rank; NaN without answers. */
export function p99Of(answers: readonly Answered[]): number {
  const sorted = answers.map(({ sentMs, atMs }) => atMs - sentMs).sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(0.99 * sorted.length) - 1)] ?? Number.NaN;
}

const SLICE_MS = 1000;
const MIN_SLICE = 100;

/** The lowest hit ratio of a second with enough answers. */
export function worstSecond({ fromMs, answers }: Pick<Window, 'fromMs' | 'answers'>): number {
  const slices = Map.groupBy(answers, ({ atMs }) => Math.floor((atMs - fromMs) / SLICE_MS));
  return Math.min(...[...slices.values()].filter(({ length }) => length >= MIN_SLICE).map(hitRatio));
}

/** Windows without and with a shadow, in turns, so that a drift of the machine is in both. */
export type Compared = Awaited<ReturnType<typeof compareInTurns>>;

/** Off, on, on, off, off, on, on, off …: each pair is measured side by side, and neither always comes first. */
export async function compareInTurns(
  watched: Watched,
  { pairs, windowMs, settleMs }: { readonly pairs: number; readonly windowMs: number; readonly settleMs: number },
  turn: (isOn: boolean) => Promise<void>,
) {
  const found = { off: [] as Window[], on: [] as Window[] };
  let isOn: boolean | undefined;
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const next of pair % 2 === 0 ? [false, true] : [true, false]) {
      if (next !== isOn) await turn(next);
      isOn = next;
      await sleep(settleMs);
      found[next ? 'on' : 'off'].push(await windowOf(watched, windowMs));
    }
  }
  return found;
}

/**
 * The p99 with the shadow against the p99 without it, each over all windows of its kind. Relative: 0.05 is 5 % more.
 * `noise`: the difference between one half of the windows without a shadow and the other half.
 */
export function addedP99({ off, on }: Compared) {
  const pooled = (windows: readonly Window[]): number => p99Of(windows.flatMap(({ answers }) => answers));
  const [offMs, onMs] = [pooled(off), pooled(on)];
  const half = (rest: number): number => pooled(off.filter((_, at) => at % 2 === rest));
  return { offMs, onMs, added: onMs / offMs - 1, noise: Math.abs(half(0) - half(1)) / offMs };
}

/** Over several windows, weighted by their answers. */
export function cpuMsPerSearch(windows: readonly Window[]): number {
  const answers = windows.reduce((sum, { answers: own }) => sum + own.length, 0);
  return windows.reduce((sum, own) => sum + own.cpuMsPerSearch * own.answers.length, 0) / answers;
}
