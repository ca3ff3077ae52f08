/** Five times the rate at once, without a ramp, then the first rate again: does the service recover? */

import { SITE_MIX } from './kit/queries.ts';
import { script } from './kit/script.ts';
import { CALM_LIMITS } from './kit/step.ts';

const load = script({
  name: 'spike',
  purpose: 'x1, then x5 at once without a ramp, then x1 again: whether the spike is honest, and leaves nothing behind.',
  mix: SITE_MIX,
  isWarmed: true,
  slowSeconds: 0.5,
  steps: ({ baseRps, stepSeconds }) => [
    {
      name: 'calm',
      title: 'as on any day',
      rampSeconds: 5,
      holdSeconds: stepSeconds(20),
      ratePerSecond: baseRps,
      limits: CALM_LIMITS,
    },
    {
      name: 'spike',
      title: 'five times as many at once',
      goesOn: true,
      rampSeconds: 0,
      holdSeconds: stepSeconds(15),
      ratePerSecond: baseRps * 5,
      limits: { maxErrorRate: 0.001, abortErrorRate: 0.5, shedsAllowed: true },
    },
    {
      name: 'after',
      title: 'as before',
      goesOn: true,
      rampSeconds: 0,
      holdSeconds: stepSeconds(30),
      ratePerSecond: baseRps,
      limits: CALM_LIMITS,
    },
  ],
});

export const { options, setup, watch, handleSummary } = load;
export default load.search;
