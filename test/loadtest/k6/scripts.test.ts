import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fitPlan } from '../../../loadtest/k6/kit/drill-plan.ts';
import { BREAK_SECONDS, type Step } from '../../../loadtest/k6/kit/step.ts';
import type { Plan } from '../../../src/operations/drills/plan.ts';
import { loadReadyPlans } from '../../../src/operations/drills/plan-file.ts';
import { rowsOf } from '../../pluck.ts';
import { environment, inspect, type K6Scenario, SCRIPTS_FOLDER, secondsOf } from './k6-inspect.ts';

const SCRIPTS = readdirSync(SCRIPTS_FOLDER).flatMap((name) => (name.endsWith('.ts') ? [name.slice(0, -3)] : []));
const OPERATORS = ['flush-survival', 'full-loss', 'cold-start'];
const ENV = environment();

interface StepTimes {
  readonly name: string;
  readonly start: number;
  readonly rampSeconds: number;
  readonly holdSeconds: number;
  /** Requests a second while the rate holds. */
  readonly rate: number;
}

/** The steps among the scenarios, in time order: two stages each, after which a scenario ends its last iterations. */
function stepTimesOf(scenarios: Readonly<Record<string, K6Scenario>>): readonly StepTimes[] {
  const segments = Object.entries(scenarios)
    .filter(([, { exec }]) => exec === null)
    .sort(([, a], [, b]) => secondsOf(a.startTime) - secondsOf(b.startTime));
  return segments.flatMap(([name, { startTime, timeUnit = '1s', stages = [], duration }]) => {
    let start = secondsOf(startTime);
    if (duration !== undefined) return [{ name, start, rampSeconds: 0, holdSeconds: secondsOf(duration), rate: 0 }];
    assert.deepEqual(stages.slice(-2), [
      { target: 0, duration: '0s' },
      { target: 0, duration: '1s' },
    ]);
    return Array.from({ length: (stages.length - 2) / 2 }, (_, i) => {
      const [ramp, hold] = stages.slice(i * 2, i * 2 + 2);
      const [rampSeconds, holdSeconds] = [secondsOf(ramp?.duration ?? null), secondsOf(hold?.duration ?? null)];
      const rate = (hold?.target ?? 0) / secondsOf(timeUnit);
      const times = { name: i === 0 ? name : `${name}+${i}`, start, rampSeconds, holdSeconds, rate };
      start += rampSeconds + holdSeconds;
      return times;
    });
  });
}

/** Seconds from the begin of the first step to the end of the last one. */
async function stepsOf(script: string, more: Readonly<Record<string, string>> = {}): Promise<readonly StepTimes[]> {
  const { code, scenarios, said } = await inspect(script, { ...ENV, ...more });
  assert.equal(code, 0, said);
  return stepTimesOf(scenarios);
}

suite('every script', () => {
  for (const script of SCRIPTS) {
    test(`${script}: each segment begins after the previous one has finished, and k6 finds every function it runs`, async () => {
      let end = 0;
      for (const { name, start, rampSeconds, holdSeconds } of await stepsOf(script)) {
        const isFirst = end === 0 || name.includes('+');
        assert.equal(start, isFirst ? end : end + BREAK_SECONDS, name);
        end = start + rampSeconds + holdSeconds;
      }
      assert.ok(end > 0);
    });

    test(`${script}: a host that was not named gets no load`, async () => {
      const { code, said } = await inspect(script, { ...ENV, BASE_URL: '' });
      assert.notEqual(code, 0);
      assert.match(said, /BASE_URL is missing: load goes only to hosts that were named/);
    });
  }
});

suite('scripts that act as an operator', () => {
  for (const script of OPERATORS) {
    test(`${script}: without an admin address and a token no request is sent`, async () => {
      const { code, said } = await inspect(script, { ...ENV, ADMIN_URL: '', ADMIN_TOKEN: '' });
      assert.notEqual(code, 0);
      assert.match(said, /ADMIN_URL is missing/);
      assert.match(said, /ADMIN_TOKEN is missing/);
    });
  }

  test('cold-start: a host that others may use is permanently flushed only after confirmation', async () => {
    const far = { ...ENV, BASE_URL: 'https://staging.example', ADMIN_URL: 'https://staging.example:8081' };
    const refused = await inspect('cold-start', far);
    assert.notEqual(refused.code, 0);
    assert.match(refused.said, /FLUSH is \\"\\": .*staging\.example.* for good; FLUSH=yes allows it/);
    assert.equal((await inspect('cold-start', { ...far, FLUSH: 'yes' })).code, 0);
  });

  for (const [script, plan] of [
    ['flush-survival', '1-5-25-100'],
    ['full-loss', 'full-loss'],
  ] as const) {
    test(`${script}: the plan ${plan} fits into its steps unchanged`, async () => {
      const steps = (await stepsOf(script)).map(asStep);
      const ready = loadReadyPlans()(1).find(({ name }) => name === plan);
      assert.ok(ready !== undefined);
      for (let at = 0; at < steps.length; at += 3) {
        const [calm, loss, recovery] = steps.slice(at, at + 3);
        assert.ok(calm !== undefined && loss !== undefined && recovery !== undefined);
        const { isShortened, plan: fitted }: ReturnType<typeof fitPlan<Plan>> = fitPlan(ready, {
          calm,
          loss,
          recovery,
        });
        assert.equal(isShortened, false, loss.name);
        assert.ok(fitted.recovery.timeoutMs >= 30_000);
      }
    });

    test(`${script}: k6 also fails when the drill did not pass`, async () => {
      const { thresholds } = await inspect(script, ENV);
      const drills = Object.entries(thresholds).filter(([name]) => name.startsWith('drill_end{'));
      assert.equal(drills.length, script === 'full-loss' ? 1 : 2);
      for (const [, limits] of drills) assert.deepEqual(limits, ['value==1']);
    });
  }
});

suite('the steps', () => {
  test('flush-survival: the rate is the same before, during and after the flush, once at x1 and once at x3', async () => {
    const steps = await stepsOf('flush-survival');
    assert.deepEqual(rowsOf(steps, 'name', 'rate'), [
      ['x1-steady', 50],
      ['x1-steady+1', 50],
      ['x1-steady+2', 50],
      ['x3-steady', 150],
      ['x3-steady+1', 150],
      ['x3-steady+2', 150],
    ]);
  });

  test('batch: searches a second are the same in each size, also when that is less than one request a second', async () => {
    const steps = await stepsOf('batch', { BASE_RPS: '7' });
    for (const { name, rate } of steps) {
      const size = Number(/^by-(\d+)$/.exec(name)?.[1] ?? 10);
      assert.ok(Math.abs(rate * size - 7) < 0.4, `${name}: ${rate * size}`);
    }
    assert.equal(steps.length, 6);
  });

  test('every step lasts STEP_SECONDS', async () => {
    const waits = ['saturation'];
    for (const script of SCRIPTS.filter((name) => !waits.includes(name))) {
      for (const { name, holdSeconds } of await stepsOf(script, { STEP_SECONDS: '4' })) {
        assert.equal(holdSeconds, 4, `${script} ${name}`);
      }
    }
  });
});

function asStep({ name, start, rampSeconds, holdSeconds, rate }: StepTimes): Step {
  return {
    name,
    title: '',
    startSeconds: start,
    rampSeconds,
    holdSeconds,
    ratePerSecond: rate,
    searchesPerRequest: 1,
  };
}
