/** The same searches a second, one to fifty in a request: what does a batch save, and what does it keep waiting? */
import { sendBatch } from './kit/batch-send.ts';
import { CALM_LIMITS } from './kit/calm-limits.ts';
import { SITE_MIX } from './kit/mixes.ts';
import { script } from './kit/script.ts';
import { inTurn, type StepWish } from './kit/step.ts';

/** A batch is as slow as the slowest of its searches, so its latency has no limit that would fit all sizes. */
const { maxErrorRate, abortErrorRate, shedsAllowed } = CALM_LIMITS;
const SIZES = [1, 5, 10, 25, 50];

const load = script({
  name: 'batch',
  purpose: 'The same searches a second in batches of 1 to 50: what a batch saves, and what it keeps waiting.',
  mix: SITE_MIX,
  isWarmed: true,
  slowSeconds: 1,
  steps: ({ baseRps, stepSeconds }) => {
    const of = (size: number): StepWish => ({
      name: `by-${size}`,
      title: size === 1 ? 'one search a request' : `${size} searches a request`,
      rampSeconds: 5,
      holdSeconds: stepSeconds(20),
      ratePerSecond: baseRps / size,
      searchesPerRequest: size,
      limits: { maxErrorRate, abortErrorRate, shedsAllowed },
    });
    // Without limits, and in no size of its own: the first size should not pay for the others.
    const { limits, ...warm } = of(10);
    return inTurn([{ ...warm, name: 'warm', title: 'warming up' }, ...SIZES.map(of)]);
  },
  send: sendBatch,
});

export const { options, setup, watch, handleSummary } = load;
export default load.search;
