import { setTimeout as sleep } from 'node:timers/promises';
import { timedFrom } from '../../kit/driver/drive.ts';

/** Resolves when it was answered, broke or hung. @param dueMs from when on it is timed. */
export type Ask = (path: string, dueMs: number) => Promise<void>;

export interface AtRateOptions {
  readonly perSecond: number;
  readonly seconds: number;
  readonly nowMs: () => number;
  /** Between two looks at what is due: a millisecond unless said. */
  readonly pause?: () => Promise<unknown>;
}

/** Under way at one moment; what is due beyond is sent late and timed from when it was due. */
const MOST_AT_RATE = 512;

/** Open loop: paths in turn, each when it is due. Resolves when all are over. */
export async function atRate(paths: readonly string[], options: AtRateOptions, ask: Ask): Promise<void> {
  const { perSecond, seconds, nowMs, pause = () => sleep(1) } = options;
  const waiting = new Set<Promise<void>>();
  const startedMs = nowMs();
  const all = Math.max(1, Math.round(perSecond * seconds));
  for (let at = 0; at < all; ) {
    const dueMs = startedMs + (at * 1000) / perSecond;
    const now = nowMs();
    if (dueMs > now) await pause();
    else if (waiting.size >= MOST_AT_RATE) await Promise.race(waiting);
    else {
      const asked = ask(paths[at % paths.length] ?? '/', timedFrom(dueMs, now));
      waiting.add(asked);
      void asked.then(() => waiting.delete(asked));
      at += 1;
    }
  }
  await Promise.all(waiting);
}
