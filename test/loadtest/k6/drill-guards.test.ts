import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withSheds } from '../../../loadtest/k6/kit/drill-plan.ts';
import { loadReadyPlans } from '../../../src/operations/drills/plan-file.ts';

test('the guard allows more refusals than the plan says, and changes no other limit', () => {
  const plan = loadReadyPlans()(1).find(({ name }) => name === '1-5-25-100');
  assert.ok(plan !== undefined);
  const changed = withSheds(plan, 0.5);
  const maxOf = (figure: string, of = changed) =>
    of.guards.filter((one) => one.figure === figure).map(({ max }) => max);
  assert.ok(maxOf('shedRate', plan).some((max) => max < 0.5));
  assert.ok(maxOf('shedRate').every((max) => max === 0.5));
  assert.deepEqual(
    changed.guards.filter(({ figure }) => figure !== 'shedRate'),
    plan.guards.filter(({ figure }) => figure !== 'shedRate'),
  );
  assert.deepEqual({ ...changed, guards: [] }, { ...plan, guards: [] });
});

test('a plan that already allows more keeps its limit', () => {
  assert.deepEqual(withSheds({ guards: [{ figure: 'shedRate', max: 0.9 }] }, 0.5).guards, [
    { figure: 'shedRate', max: 0.9 },
  ]);
});
