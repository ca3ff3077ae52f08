/** Nothing is cached, and all of x1 comes at once: how long is it until it is warm? */
import { CALM_LIMITS } from './kit/calm-limits.ts';
import { confirmFlush } from './kit/confirm-flush.ts';
import { flushFirst } from './kit/flush-first.ts';
import { SITE_MIX } from './kit/mixes.ts';
import { script } from './kit/script.ts';
import { inTurn } from './kit/step.ts';
import { readTarget } from './kit/target.ts';

confirmFlush(__ENV, readTarget(__ENV, true));

/** Where nothing is cached the engine may say no, but honestly. */
const COLD_LIMITS = { maxErrorRate: 0.001, abortErrorRate: 0.5, shedsAllowed: true };

const load = script({
  name: 'cold-start',
  purpose: 'Everything flushed for good, then x1 at once without a ramp: how long until it is warm.',
  mix: SITE_MIX,
  isWarmed: false,
  // The patience, and a little.
  slowSeconds: 2.2,
  prepare: (scene) => flushFirst(scene, 'cold-start'),
  steps: ({ baseRps: ratePerSecond, stepSeconds }) =>
    inTurn([
      {
        name: 'cold',
        title: 'nothing is cached',
        rampSeconds: 0,
        holdSeconds: stepSeconds(20),
        ratePerSecond,
        limits: COLD_LIMITS,
      },
      {
        name: 'warming',
        title: 'the head is cached',
        goesOn: true,
        rampSeconds: 0,
        holdSeconds: stepSeconds(40),
        ratePerSecond,
        limits: COLD_LIMITS,
      },
      {
        name: 'warm',
        title: 'as on any day',
        goesOn: true,
        rampSeconds: 0,
        holdSeconds: stepSeconds(30),
        ratePerSecond,
        limits: CALM_LIMITS,
      },
    ]),
});

export const { options, setup, watch, handleSummary } = load;
export default load.search;
