import { script } from './kit/script.ts';

export const { options, setup, watch, handleSummary, search } = script({
  name: 'smoke',
  purpose: 'A few searches a second, every answer looked at: is it there, and does it do what it says?',
  baseRps: 20,
  sample: 1,
  isCold: true,
  slowSeconds: 2,
  steps: ({ baseRps, stepSeconds }) => [
    {
      name: 'smoke',
      title: 'a steady trickle',
      rampSeconds: 0,
      holdSeconds: stepSeconds(10),
      ratePerSecond: baseRps,
      limits: { maxErrorRate: 0, abortErrorRate: 0.5, shedsAllowed: false },
    },
  ],
});

export default search;
