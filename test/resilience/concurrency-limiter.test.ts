import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { idle } from '../fakes/idle.ts';
import { type Asked, limiterHarness, states } from './harness.ts';

test('no more run at once than allowed, and first come is first served', async (t) => {
  const { limiter, ask, pass } = limiterHarness(t, 2);
  const asked = Array.from({ length: 5 }, () => ask());
  await idle();
  assert.equal(states(asked), 'runs runs waits waits waits');
  asked[0]?.release();
  await idle();
  assert.equal(states(asked), 'released runs runs waits waits');
  assert.deepEqual([limiter.inFlight(), limiter.queued(), limiter.max()], [2, 2, 2]);
  for (const one of asked.slice(1)) {
    one.release();
    await idle();
  }
  await pass(1);
  assert.deepEqual([limiter.inFlight(), limiter.queued()], [0, 0]);
});

test('releasing twice gives back one place', async (t) => {
  const { limiter, clock } = limiterHarness(t, 2, { maxQueued: 0 });
  const options = { deadlineAtMs: clock.monotonicMs() + 100, priority: 'interactive' } as const;
  const [release] = [await limiter.acquire(options), await limiter.acquire(options)];
  release();
  release();
  assert.equal(limiter.inFlight(), 1);
});

test('without a queue, whoever finds no place is refused at once', async (t) => {
  const { limiter, ask } = limiterHarness(t, 1, { maxQueued: 0 });
  const [, second] = [ask(), ask()];
  await idle();
  assert.equal(second.state, 'queue-full');
  assert.equal(limiter.queued(), 0);
});

test('in a full queue the oldest makes room for the newest', async (t) => {
  const { ask } = limiterHarness(t, 1, { maxQueued: 2 });
  const asked = [ask(), ask(), ask(), ask()];
  await idle();
  assert.equal(states(asked), 'runs queue-full waits waits');
});

test('a waiter past its deadline leaves the queue by itself', async (t) => {
  const { limiter, ask, pass } = limiterHarness(t, 1);
  const [, patient, hasty] = [ask(), ask({ deadlineMs: 20 }), ask({ deadlineMs: 10 })];
  await pass(9);
  assert.equal(states([patient, hasty]), 'waits waits');
  await pass(1);
  assert.equal(states([patient, hasty]), 'waits queue-expired');
  await pass(10);
  assert.equal(patient.state, 'queue-expired');
  assert.equal(limiter.queued(), 0);
});

test('who comes with its deadline passed gets a free place, and is not queued', async (t) => {
  const { ask } = limiterHarness(t, 1);
  const asked = [ask({ deadlineMs: 0 }), ask({ deadlineMs: 0 })];
  await idle();
  assert.equal(states(asked), 'runs queue-expired');
});

test('an abort leaves the queue, takes no place when it was there before, and gives none back afterwards', async (t) => {
  const { limiter, ask } = limiterHarness(t, 1);
  const leaving = new AbortController();
  const running = ask({ signal: leaving.signal });
  const waiting = ask({ signal: leaving.signal });
  await idle();
  leaving.abort();
  const late = ask({ signal: leaving.signal });
  await idle();
  assert.equal(states([running, waiting, late]), 'runs left left');
  assert.deepEqual([limiter.inFlight(), limiter.queued()], [1, 0]);
  assert.equal(getEventListeners(leaving.signal, 'abort').length, 0);
});

test('nobody is admitted while more run than may, nor stranded when more may', async (t) => {
  const rig = limiterHarness(t, 4);
  const asked = Array.from({ length: 10 }, () => rig.ask());
  await idle();
  rig.max = 2;
  asked[0]?.release();
  asked[1]?.release();
  await idle();
  assert.deepEqual([rig.limiter.inFlight(), rig.limiter.queued()], [2, 6]);
  asked[2]?.release();
  await idle();
  assert.equal(rig.limiter.inFlight(), 2, 'one for one');
  rig.max = 4;
  asked[3]?.release();
  await idle();
  assert.equal(rig.limiter.inFlight(), 4, 'a release admits as many as fit');
  rig.max = 6;
  const newcomer = rig.ask();
  await idle();
  assert.deepEqual([rig.limiter.inFlight(), rig.limiter.queued()], [6, 1]);
  assert.equal(newcomer.state, 'waits', 'a newcomer admits who was there before');
});

test('a waiter that was given a place or refused one listens to no signal any more', async (t) => {
  const { ask, limiter } = limiterHarness(t, 1);
  const { signal } = new AbortController();
  const first = ask();
  const [served, refused] = [ask({ signal }), ask({ signal })];
  await idle();
  assert.equal(getEventListeners(signal, 'abort').length, 2);
  first.release();
  limiter.refuseAll();
  await idle();
  assert.equal(states([served, refused]), 'runs queue-expired');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a maximum below one, or none at all, counts as one', async (t) => {
  const rig = limiterHarness(t, 0);
  for (const max of [0, 0.4, -3, Number.NaN]) {
    rig.max = max;
    assert.equal(rig.limiter.max(), 1);
  }
  const one: Asked = rig.ask();
  await idle();
  assert.equal(one.state, 'runs');
});

test('an empty queue keeps no timer', async (t) => {
  const { ask, pass } = limiterHarness(t, 1);
  const timers = t.mock.method(globalThis, 'setTimeout');
  const cleared = t.mock.method(globalThis, 'clearTimeout');
  const [first, second] = [ask(), ask()];
  await idle();
  assert.equal(timers.mock.callCount(), 1, 'one for the queue');
  first.release();
  await idle();
  assert.equal(second.state, 'runs');
  assert.ok(cleared.mock.calls.some((call) => call.arguments[0] === timers.mock.calls[0]?.result));
  await pass(1);
});
