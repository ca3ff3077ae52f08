/** The cache is lost in stages under steady load, at x1 and at x3: does everybody still get an answer, and is it over soon? */
import { checkDrillable, operateDrills } from './kit/drill.ts';
import { endDrills } from './kit/drill-aftermath.ts';
import { drillRoom } from './kit/drill-room.ts';
import { SITE_MIX } from './kit/mixes.ts';
import { script } from './kit/script.ts';
import { inTurn } from './kit/step.ts';

const DRILLING = { script: 'flush-survival', plan: '1-5-25-100' };

const load = script({
  name: 'flush-survival',
  purpose: 'A staged flush of one domain under steady load, at x1 and at x3: who is refused, and how soon it is over.',
  mix: SITE_MIX,
  isWarmed: true,
  // The engine's deadline, and a little.
  slowSeconds: 1,
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
  prepare: (scene) => checkDrillable(scene, DRILLING),
  operator: (scene) => operateDrills(scene, DRILLING),
  teardown: endDrills,
});

export const { options, setup, watch, operate, teardown, handleSummary } = load;
export default load.search;
