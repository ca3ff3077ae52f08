import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { type Breaker, BreakerOpen } from '../../src/resilience/breaker.ts';
import type { GuardEvent } from '../../src/resilience/events.ts';
import { createGuard, type Guard, Shed } from '../../src/resilience/guard.ts';
import { createPermit, type Permit, Refused } from '../../src/resilience/permit.ts';
import { createFakeClock } from '../fakes/clock.ts';

interface Rig {
  readonly guard: Guard;
  readonly permit: Permit;
  readonly events: GuardEvent[];
  readonly deadlineAtMs: number;
  /** How often a permit was asked for. */
  readonly acquired: () => number;
  /** What the breaker says, from now on. */
  breaker: 'calls' | 'refuses' | 'refuses to start';
}

function rig(maxConcurrent = 1): Rig {
  const clock = createFakeClock();
  const events: GuardEvent[] = [];
  const permit = createPermit({ maxConcurrent, maxQueued: 4, clock });
  let acquired = 0;
  const breaker: Breaker = {
    state: () => (made.breaker === 'calls' ? 'closed' : 'open'),
    refuses: () => made.breaker === 'refuses',
    retryAfterMs: () => 0,
    fire: async (call) => {
      if (made.breaker === 'refuses to start') throw new BreakerOpen('engine: the breaker is open');
      return call();
    },
    shutdown: () => undefined,
  };
  const guard = createGuard({
    target: 'engine',
    breaker,
    permit: {
      ...permit,
      acquire: (options) => {
        acquired += 1;
        return permit.acquire(options);
      },
    },
    deadlineMs: 250,
    hardDeadlineMs: 600,
    abortEndsWork: true,
    clock,
    observe: (event) => events.push(event),
  });
  const deadlineAtMs = clock.monotonicMs() + 10_000;
  const made: Rig = { guard, permit, events, deadlineAtMs, acquired: () => acquired, breaker: 'calls' };
  return made;
}

const never = async (): Promise<never> => assert.fail('must not be asked');
const why = (error: unknown): string => (error instanceof Shed || error instanceof Refused ? error.why : String(error));
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('an open breaker refuses before a permit is asked for', async () => {
  const made = rig();
  made.breaker = 'refuses';
  const running = made.guard.run({ deadlineAtMs: made.deadlineAtMs, call: never });
  assert.equal(made.acquired(), 0);
  await assert.rejects(running, (error) => why(error) === 'breaker-open');
  assert.equal(made.acquired(), 0);
  assert.deepEqual(made.events, [{ kind: 'shed', target: 'engine', why: 'breaker-open' }]);
});

test('a call that the breaker refuses to start gives its permit back', async () => {
  const made = rig();
  made.breaker = 'refuses to start';
  for (let i = 0; i < 3; i += 1) {
    await assert.rejects(
      made.guard.run({ deadlineAtMs: made.deadlineAtMs, call: never }),
      (error) => why(error) === 'breaker-open',
    );
    assert.equal(made.permit.inFlight(), 0);
  }
  made.breaker = 'calls';
  assert.equal(await made.guard.run({ deadlineAtMs: made.deadlineAtMs, call: async () => 'ok' }), 'ok');
});

test('a breaker that opened while a task waited sheds it, and the engine is not asked', async () => {
  const made = rig();
  const release = await made.permit.acquire({ deadlineAtMs: made.deadlineAtMs });
  const waiting = made.guard.run({ deadlineAtMs: made.deadlineAtMs, call: never });
  assert.equal(made.permit.queued(), 1);
  made.breaker = 'refuses';
  release();
  await assert.rejects(waiting, (error) => why(error) === 'breaker-open');
  assert.equal(made.permit.inFlight(), 0);
});

test('a task no longer wanted when its turn has come is not started, and gives its permit back', async () => {
  const made = rig();
  const release = await made.permit.acquire({ deadlineAtMs: made.deadlineAtMs });
  const leave = new AbortController();
  const waiting = made.guard.run({ deadlineAtMs: made.deadlineAtMs, call: never, unwanted: leave.signal });
  release();
  assert.equal(made.permit.inFlight(), 1, 'its turn has come');
  leave.abort();
  await assert.rejects(waiting, (error) => why(error) === 'left');
  assert.equal(made.permit.inFlight(), 0);
  assert.ok(!made.events.some(({ kind }) => kind === 'shed'), 'nobody was refused');
});

test('a finished call leaves no timer behind', async () => {
  const made = rig();
  const before = timers();
  await made.guard.run({ deadlineAtMs: made.deadlineAtMs, call: async () => 'ok' });
  assert.equal(timers(), before);
});

test('a waiter listens for its abort while it waits, and no longer', async () => {
  const { permit, deadlineAtMs } = rig();
  const release = await permit.acquire({ deadlineAtMs });
  const { signal } = new AbortController();
  const admitted = permit.acquire({ deadlineAtMs, signal });
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  release();
  (await admitted)();
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('the timer of a waiter ends with its wait, whether admitted, pushed out or gone', async () => {
  const { permit, deadlineAtMs } = rig();
  const release = await permit.acquire({ deadlineAtMs });
  const before = timers();
  const leave = new AbortController();
  const gone = assert.rejects(permit.acquire({ deadlineAtMs, signal: leave.signal }), (error) => why(error) === 'left');
  leave.abort();
  await gone;
  assert.equal(timers(), before);
  const pushedOut = assert.rejects(permit.acquire({ deadlineAtMs }), (error) => why(error) === 'queue-full');
  const rest = [1, 2, 3, 4].map(async () => (await permit.acquire({ deadlineAtMs }))());
  assert.equal(permit.queued(), 4);
  await pushedOut;
  assert.equal(timers(), before + 4);
  release();
  await Promise.all(rest);
  assert.equal(timers(), before);
});
