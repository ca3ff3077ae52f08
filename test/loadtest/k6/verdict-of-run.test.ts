import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { GeneratorSummary, ScriptSummary, StepSummary, Verdict } from '../../../loadtest/k6/kit/summary.ts';
import { kneeOf } from '../../../loadtest/k6/kit/validity.ts';
import { judgeStep, verdictOf } from '../../../loadtest/k6/kit/verdict.ts';
import { type FakeRunOptions, runOf } from '../../fakes/load-run.ts';

suite('a run with a valid generator', () => {
  test('passes when every rung held, and its knee is the last of them', () => {
    const verdict = verdictOf(runOf().summary);
    assert.equal(verdict.kind, 'passed');
    assert.deepEqual(kneeIn(verdict), { held: 'x5', broke: undefined });
    assert.equal(verdict.detail, 'All 5 steps held, up to x5 (3,750 searches/s).');
  });

  test('fails when a rung broke, and says which, why and what held', () => {
    const verdict = verdictOf(runOf({ breaksAt: 4 }).summary);
    assert.equal(verdict.kind, 'failed');
    assert.deepEqual(kneeIn(verdict), { held: 'x3', broke: 'x4' });
    assert.doesNotMatch(verdict.detail, /x5/);
    assert.match(verdict.detail, /^x4 broke: error rate 20\s% .*; held up to x3 \(2,250 searches\/s\)\.$/);
  });

  test('fails, and is not invalid, when its own abort condition ended it', () => {
    const { summary } = runOf({ breaksAt: 4, isAborted: true });
    assert.equal(summary.steps.at(-1)?.result, 'not-run');
    assert.equal(verdictOf(summary).kind, 'failed');
  });

  test('fails when a judged step was never reached', () => {
    const { steps, generator } = runOf({ script: 'flush-survival' }).summary;
    const verdict = verdictOf({
      steps: steps.map((one) => (one.step.name === 'recovery' ? unreached(one) : one)),
      generator,
    });
    assert.equal(verdict.kind, 'failed');
    assert.equal(verdict.detail, 'recovery was never reached.');
  });
});

suite('a run is invalid because of its generator', () => {
  test('when requests could not be begun: the reason gives their number and their steps', () => {
    const reasons = reasonsOf(runOf({ starvedAt: 4 }).summary);
    assert.match(reasons[0] ?? '', /^13,500 requests could not be begun \(6,000 in x4, 7,500 in x5\)/);
    assert.match(reasons[0] ?? '', /looks like the generator/);
  });

  test('when the VUs ran out while answers were slow: the reason says that the service looks like the cause', () => {
    const { steps, generator } = withStep(runOf().summary, 'x5', {
      dropped: 900,
      latencyMs: { p50: 40, p90: 300, p95: 500, p99: 1200, max: 2000 },
    });
    const reasons = reasonsOf({ steps, generator: { ...generator, dropped: 900, vusUsed: 600 } });
    assert.match(reasons[0] ?? '', /looks like the service: 3,750\/s × p99 1\.2\ss = 4,500 VUs .* of 600/);
    assert.match(reasons[0] ?? '', /Raise MAX_VUS/);
  });

  test('when a stall was too short to show in the p99: the reason leaves the cause open', () => {
    const { steps, generator } = withStep(runOf().summary, 'x5', {
      dropped: 40,
      latencyMs: { p50: 1, p90: 5, p95: 10, p99: 40, max: 900 },
    });
    const reasons = reasonsOf({ steps, generator: { ...generator, dropped: 40 } });
    assert.match(reasons[0] ?? '', /stood still for a moment, .* 150 VUs .* but 3,375 at the slowest \(900\sms\)/);
  });

  test('when a threshold had no samples, unless its step was never reached', () => {
    const { steps, generator } = runOf({ breaksAt: 4, isAborted: true }).summary;
    const empty = (...emptyThresholds: string[]): GeneratorSummary => ({ ...generator, emptyThresholds });
    assert.equal(verdictOf({ steps, generator: empty('errors{step:x5}') }).kind, 'failed');
    assert.match(reasonsOf({ steps, generator: empty('errors{step:x2}') }).join(), /errors\{step:x2\} had no samples/);
  });

  test('when no step ran, or none has limits', () => {
    const { steps, generator } = runOf().summary;
    assert.match(reasonsOf({ steps: steps.map(unreached), generator }).join(), /not a single search was sent/);
    assert.match(reasonsOf({ steps: steps.slice(0, 1), generator }).join(), /nothing was judged/);
  });

  test('whenever requests were dropped in a rung that counts: such a run neither passes nor fails', () => {
    const rungs = fc.constantFrom(1, 2, 3, 4, 5);
    fc.assert(
      fc.property(rungs, rungs, fc.boolean(), (starvedAt, breaksAt, isAborted) => {
        fc.pre(starvedAt <= breaksAt);
        const { summary } = runOf({ starvedAt, breaksAt, isAborted, holdSeconds: 8, rampSeconds: 1 });
        assert.equal(verdictOf(summary).kind, 'invalid');
      }),
      { numRuns: 40 },
    );
  });
});

suite('above the first broken rung', () => {
  const spent: FakeRunOptions = { breaksAt: 3, starvedAt: 4 };

  test('a saturated generator does not invalidate the run: the knee was already known', () => {
    const { steps, generator } = runOf(spent).summary;
    assert.equal(generator.vusUsed, generator.vusCap);
    assert.deepEqual(kneeIn(verdictOf({ steps, generator })), { held: 'x2', broke: 'x3' });
  });

  test('requests dropped in the broken rung itself do invalidate the run', () => {
    const run = withStep(runOf(spent).summary, 'x3', { dropped: 5 });
    assert.equal(verdictOf(run).kind, 'invalid');
  });
});

suite('an endless ladder', () => {
  test('passes when it broke and shed load honestly', () => {
    const verdict = verdictOf({ ...runOf({ breaksAt: 4 }).summary, isEndless: true });
    assert.equal(verdict.kind, 'passed');
    assert.match(verdict.detail, /^Held up to x3 .*; x4 broke/);
  });

  test('fails when a rung above its knee shed load dishonestly', () => {
    const run = withStep(runOf({ breaksAt: 3 }).summary, 'x5', { dishonest: 2 });
    assert.match(verdictOf({ ...run, isEndless: true }).detail, /x5 broke: .*no honest shed/);
  });

  test('fails when its first rung broke, or when it was ended before any rung broke', () => {
    assert.equal(verdictOf({ ...runOf({ breaksAt: 1 }).summary, isEndless: true }).kind, 'failed');
    const { steps, generator } = runOf().summary;
    const ended = steps.map((one) => (one.step.name === 'x5' ? unreached(one) : one));
    assert.equal(
      verdictOf({ steps: ended, generator, isEndless: true }).detail.startsWith('x5 was never reached'),
      true,
    );
  });
});

test('every rung up to the knee held, and the rung after it broke', () => {
  const results = fc.array(fc.constantFrom('held', 'broke', 'not-run'), { minLength: 5, maxLength: 5 });
  const { steps } = runOf({ holdSeconds: 4, rampSeconds: 1 }).summary;
  fc.assert(
    fc.property(results, (given) => {
      const ladder = steps.slice(1).map((one, at): StepSummary => ({ ...one, result: given[at] ?? 'held' }));
      const knee = kneeOf(ladder);
      const held = ladder.findIndex(({ step }) => step.name === knee?.held);
      assert.ok(ladder.slice(0, held + 1).every(({ result }) => result === 'held'));
      const next = ladder[held + 1];
      assert.equal(knee?.broke, next?.result === 'broke' ? next.step.name : undefined);
      assert.notEqual(next?.result, 'held');
    }),
  );
});

type RunSummaries = Pick<ScriptSummary, 'steps' | 'generator'>;

function reasonsOf(run: RunSummaries): readonly string[] {
  const verdict = verdictOf(run);
  assert.equal(verdict.kind, 'invalid');
  return verdict.kind === 'invalid' ? verdict.reasons : [];
}

function kneeIn(verdict: Verdict) {
  assert.notEqual(verdict.kind, 'invalid', JSON.stringify(verdict));
  return verdict.kind === 'invalid' ? undefined : verdict.knee;
}

function withStep({ steps, generator }: RunSummaries, name: string, wish: Partial<StepSummary>): RunSummaries {
  const changed = steps.map((one) => {
    if (one.step.name !== name) return one;
    const step = { ...one, ...wish };
    return { ...step, ...judgeStep(step) };
  });
  return { steps: changed, generator };
}

function unreached(one: StepSummary): StepSummary {
  const step = { ...one, searches: 0, seconds: 0 };
  return { ...step, ...judgeStep(step) };
}
