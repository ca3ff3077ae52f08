/** Everything is lost at once under steady load: how deep does it go, and how soon is it over? */
import { checkDrillable, operateDrills } from './kit/drill.ts';
import { endDrills } from './kit/drill-aftermath.ts';
import { drillRoom } from './kit/drill-room.ts';
import { SITE_MIX } from './kit/mixes.ts';
import { script } from './kit/script.ts';
import { inTurn } from './kit/step.ts';

const DRILLING = { script: 'full-loss', plan: 'full-loss' };

const load = script({
  name: 'full-loss',
  purpose: 'The whole cache of one domain lost at once under steady load: how deep it goes, and how soon it is over.',
  mix: SITE_MIX,
  isWarmed: true,
  // The engine's deadline, and a little.
  slowSeconds: 1,
  steps: ({ baseRps, stepSeconds }) =>
    inTurn(
      drillRoom({
        lossName: 'loss',
        lossTitle: 'every key of the domain is missing',
        // The stage of full-loss, and a little.
        lossSeconds: 35,
        ratePerSecond: baseRps,
        stepSeconds,
      }),
    ),
  prepare: (scene) => checkDrillable(scene, DRILLING),
  operator: (scene) => operateDrills(scene, DRILLING),
  teardown: endDrills,
});

export const { options, setup, watch, operate, teardown, handleSummary } = load;
export default load.search;
