import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { idle } from '../fakes/idle.ts';
import { limiterHarness, type SlotRequest, states } from './harness.ts';

test('no more calls run at once than allowed, first come, first served', async (t) => {
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

test('releasing twice frees one slot', async (t) => {
  const { limiter, clock } = limiterHarness(t, 2, { maxQueued: 0 });
  const options = { deadlineAtMs: clock.monotonicMs() + 100, priority: 'interactive' } as const;
  const [release] = [await limiter.acquire(options), await limiter.acquire(options)];
  release();
  release();
  assert.equal(limiter.inFlight(), 1);
});

test('a slot held for longer than any call may take is overdue until it is released', async (t) => {
  const { limiter, clock } = limiterHarness(t, 3, { maxHoldMs: 1000 });
  const take = () => limiter.acquire({ deadlineAtMs: clock.monotonicMs() + 100, priority: 'interactive' });
  const first = await take();
  clock.advance(600);
  const second = await take();
  clock.advance(400);
  assert.equal(limiter.overdue(), 0);
  clock.advance(1);
  assert.equal(limiter.overdue(), 1);
  clock.advance(600);
  assert.equal(limiter.overdue(), 2);
  first();
  assert.equal(limiter.overdue(), 1);
  second();
  assert.equal(limiter.overdue(), 0);
});

test('without a queue, a search that finds no free slot is refused at once', async (t) => {
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
  const [, later, sooner] = [ask(), ask({ deadlineMs: 20 }), ask({ deadlineMs: 10 })];
  await pass(9);
  assert.equal(states([later, sooner]), 'waits waits');
  await pass(1);
  assert.equal(states([later, sooner]), 'waits queue-expired');
  await pass(10);
  assert.equal(later.state, 'queue-expired');
  assert.equal(limiter.queued(), 0);
});

test('a search whose deadline has passed gets a free slot but is not queued', async (t) => {
  const { ask } = limiterHarness(t, 1);
  const asked = [ask({ deadlineMs: 0 }), ask({ deadlineMs: 0 })];
  await idle();
  assert.equal(states(asked), 'runs queue-expired');
});

test('an aborted signal removes a waiter, prevents a later acquire, and does not release a running slot', async (t) => {
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

test('a lowered maximum admits no waiter until enough calls have ended; a raised one admits waiters', async (t) => {
  const harness = limiterHarness(t, 4);
  const asked = Array.from({ length: 10 }, () => harness.ask());
  await idle();
  harness.max = 2;
  asked[0]?.release();
  asked[1]?.release();
  await idle();
  assert.deepEqual([harness.limiter.inFlight(), harness.limiter.queued()], [2, 6]);
  asked[2]?.release();
  await idle();
  assert.equal(harness.limiter.inFlight(), 2, 'a release admits one');
  harness.max = 4;
  asked[3]?.release();
  await idle();
  assert.equal(harness.limiter.inFlight(), 4, 'a release admits as many as fit');
  harness.max = 6;
  const newcomer = harness.ask();
  await idle();
  assert.deepEqual([harness.limiter.inFlight(), harness.limiter.queued()], [6, 1]);
  assert.equal(newcomer.state, 'waits', 'a newcomer admits the earlier waiters');
});

test('an admitted or refused waiter no longer listens to its signal', async (t) => {
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

test('a maximum below one, or NaN, counts as one', async (t) => {
  const harness = limiterHarness(t, 0);
  for (const max of [0, 0.4, -3, Number.NaN]) {
    harness.max = max;
    assert.equal(harness.limiter.max(), 1);
  }
  const one: SlotRequest = harness.ask();
  await idle();
  assert.equal(one.state, 'runs');
});

test('an empty queue keeps no timer', async (t) => {
  const { ask, pass } = limiterHarness(t, 1);
  const timers = t.mock.method(globalThis, 'setTimeout');
  const cleared = t.mock.method(globalThis, 'clearTimeout');
  const [first, second] = [ask(), ask()];
  await idle();
  assert.equal(timers.mock.callCount(), 1, 'one timer for the queue');
  first.release();
  await idle();
  assert.equal(second.state, 'runs');
  assert.ok(cleared.mock.calls.some((call) => call.arguments[0] === timers.mock.calls[0]?.result));
  await pass(1);
});
