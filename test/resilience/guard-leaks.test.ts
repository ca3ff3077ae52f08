import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Breaker } from '../../src/resilience/endpoints.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { type GuardHarness, guardHarness } from './harness.ts';

interface Harness extends GuardHarness {
  /** Takes the only slot. */
  readonly hold: () => Promise<() => void>;
  /** Number of times that a slot was asked for. */
  readonly acquired: () => number;
  /** The behaviour of the breaker from now on. */
  breaker: 'calls' | 'refuses' | 'refuses to start';
}

function harness(): Harness {
  const clock = createFakeClock();
  let acquired = 0;
  const breaker: Breaker = {
    state: () => (made.breaker === 'calls' ? 'closed' : 'open'),
    refuses: () => made.breaker === 'refuses',
    retryAfterMs: () => 0,
    fire: async (call) => {
      if (made.breaker === 'refuses to start') throw new SearchError('breaker-open');
      return call();
    },
    close: () => undefined,
    shutdown: () => undefined,
  };
  const base = guardHarness(undefined, {
    maxConcurrent: 1,
    maxQueued: 4,
    clock,
    breaker,
    limiter: (limiter) => ({
      ...limiter,
      acquire: (options) => {
        acquired += 1;
        return limiter.acquire(options);
      },
    }),
  });
  const hold = (): Promise<() => void> =>
    base.limiter.acquire({ deadlineAtMs: clock.monotonicMs() + 10_000, priority: 'interactive' });
  const made: Harness = { ...base, hold, acquired: () => acquired, breaker: 'calls' };
  return made;
}

const never = async (): Promise<never> => assert.fail('must not be asked');
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('an open breaker refuses before a slot is asked for', async () => {
  const made = harness();
  made.breaker = 'refuses';
  const running = made.run(never);
  assert.equal(made.acquired(), 0);
  await assert.rejects(running, { reason: 'breaker-open' });
  assert.equal(made.acquired(), 0);
  assert.deepEqual(made.events, [{ kind: 'shed', target: 'engine', why: 'breaker-open' }]);
});

test('a call that the breaker refuses to start releases its slot', async () => {
  const made = harness();
  made.breaker = 'refuses to start';
  for (let i = 0; i < 3; i += 1) {
    await assert.rejects(made.run(never), { reason: 'breaker-open' });
    assert.equal(made.limiter.inFlight(), 0);
  }
  made.breaker = 'calls';
  assert.equal(await made.run(async () => 'ok'), 'ok');
});

test('a breaker that opens while a task waits sheds the task, and the engine is not asked', async () => {
  const made = harness();
  const release = await made.hold();
  const waiting = made.run(never);
  assert.equal(made.limiter.queued(), 1);
  made.breaker = 'refuses';
  release();
  await assert.rejects(waiting, { reason: 'breaker-open' });
  assert.equal(made.limiter.inFlight(), 0);
});

test('a task aborted after it got its slot is not started and releases the slot', async () => {
  const made = harness();
  const release = await made.hold();
  const leave = new AbortController();
  const waiting = made.run(never, leave.signal);
  release();
  assert.equal(made.limiter.inFlight(), 1, 'it has its slot');
  leave.abort();
  await assert.rejects(waiting, { reason: 'left' });
  assert.equal(made.limiter.inFlight(), 0);
  assert.ok(!made.events.some(({ kind }) => kind === 'shed'), 'no refusal is counted');
});

test('a finished call leaves no timer', async () => {
  const made = harness();
  const before = timers();
  await made.run(async () => 'ok');
  assert.equal(timers(), before);
});

test('leaving after admission releases the slot, once', async () => {
  const made = harness();
  const admission = await made.admit();
  assert.equal(made.limiter.inFlight(), 1);
  admission.leave();
  admission.leave();
  assert.equal(made.limiter.inFlight(), 0);
});
