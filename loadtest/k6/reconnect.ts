/** The same searches over connections that are kept, and closed after every 70th, 5th and each of them: what does it cost? */
import exec from 'k6/execution';
import { CALM_LIMITS } from './kit/calm-limits.ts';
import { SITE_MIX } from './kit/mixes.ts';
import { script } from './kit/script.ts';
import { sendSearch } from './kit/send.ts';
import { inTurn } from './kit/step.ts';

/** By the step's name: of so many requests of a connection, one is its last. */
const CLOSE_EVERY: Readonly<Record<string, number>> = { 'every-70th': 70, 'every-5th': 5, 'every-one': 1 };

/** Without a divisor in common with any of them. */
const APART = 37;

const STEPS = [
  { name: 'warm', title: 'warming up' },
  { name: 'kept', title: 'connections are kept' },
  { name: 'every-70th', title: 'every 70th request closes its connection' },
  { name: 'every-5th', title: 'every fifth request closes its connection' },
  { name: 'every-one', title: 'each request has a connection of its own' },
];

const load = script({
  name: 'reconnect',
  purpose:
    'The same rate over connections closed more and more often. Published of another site: 60 to 190 ms where they are kept, 600 ms with every fifth closed, more than a second with each.',
  mix: SITE_MIX,
  isWarmed: true,
  slowSeconds: 0.5,
  steps: ({ baseRps, stepSeconds }) =>
    inTurn(
      STEPS.map((step) => ({
        ...step,
        // How connections were treated in the step before is forgotten first.
        rampSeconds: 5,
        holdSeconds: stepSeconds(20),
        ratePerSecond: baseRps,
        ...(step.name === 'warm' ? {} : { limits: CALM_LIMITS }),
      })),
    ),
  send: ({ baseUrl, step, number, ask, isSampled }) => {
    const every = CLOSE_EVERY[step.name];
    // A virtual user has one connection. Not all of them close theirs at the same moment: each begins its count elsewhere.
    const isLast = every !== undefined && (exec.vu.iterationInScenario + exec.vu.idInTest * APART) % every === 0;
    const sending = { shedsAllowed: step.limits?.shedsAllowed === true, isSampled };
    sendSearch(baseUrl, ask(number), isLast ? { ...sending, headers: { connection: 'close' } } : sending);
  },
});

export const { options, setup, watch, handleSummary } = load;
export default load.search;
