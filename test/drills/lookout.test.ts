import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLookout } from '../../src/drills/lookout.ts';
import { survivableShare } from '../../src/drills/survivable.ts';
import type { Figures } from '../../src/meter/reading.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { createWorld } from './world.ts';

/** Ten seconds of looking twice a second, at ten searches a second. */
async function looked() {
  const clock = createFakeClock();
  const { readings, weather } = createWorld(clock, { overlay: () => undefined });
  weather.searchesPerSecond = 10;
  const lookout = createLookout();
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

/** 1000 searches a second, 100 of them engine calls of 10 ms on 8 places: the engine could do eight times as much. */
const BASELINE = { engineCallMs: 10, engineCallsPerSecond: 100, engineMax: 8, searchesPerSecond: 1000 } as Figures;

test('f* follows from what was measured, in proportion to what was lost', () => {
  const measured = { baseline: BASELINE, saturated: false };
  // Half the keys tripled the calls, so all of them would make five times as many; the engine carries eight.
  assert.equal(survivableShare({ ...measured, amplification: 3, share: 0.5 }), 1);
  assert.equal(survivableShare({ ...measured, amplification: 8.5, share: 0.5 }), 7 / 15);
  assert.equal(survivableShare({ ...measured, amplification: undefined, share: 0 }), 7 / 9);
});

test('of an engine that had no place left the most that could be asked of it is taken', () => {
  assert.equal(survivableShare({ baseline: BASELINE, amplification: 3, share: 0.5, saturated: true }), 7 / 9);
  const idle = { ...BASELINE, engineCallsPerSecond: 0 } as Figures;
  assert.equal(survivableShare({ baseline: idle, amplification: undefined, share: 1, saturated: false }), undefined);
});
