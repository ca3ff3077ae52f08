import { LONG_TAIL_MIX } from './kit/queries.ts';
import { script } from './kit/script.ts';
import { ladder } from './kit/step.ts';

export const { options, setup, watch, handleSummary, search } = script({
  name: 'overload',
  purpose: 'Past saturation, with 45 % of the searches new: where it gives, and whether it refuses honestly there.',
  mix: LONG_TAIL_MIX,
  isEndless: true,
  slowSeconds: 0.4,
  steps: ({ baseRps, stepSeconds }) =>
    ladder({
      baseRps,
      multipliers: [0.5, 1, 1.5, 2, 3, 4],
      rampSeconds: 3,
      holdSeconds: stepSeconds(15),
      limits: { maxErrorRate: 0.001, abortErrorRate: 0.6, maxP99Ms: 1000, shedsAllowed: false },
    }),
});

export default search;
