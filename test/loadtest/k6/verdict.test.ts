import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { SEEN_OUTCOMES, type SeenOutcome } from '../../../loadtest/k6/kit/outcome.ts';
import { ALWAYS, CHECK_NAMES } from '../../../loadtest/k6/kit/page.ts';
import type { StepLimits } from '../../../loadtest/k6/kit/step.ts';
import { judgeStep, type MeasuredStep, verdictOf } from '../../../loadtest/k6/kit/verdict.ts';
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
  test('a figure exactly at its limit holds', () => {
    const step = stepOf({ errorRate: 0.001, latencyMs: { ...GOOD, p99: 150 }, hitRatio: 0.8 });
    assert.equal(judgeStep(step).result, 'held');
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

  test('a step that was cut short has neither held nor broken', () => {
    const { result, broken } = judgeStep(stepOf({ seconds: 5 }));
    assert.equal(result, 'not-run');
    assert.deepEqual(plain(broken), ['cut short after 5 s of 20 s']);
    assert.equal(judgeStep(stepOf({ seconds: 5, errorRate: 0.3 })).result, 'broke');
    assert.equal(judgeStep(stepOf({ seconds: 19.2 })).result, 'held');
  });
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

const { steps, generator } = runOf().summary;
const NONE = Object.fromEntries(SEEN_OUTCOMES.map((outcome) => [outcome, 0])) as Record<SeenOutcome, number>;

test('one wrong answer among thousands fails a run in which everything else held', () => {
  assert.equal(ALWAYS.length, 3);
  assert.ok(ALWAYS.includes(CHECK_NAMES.ofTheSearch));
  for (const name of ALWAYS) {
    const verdict = verdictOf({ steps, generator, checks: [{ name, passes: 4999, fails: 1 }] });
    assert.equal(verdict.kind, 'failed');
    assert.match(verdict.detail, /^wrong answers: for 1 of 5,000 it does not hold that /);
    assert.equal(verdictOf({ steps, generator, checks: [{ name, passes: 5000, fails: 0 }] }).kind, 'passed');
  }
});

test('an exception of the script invalidates the run', () => {
  const verdict = verdictOf({ steps, generator: { ...generator, scriptFaults: 3 } });
  assert.equal(verdict.kind, 'invalid');
  assert.match(
    verdict.kind === 'invalid' ? verdict.reasons.join() : '',
    /3 requests ended in an exception of the script/,
  );
});

test('a check that never examined an answer invalidates the run', () => {
  const verdict = verdictOf({ steps, generator: { ...generator, emptyThresholds: ['checks{check:x}'] } });
  assert.equal(verdict.kind, 'invalid');
});

test('an overloaded service that sheds honestly passes; one that does not answer fails', () => {
  const broken = runOf({ breaksAt: 4 }).summary;
  const refusing = broken.steps.map((one) =>
    one.result === 'broke' ? { ...one, outcomes: { ...NONE, shed: one.searches } } : one,
  );
  const run = { generator: broken.generator, isEndless: true };
  assert.equal(verdictOf({ ...run, steps: refusing }).kind, 'passed');
  const gone = refusing.map((one) =>
    one.result === 'broke' ? { ...one, outcomes: { ...NONE, unanswered: one.searches } } : one,
  );
  const verdict = verdictOf({ ...run, steps: gone });
  assert.equal(verdict.kind, 'failed');
  assert.match(verdict.detail, /x4 broke: [\d,]+ got no answer/);
});
