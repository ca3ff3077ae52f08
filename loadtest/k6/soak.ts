import { numberOf } from './kit/environment.ts';
import { script } from './kit/script.ts';
import { CALM_LIMITS } from './kit/step.ts';

const QUARTERS = ['first', 'second', 'third', 'last'] as const;

export const { options, setup, watch, handleSummary, search } = script({
  name: 'soak',
  purpose: 'x2 for a long time, in four equal quarters: whether latency or memory drift from one to the next.',
  steps: ({ baseRps, stepSeconds }) => {
    const ratePerSecond = baseRps * 2;
    const minutes = numberOf(__ENV, 'MINUTES', [0.1, 1440], 30);
    return [
      { name: 'warm', title: 'warming up', rampSeconds: 5, holdSeconds: stepSeconds(25), ratePerSecond },
      ...QUARTERS.map((which) => ({
        name: `${which}-quarter`,
        title: `the ${which} quarter`,
        goesOn: true as const,
        rampSeconds: 0,
        holdSeconds: stepSeconds((minutes * 60) / QUARTERS.length),
        ratePerSecond,
        limits: { ...CALM_LIMITS, minHitRatio: 0.88 },
      })),
    ];
  },
});

export default search;
