import { script } from './kit/script.ts';

/** More users do not raise the rate: with 16 the answers queue already. */
const VUS = 32;

export const { options, setup, watch, handleSummary, search } = script({
  name: 'saturation',
  purpose: 'Warm searches in a closed loop, as fast as they are answered: x1 is an eighth of what goes.',
  baseRps: 1,
  // No new searches: only L1 and L2 answer.
  mix: { exponent: 1.04, offset: 10, onceShare: 0, pages: false },
  closedVus: VUS,
  steps: ({ stepSeconds }) => [
    { name: 'settle', title: 'settling', rampSeconds: 0, holdSeconds: 3, ratePerSecond: 0 },
    { name: 'full', title: 'as fast as it goes', rampSeconds: 0, holdSeconds: stepSeconds(10), ratePerSecond: 0 },
  ],
});

export default search;
