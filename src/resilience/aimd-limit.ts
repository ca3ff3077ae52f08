import type { Limit, LimitOptions } from './limit.ts';
import { createSampleWindows } from './sample-window.ts';

export interface AimdLimitOptions extends LimitOptions {
  /** An answer that took longer counts as lost: who waited for it has hardly any time left. */
  readonly slowMs: number;
}

const START = 4;
/** Of a window: a larger part lost means too many at once; a few costly searches do not. */
const TOLERATED_LOSS = 0.2;
const DECREASE = 0.8;

/** One more per window without losses while it is used, a fifth less per window with them: the limit is found by overrunning it. */
export function createAimdLimit(options: AimdLimitOptions): Limit {
  const { ceiling, monotonicMs, slowMs } = options;
  let limit = START;
  const windows = createSampleWindows({ monotonicMs, minCalls: () => Math.max(8, 2 * limit) });
  const bounded = (wanted: number): number => Math.max(1, Math.min(wanted, Math.floor(ceiling())));

  return {
    current: () => Math.floor(bounded(limit)),
    sample: (call) => {
      const isSlow = call.result === 'answered' && call.durationMs > slowMs;
      const window = windows.add(isSlow ? { ...call, result: 'lost' } : call);
      if (window === undefined) return;
      const isOver = window.lost > TOLERATED_LOSS * (window.lost + window.answered);
      const isUsed = window.mostInFlight >= Math.floor(bounded(limit));
      limit = bounded(isOver ? limit * DECREASE : isUsed ? limit + 1 : limit);
    },
  };
}
