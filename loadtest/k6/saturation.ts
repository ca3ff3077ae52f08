/** As many warm searches as this generator gets answered: what an eighth of is called x1. */
import { script } from './kit/script.ts';
import { inTurn } from './kit/step.ts';

/** More gain nothing: with 16 the answers queue already. */
const VUS = 32;

const load = script({
  name: 'saturation',
  purpose: 'Warm searches in a closed loop, as fast as they are answered: x1 is an eighth of what goes.',
  baseRps: 1,
  // Nothing new: L1 and L2 alone.
  mix: { exponent: 1.04, offset: 10, onceShare: 0, pages: false },
  isWarmed: true,
  closedVus: VUS,
  steps: ({ stepSeconds }) =>
    inTurn([
      { name: 'settle', title: 'settling', rampSeconds: 0, holdSeconds: 3, ratePerSecond: 0 },
      { name: 'full', title: 'as fast as it goes', rampSeconds: 0, holdSeconds: stepSeconds(10), ratePerSecond: 0 },
    ]),
});

export const { options, setup, watch, handleSummary } = load;
export default load.search;
