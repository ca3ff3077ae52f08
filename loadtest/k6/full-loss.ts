/** Everything is lost at once under steady load: how deep does it go, and how soon is it over? */
import { drillRoom } from './kit/drill-room.ts';
import { drilled } from './kit/drilled.ts';
import { script } from './kit/script.ts';
import { inTurn } from './kit/step.ts';

const load = script({
  ...drilled({ script: 'full-loss', plan: 'full-loss' }),
  purpose: 'The whole cache of one domain lost at once under steady load: how deep it goes, and how soon it is over.',
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
});

export const { options, setup, watch, operate, teardown, handleSummary } = load;
export default load.search;
