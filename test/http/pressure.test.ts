import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { createPressure, type Pressure } from '../../src/http/pressure.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { until } from './serve.ts';

/** Far above what a busy test machine delays a loop by. */
const CALM = 60_000;

test('searches in flight are bounded, and a place that was left is taken again', (context) => {
  const pressure = start(context, { maxInFlight: 2 });
  assert.deepEqual([pressure.enter(), pressure.enter(), pressure.enter()], [true, true, false]);
  const { inFlight, maxInFlight, state } = pressure.status();
  assert.deepEqual([inFlight, maxInFlight, state], [2, 2, 'down']);
  pressure.leave();
  assert.deepEqual([pressure.enter(), pressure.enter()], [true, false]);
});

test('near the bound it stops being ready after a while, and is again when there is room', async (context) => {
  const pressure = start(context, { maxInFlight: 4 });
  for (let i = 0; i < 3; i += 1) pressure.enter();
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['ok', true]);
  await until(() => !pressure.status().ready, 'it is near its bound');
  assert.equal(pressure.status().state, 'degraded');
  assert.equal(pressure.enter(), true, 'nobody is refused yet');
  assert.equal(pressure.status().state, 'down');
  pressure.leave();
  pressure.leave();
  await until(() => pressure.status().ready, 'there is room');
  assert.equal(pressure.status().state, 'ok');
});

test('half a second at the bound sheds without anybody looking elsewhere', async (context) => {
  const clock = createFakeClock();
  const pressure = start(context, { maxInFlight: 2 }, clock);
  pressure.enter();
  pressure.enter();
  // Real timers, of which several sample the same moment.
  await new Promise((resolve) => setTimeout(resolve, 200));
  clock.advance(499);
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['down', true]);
  clock.advance(1);
  assert.deepEqual([pressure.status().state, pressure.status().ready], ['down', false]);
});

test('a long stall of the event loop sheds, and is forgotten within a second', async (context) => {
  const pressure = start(context, { maxLoopDelayMs: 300 });
  await turns(2);
  assert.equal(pressure.enter(), true);
  stall(1000);
  await turns(1);
  assert.equal(pressure.enter(), false);
  assert.equal(pressure.status().state, 'down');
  const [overMs] = [performance.now()];
  await until(() => pressure.status().state === 'ok', 'it has recovered');
  // On a machine that has time for the timers: four samples of 50 ms.
  assert.ok(performance.now() - overMs < 3000);
  assert.equal(pressure.enter(), true);
});

test('one pause below twice the bound sheds nothing, the same again and again does', async (context) => {
  const pressure = start(context, { maxLoopDelayMs: 400 });
  await turns(2);
  stall(650);
  await turns(1);
  assert.equal(pressure.enter(), true);
  for (let i = 0; i < 3; i += 1) {
    stall(650);
    await turns(1);
  }
  assert.equal(pressure.enter(), false);
  assert.equal(pressure.status().ready, false);
});

test('nothing keeps the process alive for it, and once closed it measures nothing', async (context) => {
  const pressure = start(context, { maxLoopDelayMs: 100 });
  pressure.close();
  stall(500);
  await turns(1);
  assert.equal(pressure.status().loopDelayMs, 0);
});

function start(
  context: { after: (end: () => void) => void },
  bounds: { maxInFlight?: number; maxLoopDelayMs?: number },
  clock: Clock = systemClock,
): Pressure {
  const pressure = createPressure({ clock, maxInFlight: 100, maxLoopDelayMs: CALM, ...bounds });
  context.after(pressure.close);
  return pressure;
}

function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Through the timers that are due, and a little further. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setTimeout(resolve, 5));
}
