import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, quietestOf } from '../../../../loadtest/labs/experiments/timeouts/figures.ts';
import type { LabDriven } from '../../../../loadtest/labs/kit/driven.ts';
import { closing } from './timeouts-figures.ts';

const AROUND = { deadlineMs: 50, opened: 12, mostOpen: 420, waitedShare: 0 };

const second = (answered: number, failed: number) => ({ answered, failed, p99Ms: 5, maxMs: 9 });

function load(over: Partial<LabDriven> = {}): LabDriven {
  return {
    seconds: 4,
    answered: 3000,
    perSecond: 750,
    latencyMs: { mean: 2, p50: 1, p95: 5, p99: 9, max: 12 },
    errors: { late: 600, broken: 300, refused: 0, unsent: 100, unconnected: 7 },
    unanswered: 0,
    connects: 0,
    receivedBytes: 0,
    sentBytes: 0,
    processorSeconds: 1,
    watchedCores: [0.9],
    eachSecond: [second(1000, 0), second(500, 500), second(500, 500), second(1000, 0)],
    storeCores: 0.9,
    generatorCores: 0.25,
    limit: 'store',
    ...over,
  };
}

test('a lost command is counted at its deadline, and a connection attempt is not a command', () => {
  const figures = figuresOf(load(), AROUND);
  assert.equal(figures.lostShare, 0.25);
  assert.equal(figures.unsentShare, 0.1);
  assert.equal(figures.meanOfAllMs, (3000 * 2 + 1000 * 50) / 4000);
});

test('the loss lasts from the first to the last second that lost more than 1 %', () => {
  const figures = figuresOf(load(), AROUND);
  assert.equal(figures.slowSeconds, 2);
  assert.equal(figures.isSlowAtEnd, false);
  const eachSecond = [second(1000, 0), second(500, 500), second(995, 5), second(500, 500)];
  const longer = figuresOf(load({ eachSecond }), AROUND);
  assert.equal(longer.slowSeconds, 3);
  assert.equal(longer.isSlowAtEnd, true);
});

test('a load that lost nothing has no slow time, and neither has a load shorter than a whole second', () => {
  for (const eachSecond of [[second(990, 10)], []]) {
    const figures = figuresOf(load({ eachSecond }), AROUND);
    assert.equal(figures.slowSeconds, 0);
    assert.equal(figures.isSlowAtEnd, false);
  }
});

test('the round that counts is the one in which the store waited least, whatever its result', () => {
  const disturbed = closing({ waitedShare: 0.3, lostShare: 0 });
  const quiet = closing({ waitedShare: 0.01, lostShare: 0.8 });
  assert.equal(quietestOf([disturbed, quiet]), quiet);
  assert.equal(quietestOf([]), undefined);
});
