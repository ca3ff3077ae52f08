import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetricsWindow } from '../../../src/operations/drills/metrics-window.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createSimulatedDomain } from './harness.ts';

/** Ten seconds of looking twice a second, at ten searches a second. */
async function looked() {
  const clock = createFakeClock();
  const { readings, weather } = createSimulatedDomain(clock, { overlay: () => undefined });
  weather.searchesPerSecond = 10;
  const lookout = createMetricsWindow();
  for (let ms = 0; ms <= 10_000; ms += 500) {
    lookout.add(ms, (await readings.collect()) ?? new Map());
    clock.advance(500);
  }
  return lookout;
}

test('a stretch is as short as it may be, and as long as it takes to see enough', async () => {
  const lookout = await looked();
  assert.equal(lookout.over({ atLeastMs: 2000 })?.seconds, 2);
  assert.equal(lookout.over({ atLeastMs: 2000, atLeastSearches: 50 })?.seconds, 5);
  assert.equal(lookout.over({ atLeastMs: 2000, atLeastSearches: 1001 }), undefined);
});

test('a stretch does not reach back before what is asked about began', async () => {
  const lookout = await looked();
  assert.equal(lookout.over({ atLeastMs: 2000 }, 9000), undefined);
  assert.equal(lookout.over({ atLeastMs: 2000, atLeastSearches: 50 }, 6000), undefined);
  assert.equal(lookout.over({ atLeastMs: 2000, atLeastSearches: 40 }, 6000)?.seconds, 4);
});

test('a stretch does not reach back farther than what may be said of now', async () => {
  const lookout = await looked();
  assert.equal(lookout.over({ atLeastMs: 2000, atLeastSearches: 50, atMostMs: 4000 }), undefined);
  assert.equal(lookout.over({ atLeastMs: 2000, atLeastSearches: 50, atMostMs: 5000 })?.seconds, 5);
});
