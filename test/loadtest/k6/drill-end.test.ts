import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { codeOfEnd, DRILL_ENDS, endOfCode } from '../../../loadtest/k6/kit/drill-plan.ts';
import { inTurn } from '../../../loadtest/k6/kit/step.ts';
import { type K6Summary, stepSummaries } from '../../../loadtest/k6/kit/summarize.ts';

const LIMITS = { maxErrorRate: 0.01, abortErrorRate: 0.5, shedsAllowed: true };
const step = { title: '', rampSeconds: 0, holdSeconds: 10, ratePerSecond: 10 };
const steps = inTurn([
  { ...step, name: 'loss', limits: { ...LIMITS, drillPasses: true } },
  { ...step, name: 'recovery', goesOn: true, limits: LIMITS },
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
  return stepSummaries({ k6, steps, elapsedSeconds: 20, watched: false, vusOf: () => 10 });
}

suite('the end of a drill', () => {
  test('is encoded as a number, and a metric without a sample means none of them', () => {
    assert.equal(new Set(DRILL_ENDS.map(codeOfEnd)).size, DRILL_ENDS.length);
    for (const end of DRILL_ENDS) assert.equal(endOfCode(codeOfEnd(end)), end);
    assert.equal(endOfCode(0), 'unfinished');
    assert.equal(endOfCode(undefined), 'unfinished');
  });

  test('a step whose drill passed has held', () => {
    const [loss] = summaries(codeOfEnd('passed'));
    assert.deepEqual([loss?.drill, loss?.result, loss?.broken], ['passed', 'held', []]);
  });

  for (const end of DRILL_ENDS.filter((one) => one !== 'passed')) {
    test(`a step whose drill was ${end} has broken, even if every search was answered`, () => {
      const [loss, recovery] = summaries(codeOfEnd(end));
      assert.deepEqual([loss?.result, loss?.broken], ['broke', [`drill ${end} (has to pass)`]]);
      assert.deepEqual([recovery?.result, recovery?.drill], ['held', undefined]);
    });
  }

  test('a drill that disappeared from the service did not pass', () => {
    assert.equal(summaries(undefined)[0]?.result, 'broke');
  });

  test('a step reports the number of connections it opened', () => {
    assert.equal(summaries(1)[1]?.connectionsOpened, 7);
  });
});
