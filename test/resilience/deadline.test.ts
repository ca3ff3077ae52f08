import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createDeadlineTimer, withinDeadline } from '../../src/resilience/deadline.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('once the promise has settled, no timer keeps the process alive', async () => {
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

test('past the deadline the wait ends, and a later rejection of the promise is handled', async () => {
  const late = Promise.withResolvers<string>();
  await assert.rejects(withinDeadline(late.promise, 5), {
    reason: 'engine-deadline',
    message: 'no answer within 5 ms',
  });
  late.reject(new Error('too late'));
  await idle();
});

test('a deadline that has passed already still takes a settled promise', async () => {
  assert.equal(await withinDeadline(Promise.resolve('ok'), -10), 'ok');
  await assert.rejects(withinDeadline(new Promise(() => undefined), -10), { reason: 'engine-deadline' });
});

test('after a blocked event loop, a reply that is ready to be read counts', async () => {
  // From here the next phase of the event loop is the timers.
  await turn();
  const reply = turn('ok');
  const waiting = withinDeadline(reply, 1);
  const untilMs = performance.now() + 5;
  while (performance.now() < untilMs);
  assert.equal(await waiting, 'ok');
});

function timerHarness(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const beganAtMs = clock.monotonicMs();
  const firings: number[] = [];
  const timer = createDeadlineTimer({ clock, onDue: (nowMs) => firings.push(nowMs - beganAtMs) });
  return {
    firings,
    clear: timer.clear,
    in: (ms: number) => timer.fireBy(clock.monotonicMs() + ms),
    pass: (ms: number, timersMs = ms) => {
      clock.advance(ms);
      t.mock.timers.tick(timersMs);
    },
  };
}

test('deadline timer: it fires once, at the earliest time that was set', (t) => {
  const timer = timerHarness(t);
  for (const ms of [30, 10, 20]) timer.in(ms);
  timer.pass(9);
  assert.deepEqual(timer.firings, []);
  timer.pass(1);
  timer.pass(100);
  assert.deepEqual(timer.firings, [10]);
  timer.in(5);
  timer.pass(5);
  assert.deepEqual(timer.firings, [10, 115]);
});

test('deadline timer: after `clear` it does not fire until it is set again', (t) => {
  const timer = timerHarness(t);
  timer.in(10);
  timer.clear();
  timer.pass(20);
  assert.deepEqual(timer.firings, []);
  timer.in(10);
  timer.pass(10);
  assert.deepEqual(timer.firings, [30]);
});

test('deadline timer: when Node fires early by the clock, it reports the time that was set', (t) => {
  const timer = timerHarness(t);
  timer.in(10.5);
  timer.pass(10, 11);
  assert.deepEqual(timer.firings, [10.5]);
});

test('deadline timer: a time beyond the longest timer fires in between; Infinity never fires', (t) => {
  const timer = timerHarness(t);
  timer.in(2 ** 33);
  timer.pass(2 ** 31 - 1);
  assert.deepEqual(timer.firings, [2 ** 31 - 1]);
  timer.in(Number.POSITIVE_INFINITY);
  timer.pass(2 ** 31);
  assert.equal(timer.firings.length, 1);
});
