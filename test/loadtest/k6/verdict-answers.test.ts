import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEEN_OUTCOMES, type SeenOutcome } from '../../../loadtest/k6/kit/outcome.ts';
import { ALWAYS, CHECK_NAMES } from '../../../loadtest/k6/kit/page.ts';
import { verdictOf } from '../../../loadtest/k6/kit/verdict.ts';
import { runOf } from '../../fakes/load-run.ts';

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

test('the number of refusals is judged by the limits of a step, not by a check', () => {
  const checks = [{ name: CHECK_NAMES.answered, passes: 1, fails: 1 }];
  assert.equal(verdictOf({ steps, generator, checks }).kind, 'passed');
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
