import { sleep } from 'k6';
import exec from 'k6/execution';
import { createAdmin, listOf, runMark, textsOf } from './kit/admin.ts';
import { confirmFlush, readTarget } from './kit/environment.ts';
import { say } from './kit/event.ts';
import { type RunContext, script } from './kit/script.ts';
import { CALM_LIMITS } from './kit/step.ts';

confirmFlush(__ENV, readTarget(__ENV, true));

/** With a cold cache the engine may refuse, but honestly. */
const COLD_LIMITS = { maxErrorRate: 0.001, abortErrorRate: 0.5, shedsAllowed: true };

export const { options, setup, watch, handleSummary, search } = script({
  name: 'cold-start',
  purpose: 'Everything flushed for good, then x1 at once without a ramp: how long until it is warm.',
  isCold: true,
  // A little more than the patience.
  slowSeconds: 2.2,
  prepare: flushAll,
  steps: ({ baseRps: ratePerSecond, stepSeconds }) => {
    const first = { rampSeconds: 0, ratePerSecond };
    const next = { ...first, goesOn: true } as const;
    return [
      { ...first, name: 'cold', title: 'nothing is cached', holdSeconds: stepSeconds(20), limits: COLD_LIMITS },
      { ...next, name: 'warming', title: 'the head is cached', holdSeconds: stepSeconds(40), limits: COLD_LIMITS },
      { ...next, name: 'warm', title: 'as on any day', holdSeconds: stepSeconds(30), limits: CALM_LIMITS },
    ];
  },
});

/** The time until every process follows the control document: each reads it twice a second. */
const SETTLE_SECONDS = 2;

/**
 * Flushes all domains of the queries permanently. The mode is `drop`, not `erase`: all entries miss at once, whatever the
 * size of the store. Ends the run if a domain could not be flushed, because it would be warm.
 */
function flushAll(run: RunContext): void {
  const admin = createAdmin(run.target);
  const known = admin('/admin/domains');
  if (!known.ok) exec.test.abort(`nothing could be flushed: ${known.fault}`);
  // A file without domains uses the default domain, which only the service knows: all domains are flushed.
  const all = known.ok ? textsOf(listOf(known.body, 'domains'), 'domain') : [];
  const domains = run.domains.length > 0 ? run.domains : all;
  for (const domain of domains) {
    const reply = admin('/admin/flush', { domain, mode: 'drop', reason: `cold-start, ${runMark(run)}` });
    if (!reply.ok) exec.test.abort(`${domain} could not be flushed: ${reply.fault}`);
    say({ kind: 'flush', text: `everything of ${domain}, for good` });
  }
  sleep(SETTLE_SECONDS);
}

export default search;
