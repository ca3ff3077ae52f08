import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createPressure, type Pressure } from '../../src/http/search-api/admission.ts';
import { systemClock } from '../../src/runtime.ts';
import { createVirtualTime } from '../fakes/clock.ts';

/** Interval between two samples of the event loop. */
const SAMPLE_MS = 50;

interface Started {
  readonly pressure: Pressure;
  /** An event loop that is never late. */
  readonly pass: (ms: number) => Promise<void>;
  /** One sample comes later by this time. */
  readonly stall: (lateMs: number) => Promise<void>;
}

function start(t: TestContext, bounds: { maxInFlight?: number; maxLoopDelayMs?: number }): Started {
  const clock = createVirtualTime(t, SAMPLE_MS);
  const pressure = createPressure({ clock, maxInFlight: 100, maxLoopDelayMs: 1000, ...bounds });
  t.after(pressure.close);
  const stall = (lateMs: number): Promise<void> => {
    clock.advance(lateMs);
    return clock.pass(SAMPLE_MS);
  };
  return { pressure, stall, pass: clock.pass };
}

test('searches in flight are limited, and a place that was left can be taken again', (t) => {
  const { pressure } = start(t, { maxInFlight: 2 });
  assert.deepEqual([pressure.enter(), pressure.enter(), pressure.enter()], [true, true, false]);
  const { inFlight, maxInFlight, state } = pressure.status();
  assert.deepEqual([inFlight, maxInFlight, state], [2, 2, 'down']);
  pressure.leave();
  assert.deepEqual([pressure.enter(), pressure.enter()], [true, false]);
});

test('near the limit it is not ready after half a second, and ready again when there is room', async (t) => {
  const { pressure, pass } = start(t, { maxInFlight: 4 });
  for (let i = 0; i < 3; i += 1) pressure.enter();
  await pass(500);
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['ok', true]);
  await pass(SAMPLE_MS);
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['degraded', false]);
  assert.equal(pressure.enter(), true, 'no search is refused yet');
  assert.equal(pressure.status().state, 'down');
  pressure.leave();
  pressure.leave();
  await pass(SAMPLE_MS);
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['ok', true]);
});

test('after half a second at the limit it sheds and is ready, after a longer time it is not ready', async (t) => {
  const { pressure, pass } = start(t, { maxInFlight: 2 });
  pressure.enter();
  pressure.enter();
  await pass(500);
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['down', true]);
  await pass(SAMPLE_MS);
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['down', false]);
});

test('repeated bursts with room between them never change readiness', async (t) => {
  const { pressure, pass } = start(t, { maxInFlight: 2 });
  for (let burst = 0; burst < 5; burst += 1) {
    for (let i = 0; i < 2; i += 1) pressure.enter();
    await pass(400);
    for (let i = 0; i < 2; i += 1) pressure.leave();
    await pass(SAMPLE_MS);
    assert.equal(pressure.status().ready, true);
  }
});

test('a long stall of the event loop sheds, and its effect is over within a second', async (t) => {
  const { pressure, pass, stall } = start(t, { maxLoopDelayMs: 300 });
  await pass(500);
  assert.equal(pressure.enter(), true);
  await stall(60_000);
  assert.equal(pressure.enter(), false);
  assert.equal(pressure.status().state, 'down');
  await pass(300);
  assert.equal(pressure.status().state, 'down');
  await pass(SAMPLE_MS);
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['ok', true]);
  assert.equal(pressure.enter(), true);
  await pass(450);
  assert.ok(pressure.status().loopDelayMs < 1, `${pressure.status().loopDelayMs} ms after 0.8 s`);
});

test('a single pause below twice the limit sheds nothing, repeated pauses do', async (t) => {
  const { pressure, stall } = start(t, { maxLoopDelayMs: 400 });
  await stall(790);
  assert.deepEqual([pressure.enter(), pressure.status().loopDelayMs], [true, 395]);
  for (let i = 0; i < 3; i += 1) await stall(790);
  assert.equal(pressure.enter(), false);
  assert.equal(pressure.status().ready, false);
});

test('it stops measuring when it is closed', async (t) => {
  const { pressure, stall } = start(t, {});
  await stall(500);
  assert.equal(pressure.status().loopDelayMs, 250);
  pressure.close();
  await stall(500);
  assert.equal(pressure.status().loopDelayMs, 250);
});

test('its timer does not keep the process alive', (t) => {
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const control = setInterval(() => undefined, 60_000);
  assert.equal(timers(), before + 1, 'a timer that keeps the process alive would be seen');
  clearInterval(control);
  t.after(createPressure({ clock: systemClock, maxInFlight: 100, maxLoopDelayMs: 1000 }).close);
  assert.equal(timers(), before);
});
