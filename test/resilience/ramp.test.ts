import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRamp } from '../../src/resilience/slow-start.ts';
import { createFakeClock } from '../fakes/clock.ts';

test('nothing is held back before a ramp has begun', () => {
  assert.equal(createRamp(createFakeClock()).factor(), 1);
});

test('a ramp climbs from a tenth to all of it, evenly, and ends by itself', () => {
  const clock = createFakeClock();
  const ramp = createRamp({ monotonicMs: clock.monotonicMs, rampMs: 1000 });
  ramp.begin();
  const factors = Array.from({ length: 7 }, () => {
    const factor = ramp.factor();
    clock.advance(250);
    return Number(factor.toFixed(3));
  });
  assert.deepEqual(factors, [0.1, 0.325, 0.55, 0.775, 1, 1, 1]);
});

test('an engine that fell again begins anew', () => {
  const clock = createFakeClock();
  const ramp = createRamp(clock);
  ramp.begin();
  clock.advance(4000);
  ramp.begin();
  assert.equal(ramp.factor(), 0.1);
  clock.advance(5000);
  assert.equal(ramp.factor(), 1);
});
