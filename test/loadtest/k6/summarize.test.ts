import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { codeOfEnd, DRILL_ENDS, endOfCode } from '../../../loadtest/k6/kit/drill-plan.ts';
import { inTurn } from '../../../loadtest/k6/kit/step.ts';
import { generatorSummary, type K6Summary, stepSummaries } from '../../../loadtest/k6/kit/summarize.ts';
import type { StepSummary } from '../../../loadtest/k6/kit/summary.ts';

const LIMITS = { maxErrorRate: 0.01, abortErrorRate: 0.5, maxP99Ms: 100, shedsAllowed: false };
const steps = inTurn([
  { name: 'x1', title: '', rampSeconds: 5, holdSeconds: 20, ratePerSecond: 10, multiplier: 1, limits: LIMITS },
  { name: 'x2', title: '', rampSeconds: 5, holdSeconds: 20, ratePerSecond: 20, multiplier: 2, limits: LIMITS },
]);

function k6Of(values: Readonly<Record<string, Readonly<Record<string, number>>>>, seconds: number): K6Summary {
  const metrics = Object.fromEntries(Object.entries(values).map(([name, one]) => [name, { values: one }]));
  return { metrics, state: { testRunDurationMs: seconds * 1000 }, root_group: {} };
}

function summed(k6: K6Summary, elapsedSeconds: number, watched = true): readonly StepSummary[] {
  return stepSummaries(
    { k6, steps, vusOf: (segment) => segment.steps[0]?.ratePerSecond ?? 0 },
    elapsedSeconds,
    watched,
  );
}

const RAN = {
  'searches{step:x1}': { count: 200 },
  'errors{step:x1}': { rate: 0.005 },
  'hits{step:x1}': { rate: 0.9 },
  'search_duration{step:x1}': { med: 1, 'p(90)': 2, 'p(95)': 3, 'p(99)': 40, max: 90 },
  'outcome_hit_l1{step:x1}': { count: 180 },
  'outcome_shed{step:x1}': { count: 1 },
  'engine_calls{step:x1}': { count: 19 },
  'dropped_iterations{scenario:x1}': { count: 3 },
  iterations: { count: 230 },
  dropped_iterations: { count: 4 },
  vus: { value: 2, max: 7 },
};

test('a step is summarized from the metrics tagged with it', () => {
  const [x1, x2] = summed(k6Of(RAN, 25), 25);
  assert.equal(x1?.searches, 200);
  assert.equal(x1.seconds, 20);
  assert.deepEqual(x1.latencyMs, { p50: 1, p90: 2, p95: 3, p99: 40, max: 90 });
  assert.equal(x1.outcomes['hit-l1'], 180);
  assert.equal(x1.outcomes.shed, 1);
  assert.equal(x1.outcomes.engine, 0);
  assert.equal(x1.engineCalls, 19);
  assert.deepEqual([x1.dropped, x1.vusCap], [3, 10]);
  assert.deepEqual([x1.errorRate, x1.hitRatio, x1.result], [0.005, 0.9, 'held']);
  assert.equal(x2?.result, 'not-run');
  assert.deepEqual([x2.seconds, x2.latencyMs, x2.errorRate], [0, undefined, undefined]);
});

test('a threshold without samples is named, but only if its step was reached', () => {
  const k6 = k6Of({ iterations: { count: 5 } }, 20);
  const generator = generatorSummary({ k6, beside: 0 }, summed(k6, 20), 50, []);
  assert.deepEqual(generator.emptyThresholds, ['errors{step:x1}']);
  assert.deepEqual([generator.requests, generator.dropped, generator.vusCap], [5, 0, 50]);
});

test('the generator figures cover the whole run, including the time between steps, but not VUs that send no load', () => {
  const generator = generatorSummary({ k6: k6Of(RAN, 50), beside: 2 }, [], 60, []);
  assert.deepEqual(generator, {
    requests: 228,
    dropped: 4,
    vusUsed: 5,
    vusCap: 60,
    scriptFaults: 0,
    emptyThresholds: [],
  });
});

test('a request that was sent and never answered is unanswered, and an error', () => {
  const hung = { ...RAN, 'sent{step:x1}': { count: 250 } };
  const [x1] = summed(k6Of(hung, 50), 50);
  assert.deepEqual([x1?.searches, x1?.outcomes.unanswered, x1?.result], [250, 50, 'broke']);
  assert.ok(Math.abs((x1?.errorRate ?? 0) - (1 + 50) / 250) < 1e-9);
  assert.ok(Math.abs((x1?.hitRatio ?? 0) - 180 / 250) < 1e-9);
});

test('requests to a service that answers none of them are still counted', () => {
  const [x1] = summed(k6Of({ 'sent{step:x1}': { count: 200 } }, 50), 50);
  assert.deepEqual([x1?.searches, x1?.errorRate, x1?.hitRatio, x1?.result], [200, 1, 0, 'broke']);
});

test('a check that never examined an answer is named', () => {
  const k6 = { ...k6Of(RAN, 50), root_group: { checks: [{ name: 'a', passes: 3, fails: 0 }] } };
  const { emptyThresholds } = generatorSummary({ k6, beside: 0 }, [], 60, ['a', 'b']);
  assert.deepEqual(emptyThresholds, ['checks{check:b}']);
});

const LOSS_LIMITS = { maxErrorRate: 0.01, abortErrorRate: 0.5, shedsAllowed: true };
const step = { title: '', rampSeconds: 0, holdSeconds: 10, ratePerSecond: 10 };
const lossSteps = inTurn([
  { ...step, name: 'loss', limits: { ...LOSS_LIMITS, drillPasses: true } },
  { ...step, name: 'recovery', goesOn: true, limits: LOSS_LIMITS },
]);

/** All searches were answered, and the drill ended as given. */
function summaries(code: number | undefined) {
  const searched = (name: string) => ({
    [`searches{step:${name}}`]: { values: { count: 100 } },
    [`connections_opened{step:${name}}`]: { values: { count: 7 } },
  });
  const metrics: K6Summary['metrics'] = {
    ...searched('loss'),
    ...searched('recovery'),
    ...(code === undefined ? {} : { 'drill_end{step:loss}': { values: { value: code } } }),
  };
  const k6 = { metrics, state: { testRunDurationMs: 20_000 }, root_group: {} };
  return stepSummaries({ k6, steps: lossSteps, vusOf: () => 10 }, 20, false);
}

suite('the end of a drill', () => {
  test('is encoded as a number, and a metric without a sample means none of them', () => {
    assert.equal(new Set(DRILL_ENDS.map(codeOfEnd)).size, DRILL_ENDS.length);
    for (const end of DRILL_ENDS) assert.equal(endOfCode(codeOfEnd(end)), end);
    assert.equal(endOfCode(0), 'unfinished');
    assert.equal(endOfCode(undefined), 'unfinished');
  });

  for (const end of DRILL_ENDS.filter((one) => one !== 'passed')) {
    test(`a step whose drill was ${end} has broken, even if every search was answered`, () => {
      const [loss, recovery] = summaries(codeOfEnd(end));
      assert.deepEqual([loss?.result, loss?.broken], ['broke', [`drill ${end} (has to pass)`]]);
      assert.deepEqual([recovery?.result, recovery?.drill], ['held', undefined]);
    });
  }
});
