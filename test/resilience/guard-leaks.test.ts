import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shed } from '../../src/resilience/admission.ts';
import { type Breaker, BreakerOpen } from '../../src/resilience/breaker.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { type GuardHarness, guardHarness } from './harness.ts';

interface Rig extends GuardHarness {
  /** Takes the only permit. */
  readonly hold: () => Promise<() => void>;
  /** How often a permit was asked for. */
  readonly acquired: () => number;
  /** What the breaker says, from now on. */
  breaker: 'calls' | 'refuses' | 'refuses to start';
}

function rig(): Rig {
  const clock = createFakeClock();
  let acquired = 0;
  const breaker: Breaker = {
    state: () => (made.breaker === 'calls' ? 'closed' : 'open'),
    refuses: () => made.breaker === 'refuses',
    retryAfterMs: () => 0,
    fire: async (call) => {
      if (made.breaker === 'refuses to start') throw new BreakerOpen('engine: the breaker is open');
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
  const made: Rig = { ...base, hold, acquired: () => acquired, breaker: 'calls' };
  return made;
}

const never = async (): Promise<never> => assert.fail('must not be asked');
const why = (error: unknown): string => (error instanceof Shed ? error.why : String(error));
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('an open breaker refuses before a permit is asked for', async () => {
  const made = rig();
  made.breaker = 'refuses';
  const running = made.run(never);
  assert.equal(made.acquired(), 0);
  await assert.rejects(running, (error) => why(error) === 'breaker-open');
  assert.equal(made.acquired(), 0);
  assert.deepEqual(made.events, [{ kind: 'shed', target: 'engine', why: 'breaker-open' }]);
});

test('a call that the breaker refuses to start gives its permit back', async () => {
  const made = rig();
  made.breaker = 'refuses to start';
  for (let i = 0; i < 3; i += 1) {
    await assert.rejects(made.run(never), (error) => why(error) === 'breaker-open');
    assert.equal(made.limiter.inFlight(), 0);
  }
  made.breaker = 'calls';
  assert.equal(await made.run(async () => 'ok'), 'ok');
});

test('a breaker that opened while a task waited sheds it, and the engine is not asked', async () => {
  const made = rig();
  const release = await made.hold();
  const waiting = made.run(never);
  assert.equal(made.limiter.queued(), 1);
  made.breaker = 'refuses';
  release();
  await assert.rejects(waiting, (error) => why(error) === 'breaker-open');
  assert.equal(made.limiter.inFlight(), 0);
});

test('a task no longer wanted when its turn has come is not started, and gives its permit back', async () => {
  const made = rig();
  const release = await made.hold();
  const leave = new AbortController();
  const waiting = made.run(never, leave.signal);
  release();
  assert.equal(made.limiter.inFlight(), 1, 'its turn has come');
  leave.abort();
  await assert.rejects(waiting, (error) => why(error) === 'left');
  assert.equal(made.limiter.inFlight(), 0);
  assert.ok(!made.events.some(({ kind }) => kind === 'shed'), 'nobody was refused');
});

test('a finished call leaves no timer behind', async () => {
  const made = rig();
  const before = timers();
  await made.run(async () => 'ok');
  assert.equal(timers(), before);
});

test('whoever leaves after being admitted gives the permit back, once', async () => {
  const made = rig();
  const admission = await made.admit();
  assert.equal(made.limiter.inFlight(), 1);
  admission.leave();
  admission.leave();
  assert.equal(made.limiter.inFlight(), 0);
});
