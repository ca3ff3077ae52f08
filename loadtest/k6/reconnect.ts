import exec from 'k6/execution';
import { script } from './kit/script.ts';
import { sendSearch } from './kit/send.ts';
import { CALM_LIMITS } from './kit/step.ts';

/** The number of requests per connection, by the step's name. */
const CLOSE_EVERY: Readonly<Record<string, number>> = { 'every-70th': 70, 'every-5th': 5, 'every-one': 1 };

/** Coprime to these numbers. */
const APART = 37;

const STEPS = [
  { name: 'warm', title: 'warming up' },
  { name: 'kept', title: 'connections are kept' },
  { name: 'every-70th', title: 'every 70th request closes its connection' },
  { name: 'every-5th', title: 'every fifth request closes its connection' },
  { name: 'every-one', title: 'each request has a connection of its own' },
];

export const { options, setup, watch, handleSummary, search } = script({
  name: 'reconnect',
  purpose:
    'The same rate over connections closed more and more often. Published of another site: 60 to 190 ms where they are kept, 600 ms with every fifth closed, more than a second with each.',
  slowSeconds: 0.5,
  steps: ({ baseRps, stepSeconds }) =>
    STEPS.map((step) => ({
      ...step,
      // The connections of the step before end during the ramp.
      rampSeconds: 5,
      holdSeconds: stepSeconds(20),
      ratePerSecond: baseRps,
      limits: step.name === 'warm' ? undefined : CALM_LIMITS,
    })),
  send: ({ baseUrl, step, number, ask, shedsAllowed, isSampled }) => {
    const every = CLOSE_EVERY[step.name];
    // A virtual user has one connection. Each begins its count at another number, so that they do not close all at once.
    const isLast = every !== undefined && (exec.vu.iterationInScenario + exec.vu.idInTest * APART) % every === 0;
    const headers = isLast ? { connection: 'close' } : undefined;
    sendSearch(baseUrl, ask(number), { shedsAllowed, isSampled, headers });
  },
});

export default search;
