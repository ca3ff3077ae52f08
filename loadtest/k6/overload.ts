/** Past saturation, with a long tail of new searches, until more than half are refused: where does it break, and how? */
import { ladder } from './kit/ladder.ts';
import { LONG_TAIL_MIX } from './kit/mixes.ts';
import { script } from './kit/script.ts';
import { inTurn } from './kit/step.ts';

const load = script({
  name: 'overload',
  purpose: 'Past saturation, with 45 % of the searches new: where it gives, and whether it refuses honestly there.',
  mix: LONG_TAIL_MIX,
  isWarmed: true,
  isEndless: true,
  slowSeconds: 0.4,
  steps: ({ baseRps, stepSeconds }) =>
    inTurn(
      ladder({
        baseRps,
        multipliers: [0.5, 1, 1.5, 2, 3, 4],
        rampSeconds: 3,
        holdSeconds: stepSeconds(15),
        limits: { maxErrorRate: 0.001, abortErrorRate: 0.6, maxP99Ms: 1000, shedsAllowed: false },
      }),
    ),
});

export const { options, setup, watch, handleSummary } = load;
export default load.search;
