/** The cache is lost in stages under steady load, at x1 and at x3: does everybody still get an answer, and is it over soon? */
import { drillRoom } from './kit/drill-room.ts';
import { drilled } from './kit/drilled.ts';
import { script } from './kit/script.ts';
import { inTurn } from './kit/step.ts';

const load = script({
  ...drilled({ script: 'flush-survival', plan: '1-5-25-100' }),
  purpose: 'A staged flush of one domain under steady load, at x1 and at x3: who is refused, and how soon it is over.',
  steps: ({ baseRps, stepSeconds }) =>
    inTurn(
      [1, 3].flatMap((multiplier) =>
        drillRoom({
          prefix: `x${multiplier}-`,
          lossName: 'flush',
          lossTitle: 'a growing share of the keys is missing',
          // The stages of 1-5-25-100, and half a second for each.
          lossSeconds: 60,
          ratePerSecond: baseRps * multiplier,
          stepSeconds,
        }),
      ),
    ),
});

export const { options, setup, watch, operate, teardown, handleSummary } = load;
export default load.search;
