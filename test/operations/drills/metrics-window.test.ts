import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetricsWindow } from '../../../src/operations/drills/metrics-window.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createSimulatedDomain } from './harness.ts';

/** A window of ten seconds with two readings and ten searches per second. */
async function filledWindow() {
  const clock = createFakeClock();
  const { readings, load } = createSimulatedDomain(clock, { overlay: () => undefined });
  load.searchesPerSecond = 10;
  const metrics = createMetricsWindow();
  for (let ms = 0; ms <= 10_000; ms += 500) {
    metrics.add(ms, (await readings.collect()) ?? new Map());
    clock.advance(500);
  }
  return metrics;
}

test('the period is as short as allowed, and as long as needed for enough searches', async () => {
  const metrics = await filledWindow();
  assert.equal(metrics.over({ atLeastMs: 2000 })?.seconds, 2);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 50 })?.seconds, 5);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 1001 }), undefined);
});

test('the period does not begin before the given start', async () => {
  const metrics = await filledWindow();
  assert.equal(metrics.over({ atLeastMs: 2000 }, 9000), undefined);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 50 }, 6000), undefined);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 40 }, 6000)?.seconds, 4);
});

test('the period is not longer than its maximum', async () => {
  const metrics = await filledWindow();
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 50, atMostMs: 4000 }), undefined);
  assert.equal(metrics.over({ atLeastMs: 2000, atLeastSearches: 50, atMostMs: 5000 })?.seconds, 5);
});
