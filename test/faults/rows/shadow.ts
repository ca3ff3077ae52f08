import { setTimeout as sleep } from 'node:timers/promises';
import { newToken } from '../../../loadtest/stack/plan.ts';
import { createAdminClient } from '../../../src/commands/admin-client.ts';
import type { Placement } from '../../../src/control/document.ts';
import type { ShadowSummary } from '../../../src/operations/shadow/shadow.ts';
import { until } from '../../until.ts';
import { CANDIDATE } from '../configuration.ts';
import { allEffects, faultEffect, grew, processesAre } from '../fault-effects.ts';
import { echo } from '../probes.ts';
import type { FaultEffect, Harness, Row } from '../row.ts';
import type { SubjectStore } from '../stores.ts';

/** Changes by an operator need one. */
const TOKEN = newToken();
const ECHO_MS = 300;
/** Copies are on their way, and their reads have been compared. */
const SHADOWED_MS = 1500;
/** The candidate has three nodes, and the subject two connections to each; the checks before the copies open more. */
const MAX_CANDIDATE_CONNECTIONS = 60;

/** No reply passes the proxies of the candidate, and copies fail for it: they are made. */
const candidateIsSilent: FaultEffect = allEffects(
  faultEffect(
    'bytes of a reply of the candidate',
    (harness) =>
      Promise.all(candidateOf(harness).addresses.map(async (address) => (await echo(address, 1, ECHO_MS)).bytes)),
    (before, during) => before.every((bytes) => bytes > 0) && during.every((bytes) => bytes === 0),
  ),
  grew('copies that failed', async ({ subject }) => [
    await subject.metric('serpcache_shadow_copies_total', { outcome: 'failed' }),
  ]),
);

const isCommitted: FaultEffect = faultEffect(
  'phase of the cut-over and active store',
  async (harness) => {
    const { placement, active } = await summaryOf(harness);
    return [placement?.phase ?? 'none', active.name] as const;
  },
  ([before], during) => before === 'none' && during[0] === 'committed' && during[1] === CANDIDATE,
);

/** Faults of a candidate store, while it gets copies and while it becomes the store. */
export const SHADOW: readonly Row[] = [
  {
    name: 'candidate-black-hole',
    store: 'shadowed',
    changes: { admin: { token: TOKEN } },
    summary: 'a candidate that swallows everything costs searches nothing, and holds a bounded number of copies',
    faultMs: 5000,
    begin: async (harness) => {
      await startShadow(harness);
      await sleep(SHADOWED_MS);
      for (const proxy of candidateOf(harness).tcp) proxy.pause();
    },
    end: async (harness) => {
      for (const proxy of candidateOf(harness).tcp) proxy.resume();
      await operatorOf(harness).post('/admin/shadow/stop', { domain: DOMAIN });
    },
    effect: candidateIsSilent,
    bounds: { hitRatioDuring: 0.97 },
    check: (_report, harness) => {
      const opened = candidateOf(harness).opened() ?? 0;
      if (opened === 0) return { unmeasured: ['connections to the candidate'] };
      return opened > MAX_CANDIDATE_CONNECTIONS ? { broken: [`${opened} connections to the candidate`] } : {};
    },
  },
  {
    name: 'candidate-killed',
    store: 'shadowed',
    changes: { admin: { token: TOKEN } },
    summary:
      'a candidate that dies in the moment of the cut-over costs no page: the old store is read, and one call leads back',
    faultMs: 5000,
    begin: async (harness) => {
      await startShadow(harness);
      await sleep(SHADOWED_MS);
      // Its answer comes after the processes have followed; the candidate dies before.
      const moving = operatorOf(harness).post('/admin/shadow/cut-over', { domain: DOMAIN, force: true, reason });
      await Promise.all([
        moving,
        (async () => {
          await Promise.race([moving, until('the commit', async () => (await phaseOf(harness)) === 'committed')]);
          await Promise.all(candidateOf(harness).nodes.map((node) => node.kill()));
        })(),
      ]);
    },
    end: async (harness) => {
      const operator = operatorOf(harness);
      await operator.post('/admin/shadow/back', { domain: DOMAIN, reason });
      await Promise.all(candidateOf(harness).nodes.map((node) => node.restart()));
      await until('the end of the cut-over', async () => {
        await operator.post('/admin/shadow/stop', { domain: DOMAIN });
        return (await phaseOf(harness)) === undefined;
      });
    },
    effect: allEffects(
      isCommitted,
      processesAre('gone', (harness) => candidateOf(harness).nodes.map((node) => node.pid())),
    ),
    bounds: { hitRatioDuring: 0.97 },
  },
];

const DOMAIN = 'goods';
const reason = 'fault matrix';

function candidateOf(harness: Harness): SubjectStore {
  const { shadowed } = harness.store();
  if (shadowed === undefined) throw new Error('the store of this row has no candidate');
  return shadowed.candidate;
}

function operatorOf({ subject }: Harness): ReturnType<typeof createAdminClient> {
  const { signal } = new AbortController();
  return createAdminClient({ base: new URL(subject.adminUrl), token: TOKEN, operator: 'matrix', signal });
}

async function startShadow(harness: Harness): Promise<void> {
  await operatorOf(harness).post('/admin/shadow', { domain: DOMAIN, candidate: CANDIDATE, fraction: 1, reads: 3 });
}

async function summaryOf(harness: Harness): Promise<ShadowSummary> {
  const { domains } = await operatorOf(harness).get<{ readonly domains: readonly ShadowSummary[] }>('/admin/shadow');
  const [found] = domains;
  if (found === undefined) throw new Error('the subject has no store');
  return found;
}

async function phaseOf(harness: Harness): Promise<Placement['phase'] | undefined> {
  return (await summaryOf(harness)).placement?.phase;
}
