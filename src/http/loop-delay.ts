import type { Clock } from '../clock.ts';

export interface LoopDelay {
  /** How late the event loop runs, milliseconds, smoothed. */
  readonly currentMs: () => number;
  readonly close: () => void;
}

/** 0.2 % of a core; twice that at 20 ms, and no less by reading `monitorEventLoopDelay` ten times a second. */
const INTERVAL_MS = 50;
/** A lone pause of the collector counts half; a loop that is late again and again counts in full after a few samples. */
const WEIGHT = 0.5;

/**
 * Measures how late a timer comes. Each sample weighs half, so that after a stall of any length the value is back below
 * a threshold within a few samples: a stall of a minute is a millisecond after 16 of them, 0.8 s.
 */
export function createLoopDelay(clock: Clock, onSample: (nowMs: number) => void): LoopDelay {
  let delayMs = 0;
  let lastMs = clock.monotonicMs();
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    const late = Math.max(0, nowMs - lastMs - INTERVAL_MS);
    delayMs += (late - delayMs) * WEIGHT;
    lastMs = nowMs;
    onSample(nowMs);
  }, INTERVAL_MS);
  timer.unref();
  return { currentMs: () => delayMs, close: () => clearInterval(timer) };
}
