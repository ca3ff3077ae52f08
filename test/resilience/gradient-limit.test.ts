import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runOnce, type Scenario } from '../../loadtest/limits/run.ts';
import { createGradientLimit } from '../../src/resilience/adaptive-limit.ts';
import { seededRandom } from '../fakes/clock.ts';

/** Eight at once, the others wait inside, where nobody can shed them; three times as many arrive. */
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
  test(`an engine of eight is found among sixty-four, with durations spread by ${spread}`, async () => {
    const mean = await limits({ ...ENGINE, spread }, 11);
    assert.ok(mean(2) >= 6.5 && mean(2) <= 16, `${mean(2)}`);
  });

test('one search in twenty that costs ten times as much does not hide an engine of eight', async () => {
  const mean = await limits({ ...ENGINE, costly: 0.05 }, 12);
  assert.ok(mean(3) >= 6.5 && mean(3) <= 16, `${mean(3)}`);
});

test('a long tail of slow searches is not taken for load: the engine keeps its eight', async () => {
  const means = [];
  for (const seed of [3, 4, 5]) {
    const mean = await limits({ ...ENGINE, meanMs: 200, spread: 1.2, seconds: 60 }, seed);
    means.push(mean(10));
  }
  assert.ok(means.reduce((sum, mean) => sum + mean, 0) / 3 >= 8, `${means}`);
});

test('an engine of one is not asked for more than a few at once', async () => {
  const means: number[] = [];
  for (const seed of [13, 14, 15, 16, 17]) means.push((await limits({ ...ENGINE, atOnce: 1, seconds: 20 }, seed))(8));
  assert.ok(means.reduce((sum, mean) => sum + mean, 0) / means.length <= 4, `${means}`);
});

test('an engine that has become ten times slower by itself is used as before, and so it is when it is fast again', async () => {
  const slow = { fromSeconds: 8, toSeconds: 30, factor: 10 };
  const mean = await limits({ ...ENGINE, seconds: 50, slow }, 14);
  assert.ok(mean(20, 30) >= 5, `${mean(20, 30)} while slow`);
  assert.ok(mean(40) >= 6.5 && mean(40) <= 16, `${mean(40)} afterwards`);
});

test('a queue inside the engine is not taken for its nature, however long it lasts', async () => {
  const mean = await limits({ ...ENGINE, seconds: 40 }, 15);
  assert.ok(mean(30) <= 16, `${mean(30)}`);
});
