import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { StepLimits } from '../../../loadtest/k6/kit/step.ts';
import { numberWords } from '../../../loadtest/k6/kit/summary.ts';
import { judgeStep, type MeasuredStep } from '../../../loadtest/k6/kit/verdict.ts';
import { runOf } from '../../fakes/load-run.ts';

const LIMITS: StepLimits = {
  maxErrorRate: 0.001,
  abortErrorRate: 0.05,
  maxP99Ms: 150,
  minHitRatio: 0.8,
  shedsAllowed: false,
};
const GOOD = { p50: 1, p90: 10, p95: 20, p99: 40, max: 90 };

suite('one step is judged by its own limits', () => {
  test('a step within all its limits held', () => {
    assert.deepEqual(judgeStep(stepOf({})), { result: 'held', broken: [] });
  });

  test('a step whose error rate is above its limit broke', () => {
    const { result, broken } = judgeStep(stepOf({ errorRate: 0.0042 }));
    assert.equal(result, 'broke');
    assert.deepEqual(plain(broken), ['error rate 0.42 % (limit 0.1 %)']);
  });

  test('a figure exactly at its limit holds', () => {
    const step = stepOf({ errorRate: 0.001, latencyMs: { ...GOOD, p99: 150 }, hitRatio: 0.8 });
    assert.equal(judgeStep(step).result, 'held');
  });

  test('a slow p99 and a low hit ratio are reported with their limits', () => {
    const { broken } = judgeStep(stepOf({ latencyMs: { ...GOOD, p99: 1234 }, hitRatio: 0.712 }));
    assert.deepEqual(plain(broken), ['p99 1.2 s (limit 150 ms)', 'hit ratio 71.2 % (at least 80 %)']);
  });

  test('a figure just above its limit is printed with the digits that show the difference', () => {
    const { broken } = judgeStep(stepOf({ errorRate: 0.00100002 }));
    assert.deepEqual(plain(broken), ['error rate 0.100002 % (limit 0.1 %)']);
  });

  test('one dishonest 5xx breaks a step, even if the step allows any error rate', () => {
    const limits: StepLimits = { maxErrorRate: 1, abortErrorRate: 1, shedsAllowed: true };
    const { result, broken } = judgeStep(stepOf({ limits, dishonest: 1 }));
    assert.equal(result, 'broke');
    assert.match(broken.join(), /no honest shed/);
  });

  test('a limit for a figure that was not measured did not hold', () => {
    const { latencyMs: _, hitRatio: __, ...unmeasured } = stepOf({});
    assert.deepEqual(plain(judgeStep(unmeasured).broken), [
      'p99 not measured (limit 150 ms)',
      'hit ratio not measured (at least 80 %)',
    ]);
  });

  test('a step without limits is only shown, whatever happened in it', () => {
    const { limits: _, ...step } = stepOf({}).step;
    assert.deepEqual(judgeStep({ ...stepOf({ errorRate: 1, dishonest: 9 }), step }), { result: 'shown', broken: [] });
  });

  test('a step without a search did not run', () => {
    assert.equal(judgeStep(stepOf({ searches: 0, seconds: 0 })).result, 'not-run');
  });

  test('a step that was cut short has neither held nor broken', () => {
    const { result, broken } = judgeStep(stepOf({ seconds: 5 }));
    assert.equal(result, 'not-run');
    assert.deepEqual(plain(broken), ['cut short after 5 s of 20 s']);
    assert.equal(judgeStep(stepOf({ seconds: 5, errorRate: 0.3 })).result, 'broke');
    assert.equal(judgeStep(stepOf({ seconds: 19.2 })).result, 'held');
  });
});

test('numbers are formatted as toLocaleString of Node does, without calling it', () => {
  fc.assert(
    fc.property(fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.nat(4), (value, decimals) => {
      const rounded = Number(value.toFixed(decimals));
      const expected = rounded.toLocaleString('en-US', { maximumFractionDigits: decimals }).replace('-', '−');
      assert.equal(numberWords(value, decimals), expected === '−0' ? '0' : expected);
    }),
  );
});

function stepOf({ limits, ...wish }: Partial<MeasuredStep> & { readonly limits?: StepLimits }): MeasuredStep {
  const one = runOf().summary.steps.find(({ step }) => step.name === 'x1');
  assert.ok(one);
  const { result: _, broken: __, ...measured } = one;
  return {
    ...measured,
    step: { ...measured.step, limits: limits ?? LIMITS },
    latencyMs: GOOD,
    errorRate: 0,
    hitRatio: 0.9,
    ...wish,
  };
}

function plain(words: readonly string[]): readonly string[] {
  return words.map((one) => one.replaceAll('\u00a0', ' '));
}
