import type { Clock } from '../clock.ts';

/** One timer for many waits. */
export interface Alarm {
  /** Rings at `atMs` or before: an earlier ring is kept, and who is woken asks for the next. Monotonic. */
  readonly atLatest: (atMs: number) => void;
  readonly clear: () => void;
}

export interface AlarmOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** `nowMs` is never before what was asked for: node rings up to a millisecond early by the monotonic clock. */
  readonly ring: (nowMs: number) => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createAlarm({ clock, ring }: AlarmOptions): Alarm {
  let dueAtMs = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const clear = (): void => {
    clearTimeout(timer);
    timer = undefined;
    dueAtMs = Number.POSITIVE_INFINITY;
  };

  return {
    atLatest: (atMs) => {
      if (atMs >= dueAtMs) return;
      clearTimeout(timer);
      dueAtMs = atMs;
      const delayMs = Math.min(Math.max(0, Math.ceil(atMs - clock.monotonicMs())), LONGEST_TIMER_MS);
      timer = setTimeout(() => {
        clear();
        ring(delayMs === LONGEST_TIMER_MS ? clock.monotonicMs() : Math.max(atMs, clock.monotonicMs()));
      }, delayMs);
    },
    clear,
  };
}
