import { drilled } from './kit/drill.ts';
import { drillSteps } from './kit/drill-plan.ts';
import { script } from './kit/script.ts';

export const { options, setup, watch, operate, teardown, handleSummary, search } = script({
  ...drilled('full-loss', 'full-loss'),
  purpose: 'The whole cache of one domain lost at once under steady load: how deep it goes, and how soon it is over.',
  steps: ({ baseRps, stepSeconds }) =>
    drillSteps({
      lossName: 'loss',
      lossTitle: 'every key of the domain is missing',
      // A little more than the stage of the plan full-loss.
      lossSeconds: 35,
      ratePerSecond: baseRps,
      stepSeconds,
    }),
});

export default search;
