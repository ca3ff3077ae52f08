import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAlarm } from '../../src/resilience/deadline.ts';
import { createFakeClock } from '../fakes/clock.ts';

function rig(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const beganAtMs = clock.monotonicMs();
  const rings: number[] = [];
  const alarm = createAlarm({ clock, ring: (nowMs) => rings.push(nowMs - beganAtMs) });
  return {
    rings,
    clear: alarm.clear,
    in: (ms: number) => alarm.atLatest(clock.monotonicMs() + ms),
    pass: (ms: number, timersMs = ms) => {
      clock.advance(ms);
      t.mock.timers.tick(timersMs);
    },
  };
}

test('it rings once, at the earliest time it was asked for', (t) => {
  const alarm = rig(t);
  for (const ms of [30, 10, 20]) alarm.in(ms);
  alarm.pass(9);
  assert.deepEqual(alarm.rings, []);
  alarm.pass(1);
  alarm.pass(100);
  assert.deepEqual(alarm.rings, [10]);
  alarm.in(5);
  alarm.pass(5);
  assert.deepEqual(alarm.rings, [10, 115]);
});

test('cleared, it is silent until it is asked again', (t) => {
  const alarm = rig(t);
  alarm.in(10);
  alarm.clear();
  alarm.pass(20);
  assert.deepEqual(alarm.rings, []);
  alarm.in(10);
  alarm.pass(10);
  assert.deepEqual(alarm.rings, [30]);
});

test('a timer that is early by the clock tells the time it stood for', (t) => {
  const alarm = rig(t);
  alarm.in(10.5);
  alarm.pass(10, 11);
  assert.deepEqual(alarm.rings, [10.5]);
});

test('what is further away than a timer reaches, or never, rings in between at worst', (t) => {
  const alarm = rig(t);
  alarm.in(2 ** 33);
  alarm.pass(2 ** 31 - 1);
  assert.deepEqual(alarm.rings, [2 ** 31 - 1]);
  alarm.in(Number.POSITIVE_INFINITY);
  alarm.pass(2 ** 31);
  assert.equal(alarm.rings.length, 1);
});
