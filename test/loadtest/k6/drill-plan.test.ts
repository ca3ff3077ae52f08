import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { drillSteps, drillWindows, fitPlan, withSheds } from '../../../loadtest/k6/kit/drill-plan.ts';
import { holdOf, inTurn } from '../../../loadtest/k6/kit/step.ts';
import { loadReadyPlans, readPlan } from '../../../src/operations/drills/plan-file.ts';

const PLANS = loadReadyPlans()(3);
/** Time a drill needs beyond its plan: until all processes know of it, and two polls a second. */
const SETTLE_MS = 1500;
const TICK_MS = 500;

function windowOf(seconds: number) {
  const wish = { lossName: 'loss', lossTitle: '', lossSeconds: 60, ratePerSecond: 100 };
  const [window] = drillWindows(inTurn(drillSteps({ ...wish, stepSeconds: () => seconds })));
  assert.ok(window !== undefined);
  return window;
}

function planOf(name: string) {
  const plan = PLANS.find((one) => one.name === name);
  assert.ok(plan !== undefined);
  return plan;
}

suite('the time window of a drill', () => {
  test('is the step whose drill has to pass, and its neighbours', () => {
    const wish = { lossTitle: '', lossSeconds: 60, ratePerSecond: 100, stepSeconds: (seconds: number) => seconds };
    const steps = inTurn(['x1-', 'x3-'].flatMap((prefix) => drillSteps({ ...wish, prefix, lossName: 'flush' })));
    assert.deepEqual(
      drillWindows(steps).map(({ calm, loss, recovery }) => [calm.name, loss.name, recovery.name]),
      [
        ['x1-steady', 'x1-flush', 'x1-recovery'],
        ['x3-steady', 'x3-flush', 'x3-recovery'],
      ],
    );
  });

  test('allows honest sheds while entries are missing, and none before', () => {
    const { calm, loss, recovery } = windowOf(30);
    assert.deepEqual(
      [calm, loss, recovery].map(({ limits }) => limits?.shedsAllowed),
      [false, true, true],
    );
    assert.deepEqual(
      [loss, recovery].map(({ limits }) => limits?.maxErrorRate),
      [0.001, 0.001],
    );
  });
});

suite('a plan in its time window', () => {
  test('begins its first stage when the loss begins: the quiet time before is its baseline', () => {
    const window = windowOf(60);
    const { startSeconds, plan } = fitPlan(planOf('full-loss'), window);
    const [lossFrom] = holdOf(window.loss);
    assert.equal(startSeconds, lossFrom - (plan.baselineMs + SETTLE_MS) / 1000);
  });

  test('keeps the proportions of its stages when it is shortened', () => {
    const { plan, isShortened } = fitPlan(planOf('1-5-25-100'), windowOf(30));
    assert.equal(isShortened, true);
    const [first = 0, , third = 0, last = 0] = plan.stages.map(({ holdMs }) => holdMs);
    assert.ok(Math.abs(third / first - 1.5) < 0.01);
    assert.ok(Math.abs(last / first - 2) < 0.01);
  });

  test('is accepted by the service, however short the steps are', () => {
    const any = fc.tuple(fc.constantFrom(...PLANS), fc.integer({ min: 1, max: 600 }));
    fc.assert(
      fc.property(any, ([plan, seconds]) => {
        const read = readPlan(fitPlan(plan, windowOf(seconds)).plan, { form: 'object', nodes: 3 });
        assert.deepEqual(read.kind === 'faults' ? read.faults : [], []);
      }),
    );
  });

  test('ends before its time window, where the window is longer than the minimum', () => {
    const any = fc.tuple(fc.constantFrom('canary', '1-5-25-100', 'full-loss'), fc.integer({ min: 8, max: 600 }));
    fc.assert(
      fc.property(any, ([name, seconds]) => {
        const window = windowOf(seconds);
        const { plan, startSeconds } = fitPlan(planOf(name), window);
        const stagesMs = plan.stages.reduce((sum, { holdMs }) => sum + holdMs + TICK_MS, TICK_MS);
        const lossFromMs = startSeconds * 1000 + SETTLE_MS + plan.baselineMs;
        const [, lossEnds] = holdOf(window.loss);
        const [, ends] = holdOf(window.recovery);
        assert.ok(lossFromMs >= holdOf(window.loss)[0] * 1000 - 1);
        assert.ok(lossFromMs + stagesMs <= lossEnds * 1000 + 1, `stages: ${lossFromMs + stagesMs}`);
        const waitsMs = plan.recovery.timeoutMs + SETTLE_MS + plan.afterMs + 2 * TICK_MS;
        assert.ok(lossEnds * 1000 + waitsMs <= ends * 1000, `recovery: ${waitsMs}`);
      }),
    );
  });
});

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
