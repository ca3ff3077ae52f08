import { script } from './kit/script.ts';
import { ladder } from './kit/step.ts';

export const { options, setup, watch, handleSummary, search } = script({
  name: 'x-load',
  purpose: 'x1 to x5 of the base rate, warm: the last multiplier that holds, and what fills up on the way.',
  steps: ({ baseRps, stepSeconds }) => {
    const holdSeconds = stepSeconds(25);
    return [
      { name: 'warm', title: 'warming up', rampSeconds: 5, holdSeconds, ratePerSecond: baseRps },
      ...ladder({
        baseRps,
        multipliers: [1, 2, 3, 4, 5],
        rampSeconds: 5,
        holdSeconds,
        limits: { maxErrorRate: 0.001, abortErrorRate: 0.05, maxP99Ms: 500, minHitRatio: 0.88, shedsAllowed: false },
      }),
    ];
  },
});

export default search;
