import { script } from './kit/script.ts';
import { CALM_LIMITS } from './kit/step.ts';

const SPIKE_LIMITS = { maxErrorRate: 0.001, abortErrorRate: 0.5, shedsAllowed: true };

export const { options, setup, watch, handleSummary, search } = script({
  name: 'spike',
  purpose: 'x1, then x5 at once without a ramp, then x1 again: whether the spike is honest, and leaves nothing behind.',
  slowSeconds: 0.5,
  steps: ({ baseRps, stepSeconds }) => {
    const calm = { ratePerSecond: baseRps, limits: CALM_LIMITS };
    const spike = { ratePerSecond: baseRps * 5, limits: SPIKE_LIMITS };
    const atOnce = { goesOn: true, rampSeconds: 0 } as const;
    return [
      { ...calm, name: 'calm', title: 'as on any day', rampSeconds: 5, holdSeconds: stepSeconds(20) },
      { ...spike, ...atOnce, name: 'spike', title: 'five times as many at once', holdSeconds: stepSeconds(15) },
      { ...calm, ...atOnce, name: 'after', title: 'as before', holdSeconds: stepSeconds(30) },
    ];
  },
});

export default search;
