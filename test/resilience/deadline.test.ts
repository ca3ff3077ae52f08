import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createDeadlineTimer, DeadlinePassed, withinDeadline } from '../../src/resilience/deadline.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('once the promise has settled, no timer keeps the process', async () => {
  const before = timers();
  const [value, failure] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const waiting = [withinDeadline(value.promise, 600_000), withinDeadline(failure.promise, 600_000)];
  assert.equal(timers(), before + 2);
  value.resolve('ok');
  failure.reject(new Error('broken'));
  const [kept, broken] = await Promise.allSettled(waiting);
  assert.deepEqual(kept, { status: 'fulfilled', value: 'ok' });
  assert.ok(broken?.status === 'rejected' && broken.reason.message === 'broken');
  assert.equal(timers(), before);
});

test('past the deadline the wait ends, and the promise’s later rejection is nobody’s crash', async () => {
  const late = Promise.withResolvers<string>();
  await assert.rejects(
    withinDeadline(late.promise, 5),
    (error) => error instanceof DeadlinePassed && error.message === 'no answer within 5 ms',
  );
  late.reject(new Error('too late'));
  await idle();
});

test('a deadline already passed still takes what has settled', async () => {
  assert.equal(await withinDeadline(Promise.resolve('ok'), -10), 'ok');
  await assert.rejects(withinDeadline(new Promise(() => undefined), -10), DeadlinePassed);
});

test('after a blocked loop, a reply that lies ready to be read counts', async () => {
  // From here the timers come before everything else.
  await turn();
  const reply = turn('ok');
  const waiting = withinDeadline(reply, 1);
  const untilMs = performance.now() + 5;
  while (performance.now() < untilMs);
  assert.equal(await waiting, 'ok');
});

function rig(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const beganAtMs = clock.monotonicMs();
  const rings: number[] = [];
  const alarm = createDeadlineTimer({ clock, onDue: (nowMs) => rings.push(nowMs - beganAtMs) });
  return {
    rings,
    clear: alarm.clear,
    in: (ms: number) => alarm.fireBy(clock.monotonicMs() + ms),
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
