import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperationError } from '../../../src/control/operation-error.ts';
import type { StartRequest } from '../../../src/operations/drills/drills.ts';
import { figuresBetween } from '../../../src/operations/meter/figures.ts';
import { pluck } from '../../pluck.ts';
import { createDrillHarness, type DrillHarnessOptions, planOf, previewOf } from './harness.ts';

const ASK: StartRequest = { plan: 'canary', domains: ['goods'], by: 'anna', reason: 'rehearsal' };
const NODE = { name: 'n', stages: [{ kind: 'node', node: 5, holdMs: 1000 }] };

const BAD: readonly {
  readonly what: string;
  readonly ask: Partial<Record<keyof StartRequest, unknown>>;
  readonly harness?: DrillHarnessOptions;
  readonly code: string;
  readonly parameter?: string;
}[] = [
  { what: 'an unknown plan', ask: { plan: 'nuke' }, code: 'unknown-plan', parameter: '/plan' },
  { what: 'an unknown domain', ask: { domains: ['gods'] }, code: 'unknown-domain', parameter: '/domains' },
  { what: 'no domain of several', ask: { domains: undefined }, code: 'invalid-request', parameter: '/domains' },
  { what: 'an empty list of domains', ask: { domains: [] }, code: 'invalid-request', parameter: '/domains' },
  { what: 'two domains for a plan of one', ask: { domains: ['goods', 'auto'] }, code: 'invalid-request' },
  { what: 'a plan that is no plan', ask: { plan: 7 }, code: 'invalid-plan', parameter: '/plan' },
  {
    what: 'a plan without stages',
    ask: { plan: { name: 'x', stages: [] } },
    code: 'invalid-plan',
    parameter: '/plan/stages',
  },
  {
    what: 'fractions that fall',
    ask: { plan: { name: 'x', stages: [0.5, 0.2].map((fraction) => ({ kind: 'fraction', fraction, holdMs: 1000 })) } },
    code: 'invalid-plan',
    parameter: '/plan/stages/1/fraction',
  },
  {
    what: 'a time in words',
    ask: { plan: { name: 'x', stages: [{ fraction: 1, holdMs: '10s' }] } },
    code: 'invalid-plan',
    parameter: '/plan/stages/0/holdMs',
  },
  { what: 'nodes without a store', ask: { plan: 'node-by-node' }, code: 'no-store', parameter: '/plan/stages/0' },
  {
    what: 'a node the store does not have',
    ask: { plan: NODE },
    harness: { nodes: ['a:1'] },
    code: 'invalid-plan',
    parameter: '/plan/stages/0/node',
  },
  {
    what: 'FLUSHALL on a store that is not dedicated',
    ask: { plan: { name: 'x', mode: 'erase', eraseBy: 'flushall', stages: [{ fraction: 1, holdMs: 1000 }] } },
    harness: { nodes: ['a:1'] },
    code: 'not-dedicated',
    parameter: '/plan/eraseBy',
  },
];

for (const { what, ask, harness: options, code, parameter } of BAD) {
  test(`a drill with ${what} is refused, and nothing changes`, async (t) => {
    const harness = createDrillHarness(t, { domains: ['goods', 'auto'], ...options });
    const wrong = { ...ASK, ...ask } as StartRequest;
    await assert.rejects(harness.drills.start(wrong), (error: unknown) => {
      assert.ok(error instanceof OperationError);
      assert.equal(error.code, code, error.message);
      if (parameter !== undefined) assert.equal(error.parameter, parameter);
      return true;
    });
    assert.equal(harness.control().document().revision, 0);
    assert.deepEqual((await harness.drills.list()).drills, []);
    assert.deepEqual(harness.events, []);
  });
}

test('a drill whose preview is refused is refused; a drill whose keys cannot be counted is not', async (t) => {
  let code: 'not-dedicated' | 'control-unavailable' = 'not-dedicated';
  const harness = createDrillHarness(t, { preview: () => Promise.reject(new OperationError(code, 'no')) });
  await assert.rejects(harness.start('canary'), { code });
  code = 'control-unavailable';
  const { previews } = await harness.start('canary');
  assert.deepEqual(previews, {});
});

test('the dry run shows each stage and the reasons against it', async (t) => {
  const harness = createDrillHarness(t, {
    preview: async ({ mode, fraction }) =>
      previewOf(mode, fraction, { survivable: 0.3, searches: fraction < 1 ? 10 : 0 }),
  });
  const { domains, warnings, plan } = await harness.drills.preview({ plan: '1-5-25-100' });
  assert.equal(plan.name, '1-5-25-100');
  assert.deepEqual(
    domains[0]?.stages.map(({ preview }) => preview.fraction),
    [0.01, 0.05, 0.25, 0.99],
  );
  assert.deepEqual(warnings, [
    'goods: stage 4 (all but the holdout) loses 74 % of the keys at once; by its latest figures the engine carries 30 % for sure.',
  ]);
});

test('the dry run shows the expected searches of each cohort, and warns of too few', async (t) => {
  const searchesPerSecond = 30;
  const harness = createDrillHarness(t, {
    recent: () => ({ ...figuresBetween(new Map(), new Map()), searchesPerSecond }),
  });
  const { domains, warnings } = await harness.drills.preview({ plan: 'canary' });
  const cohort = { share: 0.01, searchesPerSecond: 0.3, enoughMs: 66_667 };
  assert.deepEqual(domains[0]?.cohorts, { control: cohort, stages: [cohort], flushed: cohort });
  assert.deepEqual(warnings, [
    'goods: about 0.3 searches a second are of keys to be flushed; 20 of them take 67 s, and 60 s are waited at most. It will probably end as not measured.',
  ]);
  const whole = await harness.drills.preview({ plan: '1-5-25-100' });
  assert.deepEqual(pluck(whole.domains[0]?.cohorts.stages, 'share'), [0.01, 0.04, 0.2, 0.74]);
  assert.deepEqual([whole.domains[0]?.cohorts.flushed.share, whole.warnings], [0.99, []]);
});

test('the dry run warns of a domain without searches, of a halt and of a running drill', async (t) => {
  const harness = createDrillHarness(t, {
    preview: async ({ mode, fraction }) => previewOf(mode, fraction, { searches: 0 }),
  });
  const { id } = await harness.start(planOf());
  const during = (await harness.drills.preview({ plan: 'canary' })).warnings;
  assert.ok(during.some((warning) => warning.includes('nothing was searched of late')));
  assert.ok(during.some((warning) => warning.includes(`drill ${id} runs there`)));
  await harness.drills.halt({ by: 'anna', reason: 'fire' });
  const halted = (await harness.drills.preview({ plan: 'canary' })).warnings;
  assert.ok(halted.some((warning) => warning.includes('halted by anna: fire')));
});

test('the dry run of a blackout shows no loss, and that of a node the share of the node', async (t) => {
  const nodes = ['a:1', 'b:2'];
  const harness = createDrillHarness(t, {
    nodes,
    preview: async ({ mode, fraction }) => ({
      ...previewOf(mode, fraction, { extraCallsPerSecond: 100 }),
      nodes: nodes.map((node) => ({ node, keys: 5, bytes: 50, exact: true })),
    }),
  });
  const blackout = await harness.drills.preview({ plan: 'engine-blackout' });
  const dark = blackout.domains[0]?.stages[0]?.preview;
  assert.deepEqual([dark?.fraction, dark?.memory.entries, dark?.nodes[0]?.keys], [0, 0, 0]);
  const byNode = await harness.drills.preview({ plan: 'node-by-node' });
  const [first] = byNode.domains[0]?.stages ?? [];
  assert.deepEqual(pluck(first?.preview.nodes, 'node'), ['a:1']);
  assert.equal(first?.preview.fraction, 0.495);
  assert.equal(first?.preview.engine.extraCallsPerSecond, 49.5);
});
