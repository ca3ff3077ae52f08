import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runOnce, type Scenario } from '../../loadtest/labs/limits/run.ts';
import { seededRandom } from '../../loadtest/random.ts';
import {
  createAimdLimit,
  createConcurrencyBound,
  createFixedLimit,
  createGradientLimit,
  type LearnedLimit,
  type LimitSample,
} from '../../src/resilience/adaptive-limit.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';

interface Harness {
  readonly limit: LearnedLimit;
  readonly clock: FakeClock;
  readonly random: () => number;
  /** `count` consecutive calls; by default they use up the limit. */
  readonly calls: (
    count: number,
    durationMs: number | ((inFlight: number) => number),
    more?: Partial<LimitSample>,
  ) => void;
  ceiling: number;
}

type Kind = 'gradient' | 'aimd';

function limitHarness(kind: Kind, ceiling = 64): Harness {
  const clock = createFakeClock();
  const random = seededRandom(3);
  const options = { ceiling: () => harness.ceiling, monotonicMs: clock.monotonicMs, random, slowMs: 400 };
  const limit = kind === 'gradient' ? createGradientLimit(options) : createAimdLimit(options);
  const harness: Harness = {
    limit,
    clock,
    random,
    ceiling,
    calls: (count, duration, more = {}) => {
      for (let call = 0; call < count; call += 1) {
        const inFlight = more.inFlight ?? limit.current();
        const durationMs = typeof duration === 'number' ? duration : duration(inFlight);
        clock.advance(durationMs / inFlight);
        limit.sample({ durationMs, result: 'answered', ...more, inFlight });
      }
    },
  };
  return harness;
}

/** An engine that runs eight calls at once, of 20 ms (0.5–1.7 times that); further calls wait inside it. */
const engineOf =
  (random: () => number, baseMs = 20) =>
  (inFlight: number): number =>
    baseMs * (0.5 + 1.2 * random()) * Math.max(1, inFlight / 8);

for (const kind of ['gradient', 'aimd'] as const) {
  test(`${kind}: it stays between one and the ceiling, for any samples and any changes of the ceiling`, () => {
    const { random, ...harness } = limitHarness(kind);
    const live = limitHarness(kind);
    for (let step = 0; step < 5000; step += 1) {
      if (step % 50 === 0) live.ceiling = random() < 0.1 ? 0 : 1 + 40 * random();
      const result = (['answered', 'answered', 'lost', 'failed'] as const)[Math.floor(4 * random())] ?? 'answered';
      live.calls(1, 10 ** (4 * random() - 2), { result, inFlight: 1 + Math.floor(64 * random()) });
      const now = live.limit.current();
      assert.ok(Number.isInteger(now) && now >= 1 && now <= Math.max(1, live.ceiling), `${now} of ${live.ceiling}`);
    }
    assert.ok(harness.limit.current() >= 1);
  });

  test(`${kind}: a lower ceiling applies at once, and the earlier higher limit is forgotten`, () => {
    const harness = limitHarness(kind);
    harness.calls(2000, 5);
    assert.ok(harness.limit.current() > 16);
    harness.ceiling = 4;
    assert.equal(harness.limit.current(), 4);
    harness.calls(600, 5);
    harness.ceiling = 64;
    assert.ok(harness.limit.current() <= 8);
  });

  test(`${kind}: an unused limit does not grow`, () => {
    const harness = limitHarness(kind);
    const before = harness.limit.current();
    harness.calls(1000, 5, { inFlight: 2 });
    assert.equal(harness.limit.current(), before);
    harness.calls(1000, 5);
    assert.ok(harness.limit.current() > before);
  });

  test(`${kind}: calls that failed for other reasons change nothing`, () => {
    const harness = limitHarness(kind);
    harness.calls(500, 5);
    const before = harness.limit.current();
    harness.calls(1000, 5, { result: 'failed' });
    harness.calls(1000, 5000, { result: 'failed' });
    assert.equal(harness.limit.current(), before);
  });

  test(`${kind}: when everything is lost it falls to one, and comes back by itself within twenty seconds`, () => {
    const harness = limitHarness(kind);
    const engine = engineOf(harness.random, 100);
    harness.calls(600, engine);
    harness.calls(600, 800, { result: 'lost' });
    assert.equal(harness.limit.current(), 1);
    const backAtMs = harness.clock.monotonicMs();
    while (harness.limit.current() < 8) {
      harness.calls(1, engine);
      assert.ok(harness.clock.monotonicMs() - backAtMs < 20_000, `${harness.limit.current()} after 20 s`);
    }
  });

  test(`${kind}: one lost call in twenty does not lower it`, () => {
    const harness = limitHarness(kind, 8);
    for (let round = 0; round < 100; round += 1) {
      harness.calls(19, 20);
      harness.calls(1, 800, { result: 'lost' });
    }
    assert.ok(harness.limit.current() >= 6, `${harness.limit.current()}`);
  });
}

test('fixed: the limit is the ceiling', () => {
  let ceiling = 8;
  const limit = createFixedLimit({ ceiling: () => ceiling });
  limit.sample({ durationMs: 800, inFlight: 8, result: 'lost' });
  assert.equal(limit.current(), 8);
  ceiling = 0.4;
  assert.equal(limit.current(), 1);
});

test('aimd: an answer slower than `slowMs` counts as lost', () => {
  const harness = limitHarness('aimd');
  harness.calls(200, (inFlight) => 30 * inFlight);
  harness.calls(2000, (inFlight) => 30 * inFlight);
  assert.ok(harness.limit.current() >= 8 && harness.limit.current() <= 14, `${harness.limit.current()}`);
});

/** An engine that runs eight calls at once and gets three times its capacity; the rest waits inside it, never shed. */
const ENGINE: Scenario = {
  load: 3,
  deadlineMs: 800,
  patienceMs: 2000,
  ceiling: 64,
  maxQueued: 512,
  atOnce: 8,
  meanMs: 20,
  spread: 0.4,
  costly: 0,
  seconds: 12,
  fromSeconds: 0,
};

const contender = { shedding: true, limit: createGradientLimit };

async function limits(scenario: Scenario, seed: number): Promise<(fromSeconds: number, toSeconds?: number) => number> {
  const run = await runOnce(scenario, contender, seededRandom(seed));
  return (from, to = scenario.seconds) => {
    const part = run.limits.slice(10 * from, 10 * to);
    return part.reduce((sum, each) => sum + each, 0) / part.length;
  };
}

for (const spread of [0.2, 0.8])
  test(`with a ceiling of sixty-four, the limit finds an engine that runs eight calls at once, with durations spread by ${spread}`, async () => {
    const mean = await limits({ ...ENGINE, spread }, 11);
    assert.ok(mean(2) >= 6.5 && mean(2) <= 16, `${mean(2)}`);
  });

test('one search in twenty that costs ten times as much does not prevent the limit from finding eight', async () => {
  const mean = await limits({ ...ENGINE, costly: 0.05 }, 12);
  assert.ok(mean(3) >= 6.5 && mean(3) <= 16, `${mean(3)}`);
});

test('a long tail of slow searches does not count as load: the limit stays at eight', async () => {
  const means = [];
  for (const seed of [3, 4]) {
    const mean = await limits({ ...ENGINE, meanMs: 200, spread: 1.2, seconds: 60 }, seed);
    means.push(mean(10));
  }
  assert.ok(means.reduce((sum, mean) => sum + mean, 0) / 2 >= 8, `${means}`);
});

test('an engine that runs one call at a time gets no more than a few calls at once', async () => {
  const means: number[] = [];
  for (const seed of [13, 14]) means.push((await limits({ ...ENGINE, atOnce: 1, seconds: 20 }, seed))(8));
  assert.ok(means.reduce((sum, mean) => sum + mean, 0) / means.length <= 4, `${means}`);
});

test('an engine that becomes ten times slower without more load keeps its limit, also when it is fast again', async () => {
  const slow = { fromSeconds: 8, toSeconds: 30, factor: 10 };
  const mean = await limits({ ...ENGINE, seconds: 50, slow }, 14);
  assert.ok(mean(20, 30) >= 5, `${mean(20, 30)} while slow`);
  assert.ok(mean(40) >= 6.5 && mean(40) <= 16, `${mean(40)} afterwards`);
});

/** A bound of a thousand calls, which shows the slow start. */
function boundHarness() {
  const clock = createFakeClock();
  const bound = createConcurrencyBound({
    kind: 'fixed',
    maxConcurrent: 1000,
    fleetShare: (total) => total,
    availableShare: () => 1,
    slowMs: 100,
    monotonicMs: clock.monotonicMs,
    random: () => 0.5,
  });
  return { clock, ...bound };
}

test('slow start: there is none before the first restart', () => {
  const { max, isStarting } = boundHarness();
  assert.deepEqual([max(), isStarting()], [1000, false]);
});

test('slow start: the maximum climbs evenly from a tenth of the ceiling and stays there', () => {
  const { clock, restart, max } = boundHarness();
  restart();
  const maxima = Array.from({ length: 7 }, () => {
    const now = max();
    clock.advance(1250);
    return now;
  });
  assert.deepEqual(maxima, [100, 325, 550, 775, 1000, 1000, 1000]);
});

test('slow start: a second restart begins at a tenth again', () => {
  const { clock, restart, max, isStarting } = boundHarness();
  restart();
  clock.advance(4000);
  restart();
  assert.deepEqual([max(), isStarting()], [100, true]);
  clock.advance(5000);
  assert.deepEqual([max(), isStarting()], [1000, false]);
});
