import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type EngineReason, SearchError } from '../../src/resilience/search-error.ts';
import { idle } from '../fakes/idle.ts';
import { DEADLINE_MS, HARD_DEADLINE_MS, guardHarness as harness, timedGuardHarness as timed } from './harness.ts';

const fails = async (): Promise<never> => Promise.reject(new Error('down'));
/** Longer than the time from opening to the probe. */
const RESET_MS = 110;
const untilAborted = (_: number, signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
const never = async (): Promise<never> => assert.fail('must not be asked');

test('failures open the breaker; calls are then shed without starting, until a probe closes it', async (t) => {
  const { guard, events, run, pass } = timed(t);
  for (let i = 0; i < 4; i += 1) await assert.rejects(run(fails), /down/);
  assert.equal(guard.balancer.state(), 'open');
  assert.ok(guard.balancer.retryAfterMs() > 0);
  await assert.rejects(run(never), { reason: 'breaker-open' });
  await pass(RESET_MS);
  assert.equal(await run(async () => 'ok'), 'ok');
  assert.equal(guard.balancer.state(), 'closed');
  const states = events.flatMap((event) => (event.kind === 'breaker' ? [event.state] : []));
  assert.deepEqual(states, ['open', 'half-open', 'closed']);
});

test('an error that proves the engine to be alive does not open the breaker', async (t) => {
  const { guard, run } = harness(t);
  for (let i = 0; i < 20; i += 1)
    await assert.rejects(
      run(async () => Promise.reject(new SearchError('engine-rejected', 'syntax'))),
      /syntax/,
    );
  assert.equal(guard.balancer.state(), 'closed');
});

test('a refusal by the limiter is not a success: it cannot close a breaker', async (t) => {
  const { guard, run, pass } = timed(t, { maxConcurrent: 1, maxQueued: 0 });
  const busy = Promise.withResolvers<void>();
  const running = run(() => busy.promise);
  await assert.rejects(
    run(async () => 'x'),
    { reason: 'queue-full' },
  );
  busy.resolve();
  await running;
  for (let i = 0; i < 3; i += 1) await assert.rejects(run(fails), /down/);
  assert.equal(guard.balancer.state(), 'open');
  await pass(RESET_MS);
  const held = Promise.withResolvers<void>();
  const probe = run(() => held.promise);
  await assert.rejects(
    run(async () => 'x'),
    { name: 'SearchError' },
  );
  assert.equal(guard.balancer.state(), 'half-open');
  held.resolve();
  await probe;
  assert.equal(guard.balancer.state(), 'closed');
});

test('a late reply is delivered and counted as a failure', async (t) => {
  const { guard, run, pass } = timed(t);
  const reply = Promise.withResolvers<string>();
  const late = Array.from({ length: 6 }, () => run(() => reply.promise));
  await pass(DEADLINE_MS - 10);
  assert.equal(guard.balancer.state(), 'closed');
  await pass(20);
  assert.equal(guard.balancer.state(), 'open');
  reply.resolve('late');
  assert.deepEqual(await Promise.all(late), Array(6).fill('late'));
  assert.equal(guard.balancer.state(), 'open');
});

test('a reply in time is a success however long the queue was before it', async (t) => {
  const { guard, run, pass } = timed(t, { maxConcurrent: 1, maxQueued: 8, maxWaitMs: 4 * DEADLINE_MS });
  const replied = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));
  const asked = Promise.allSettled(Array.from({ length: 8 }, () => run(replied)));
  await pass(1000);
  const answered = (await asked).filter(({ status }) => status === 'fulfilled');
  assert.equal(answered.length, 8, 'the last waited for nearly three deadlines');
  assert.equal(guard.balancer.state(), 'closed');
});

test('the hard deadline aborts the call; where the work ends with it the slot is free at once', async (t) => {
  const { guard, run, pass } = timed(t, { maxConcurrent: 1 });
  const cut = assert.rejects(run(untilAborted), /cut/);
  await pass(HARD_DEADLINE_MS - 10);
  assert.equal(guard.limiter.inFlight(), 1);
  await pass(10);
  await cut;
  assert.equal(guard.limiter.inFlight(), 0);
});

test('where the engine continues to work after an abort, the slot is held for one more hard deadline', async (t) => {
  const { guard, run, pass } = timed(t, { maxConcurrent: 1, abortEndsWork: false });
  const cut = assert.rejects(run(untilAborted), /cut/);
  await pass(HARD_DEADLINE_MS);
  await cut;
  assert.equal(guard.limiter.inFlight(), 1);
  await pass(HARD_DEADLINE_MS - 10);
  assert.equal(guard.limiter.inFlight(), 1);
  await pass(10);
  assert.equal(guard.limiter.inFlight(), 0);
});

test('an aborted task leaves the queue and never reaches the engine', async (t) => {
  const { guard, run } = harness(t, { maxConcurrent: 1 });
  const busy = Promise.withResolvers<void>();
  const running = run(() => busy.promise);
  const leave = new AbortController();
  const waiting = run(never, leave.signal);
  leave.abort();
  await assert.rejects(waiting, { reason: 'left' });
  busy.resolve();
  await running;
  assert.equal(guard.limiter.inFlight(), 0);
});

test('a call that throws before its first await releases its slot', async (t) => {
  const { guard, run } = harness(t, { maxConcurrent: 1 });
  const broken = (): Promise<never> => {
    throw new Error('at once');
  };
  await assert.rejects(run(broken), /at once/);
  assert.equal(guard.limiter.inFlight(), 0);
});

test('while calls past their deadline hold every slot, other searches are shed at once instead of queueing', async (t) => {
  const { guard, run, pass } = timed(t, { maxConcurrent: 2, maxQueued: 8 });
  const stuck = Promise.withResolvers<void>();
  const held = [run(() => stuck.promise), run(() => stuck.promise)];
  await pass(DEADLINE_MS);
  // No time passes: the refusal needs no timer.
  await assert.rejects(
    run(async () => 'x'),
    { reason: 'stalled' },
  );
  stuck.resolve();
  await Promise.all(held);
  assert.equal(await run(async () => 'ok'), 'ok');
  assert.equal(guard.limiter.inFlight(), 0);
});

test('after a blocked event loop, a reply that is ready to be read does not make the call late', async (t) => {
  const { guard, run } = harness(t, { maxConcurrent: 1, deadlineMs: 20, maxWaitMs: 1000 });
  // From here the next phase of the event loop is the timers.
  await turn();
  const called = Promise.withResolvers<void>();
  const first = run(() => {
    called.resolve();
    return turn('first');
  });
  const second = run(async () => 'second');
  await called.promise;
  assert.equal(guard.limiter.queued(), 1);
  const untilMs = performance.now() + 30;
  while (performance.now() < untilMs);
  assert.deepEqual(await Promise.all([first, second]), ['first', 'second']);
  await turn();
  assert.equal(guard.troubled(), false, 'no call counts as late');
});

test('while a refusal from outside holds, the engine is not asked and counts as troubled, and no breaker changes', async (t) => {
  let dead = false;
  const { guard, run, events } = harness(t, { forcedOpen: () => dead, opensAfter: 1 });
  assert.equal(await run(async () => 'ok'), 'ok');
  dead = true;
  assert.equal(guard.troubled(), true);
  await assert.rejects(run(never), { reason: 'breaker-open' });
  dead = false;
  assert.equal(guard.troubled(), false);
  assert.equal(await run(async () => 'ok'), 'ok');
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'breaker'),
    [],
  );
});

test('a search in the queue when a refusal from outside begins is shed when it gets its slot, and the slot is released', async (t) => {
  let dead = false;
  const { limiter, run } = harness(t, { forcedOpen: () => dead, maxConcurrent: 1 });
  const going = Promise.withResolvers<string>();
  const first = run(() => going.promise);
  const second = run(never);
  const refused = assert.rejects(second, { reason: 'breaker-open' });
  await idle();
  dead = true;
  going.resolve('ok');
  assert.equal(await first, 'ok');
  await refused;
  assert.equal(limiter.inFlight(), 0);
});

for (const abortEndsWork of [true, false]) {
  test(`a call that never settles gives its slot back (an abort ${abortEndsWork ? 'ends' : 'does not end'} its work)`, async (t) => {
    const { guard, run, pass } = timed(t, { maxConcurrent: 2, abortEndsWork });
    const lost = [1, 2].map(() =>
      assert.rejects(
        run(() => new Promise<never>(() => undefined)),
        { reason: 'engine-deadline' },
      ),
    );
    await pass(2 * HARD_DEADLINE_MS - 20);
    assert.equal(guard.limiter.inFlight(), 2);
    await pass(40);
    await Promise.all(lost);
    if (!abortEndsWork) await pass(HARD_DEADLINE_MS);
    assert.equal(guard.limiter.inFlight(), 0);
    assert.equal(await run(async () => 'ok'), 'ok');
  });
}

test('an engine whose latest calls all failed is failing until it answers one', async (t) => {
  const { guard, run } = harness(t, { opensAfter: 100 });
  const ends = (reason: EngineReason) =>
    assert.rejects(
      run(() => Promise.reject(new SearchError(reason))),
      { reason },
    );
  for (let i = 0; i < 4; i += 1) await ends('engine-rejected');
  assert.equal(guard.failing(), false);
  await ends('engine-unavailable');
  assert.equal(guard.failing(), true);
  await run(async () => 'ok');
  assert.equal(guard.failing(), false);
});
