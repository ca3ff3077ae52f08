import { drilled } from './kit/drill.ts';
import { drillSteps } from './kit/drill-plan.ts';
import { script } from './kit/script.ts';

export const { options, setup, watch, operate, teardown, handleSummary, search } = script({
  ...drilled('flush-survival', '1-5-25-100'),
  purpose: 'A staged flush of one domain under steady load, at x1 and at x3: who is refused, and how soon it is over.',
  steps: ({ baseRps, stepSeconds }) =>
    [1, 3].flatMap((multiplier) =>
      drillSteps({
        prefix: `x${multiplier}-`,
        lossName: 'flush',
        lossTitle: 'a growing share of the keys is missing',
        // The stages of the plan 1-5-25-100, with half a second for each.
        lossSeconds: 60,
        ratePerSecond: baseRps * multiplier,
        stepSeconds,
      }),
    ),
});

export default search;
