import type { Journal } from '../../src/operations/drills/journal.ts';
import type { Plan } from '../../src/operations/drills/plan.ts';
import { journalOf, STAGED } from './journal.ts';

/** One drill of each kind that operators will meet, by name. */
export const SCENES: Readonly<Record<string, () => Journal>> = {
  passed: () => journalOf(),
  'aborted-at-100': () =>
    journalOf({
      places: 16,
      end: {
        atMs: 156_000,
        verdict: {
          kind: 'aborted',
          detail: 'Aborted by anna@desk-12: enough seen.',
          resumable: { domain: 'goods', stage: 3 },
        },
      },
    }),
  'failed-by-guard': () => {
    const [, broken] = STAGED.guards;
    const detail = 'Shed searches 7.0 %, above 5 % for 2 s, in the stage of all keys.';
    return journalOf({
      ...{ places: 7, refillMs: 16_000 },
      end: {
        atMs: 153_500,
        verdict: { kind: 'failed', detail, resumable: { domain: 'goods', stage: 3 } },
        ...(broken && { broken }),
      },
    });
  },
  lost: () =>
    journalOf({
      end: {
        atMs: 96_000,
        verdict: { kind: 'lost', detail: 'The owner could not renew it; every process gave the cache back by itself.' },
      },
    }),
  refused: () =>
    journalOf({
      idleP99Ms: 890,
      end: {
        atMs: 30_000,
        verdict: { kind: 'refused', detail: 'p99Ms is 912, above 800, before anything was flushed.' },
      },
    }),
  'over-domains': () =>
    journalOf({
      plan: { ...STAGED, name: 'domain-by-domain', title: 'Every domain, one after another', over: 'domains' },
      domains: ['goods', 'auto', 'travel', 'books'],
    }),
  blackout: () => journalOf({ plan: BLACKOUT }),
  'node-by-node': () => journalOf({ plan: NODES }),
  'no-traffic': () => journalOf({ searchesPerSecond: 0, withPreview: false }),
  'little-traffic': () => journalOf({ searchesPerSecond: 9 }),
  'one-sample': () => journalOf({ end: { atMs: 500 }, withPreview: false }),
  'nothing-yet': () => journalOf({ end: { atMs: 0 }, withPreview: false }),
  running: () => journalOf({ end: { atMs: 118_000 } }),
  long: () =>
    journalOf({
      sampleMs: 1000,
      refillMs: 90_000,
      plan: {
        ...STAGED,
        baselineMs: 300_000,
        afterMs: 300_000,
        stages: STAGED.stages.map((stage) => ({ ...stage, holdMs: 846_250 })),
      },
    }),
};

const BLACKOUT: Plan = {
  ...STAGED,
  name: 'engine-blackout',
  title: 'The engine is away',
  stages: [{ kind: 'blackout', holdMs: 60_000, title: 'engine away' }],
};

const NODES: Plan = {
  ...STAGED,
  name: 'node-by-node',
  title: 'The store, node by node',
  mode: 'erase',
  eraseBy: 'flushall',
  stages: [0, 1, 2].map((node) => ({ kind: 'node', node, holdMs: 30_000 })),
};
