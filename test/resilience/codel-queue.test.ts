import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idle } from '../fakes/idle.ts';
import {
  LIMITER_DEADLINE_MS,
  type LimiterHarness,
  limiterHarness,
  MAX_WAIT_MS,
  type SlotRequest,
  states,
} from './harness.ts';

const endsAtMs = new WeakMap<SlotRequest, number>();

/** Lets `ms` pass; each running request releases its slot after `holdMs`. */
async function serve(
  harness: LimiterHarness,
  asked: readonly SlotRequest[],
  holdMs: number,
  ms: number,
): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1) {
    for (const one of asked) {
      if (one.state !== 'runs') continue;
      const at = endsAtMs.get(one) ?? harness.clock.monotonicMs() + holdMs;
      endsAtMs.set(one, at);
      if (at <= harness.clock.monotonicMs()) one.release();
    }
    await harness.pass(1);
  }
}

for (const [slots, holdMs] of [
  [2, 4],
  [8, 5],
] as const)
  test(`a burst of fifty on ${slots} idle slots of ${holdMs} ms is answered completely`, async (t) => {
    const harness = limiterHarness(t, slots);
    const asked = Array.from({ length: 50 }, () => harness.ask());
    await idle();
    await serve(harness, asked, holdMs, 300);
    assert.equal(asked.filter(({ state }) => state === 'released').length, 50);
    assert.equal(harness.limiter.overloaded(), false);
  });

for (const isKnown of [false, true])
  test(`in a burst beyond the engine's capacity, the searches that it can serve in time are answered and the others are shed within the deadline${isKnown ? '' : ', also before any call has ended'}`, async (t) => {
    const [slots, holdMs] = [2, 200];
    const harness = limiterHarness(t, slots);
    if (isKnown) await serve(harness, [harness.ask()], holdMs, holdMs + 5);
    const asked = Array.from({ length: 30 }, () => harness.ask());
    await idle();
    await serve(harness, asked, holdMs, MAX_WAIT_MS + holdMs);
    const done = asked.filter(({ state }) => state === 'released');
    const possible = (MAX_WAIT_MS / holdMs) * slots;
    assert.ok(done.length >= 0.8 * possible, `${done.length} of ${possible} possible`);
    const shed = asked.filter(({ state }) => state === 'queue-expired');
    assert.equal(done.length + shed.length, asked.length);
    assert.ok(Math.max(...shed.map(({ waitedMs }) => waitedMs)) < 0.6 * LIMITER_DEADLINE_MS);
  });

test('a burst that the engine clears within the maximum wait is answered completely, newcomers included', async (t) => {
  const harness = limiterHarness(t, 4);
  const asked = Array.from({ length: 16 }, () => harness.ask());
  await idle();
  for (let at = 0; at < 6; at += 1) {
    await serve(harness, asked, 200, 80);
    asked.push(harness.ask());
  }
  assert.equal(harness.limiter.overloaded(), false);
  await serve(harness, asked, 200, 1200);
  assert.equal(states(asked), Array(22).fill('released').join(' '));
  assert.ok(Math.max(...asked.map(({ waitedMs }) => waitedMs)) > LIMITER_DEADLINE_MS / 2, 'some waited long');
});

test('a queue that stands for longer than one maximum wait is overload, however short it is', async (t) => {
  const harness = limiterHarness(t, 2);
  const asked = Array.from({ length: 10 }, () => harness.ask());
  // Searches arrive at the rate at which calls end: the queue never empties, and each search waits half a second.
  for (let ms = 0; ms < 1.5 * MAX_WAIT_MS; ms += 10) {
    const before = asked.filter(({ state }) => state === 'released').length;
    await serve(harness, asked, 100, 10);
    const done = asked.filter(({ state }) => state === 'released').length - before;
    asked.push(...Array.from({ length: done }, () => harness.ask()));
  }
  const shed = asked.filter(({ state }) => state === 'queue-expired');
  assert.ok(shed.length > 0 && shed.every(({ waitedMs }) => waitedMs < LIMITER_DEADLINE_MS / 10));
});

test('`refuseAll` refuses every waiter', async (t) => {
  const harness = limiterHarness(t, 1);
  const asked = [harness.ask(), harness.ask(), harness.ask({ priority: 'refresh' })];
  await idle();
  harness.limiter.refuseAll();
  await idle();
  assert.equal(states(asked), 'runs queue-expired queue-expired');
  asked[0]?.release();
  assert.deepEqual([harness.limiter.inFlight(), harness.limiter.queued()], [0, 0]);
});

interface Load {
  readonly harness: LimiterHarness;
  readonly asked: SlotRequest[];
}

/** Two slots with calls of 20 ms; `perTick` searches arrive every 10 ms. */
async function load({ harness, asked }: Load, ms: number, perTick: number): Promise<void> {
  const running = new Map<SlotRequest, number>();
  for (let passed = 0; passed < ms; passed += 1) {
    if (passed % 10 === 0) for (let one = 0; one < perTick; one += 1) asked.push(harness.ask());
    await harness.pass(1);
    for (const one of asked) {
      if (one.state === 'runs' && !running.has(one)) running.set(one, harness.clock.monotonicMs() + 20);
      if (one.state === 'runs' && (running.get(one) ?? 0) <= harness.clock.monotonicMs()) one.release();
    }
  }
}

for (const times of [2, 5, 10])
  test(`at ${times} times its capacity the engine stays busy, and shed searches are refused within a tenth of the deadline`, async (t) => {
    const harness = limiterHarness(t, 2);
    // The load has lasted longer than any burst may, and the waiters kept until then have left.
    const earlier: SlotRequest[] = [];
    await load({ harness, asked: earlier }, 2 * MAX_WAIT_MS, times);
    assert.ok(
      earlier.every(({ state, waitedMs }) => state !== 'queue-expired' || waitedMs < 0.6 * LIMITER_DEADLINE_MS),
    );
    const asked = earlier.filter(({ state }) => state === 'runs' || state === 'waits');
    const ms = 2500;
    await load({ harness, asked }, ms, times);
    assert.equal(harness.limiter.overloaded(), true);
    const shed = asked.filter(({ state }) => state === 'queue-expired' || state === 'queue-full');
    assert.ok(shed.length > (0.6 * (times - 1) * ms) / 10, `${shed.length} shed`);
    assert.ok(Math.max(...shed.map(({ waitedMs }) => waitedMs)) < LIMITER_DEADLINE_MS / 10);
    const done = asked.filter(
      ({ state, waitedMs }) => state === 'released' && waitedMs <= LIMITER_DEADLINE_MS / 2,
    ).length;
    assert.ok(done >= (0.9 * ms) / 10, `${done} answered`);
  });

test('under overload the newest goes first and refreshes are refused; it ends with the load', async (t) => {
  const harness = limiterHarness(t, 2);
  const asked: SlotRequest[] = [];
  await load({ harness, asked }, 2 * MAX_WAIT_MS, 5);
  const refresh = harness.ask({ priority: 'refresh' });
  const [older, newer] = [harness.ask(), harness.ask()];
  await idle();
  assert.equal(refresh.state, 'queue-full');
  assert.equal(harness.limiter.overloaded(), true);
  asked.find(({ state }) => state === 'runs')?.release();
  await idle();
  assert.equal(states([older, newer]), 'waits runs');
  newer.release();
  await idle();
  await load({ harness, asked: [...asked, older] }, 200, 0);
  assert.equal(harness.limiter.overloaded(), false);
  assert.deepEqual([harness.limiter.inFlight(), harness.limiter.queued()], [0, 0]);
  const later = [harness.ask(), harness.ask(), harness.ask(), harness.ask()];
  await idle();
  later[0]?.release();
  await idle();
  assert.equal(states(later), 'released runs runs waits', 'oldest first again');
});

test('soon after an overload a burst gets no grace period, because under a lasting load the queue is empty at moments', async (t) => {
  const harness = limiterHarness(t, 2);
  const asked: SlotRequest[] = [];
  await load({ harness, asked }, 2 * MAX_WAIT_MS, 5);
  await load({ harness, asked }, 200, 0);
  const longestShedMs = async (): Promise<number> => {
    assert.equal(harness.limiter.overloaded(), false);
    const burst = Array.from({ length: 30 }, () => harness.ask());
    await serve(harness, burst, 200, 2 * MAX_WAIT_MS);
    const shed = burst.filter(({ state }) => state === 'queue-expired');
    assert.equal(shed.length + burst.filter(({ state }) => state === 'released').length, burst.length);
    return Math.max(...shed.map(({ waitedMs }) => waitedMs));
  };
  assert.ok((await longestShedMs()) < LIMITER_DEADLINE_MS / 10);
  await harness.pass(4 * MAX_WAIT_MS);
  assert.ok((await longestShedMs()) > LIMITER_DEADLINE_MS / 10, 'a later burst is measured again');
});

test('an engine that stalls is detected before any of its calls has ended', async (t) => {
  const harness = limiterHarness(t, 2);
  const asked = [harness.ask(), harness.ask()];
  for (let passed = 0; passed < 500; passed += 10) {
    asked.push(harness.ask());
    await harness.pass(10);
  }
  assert.equal(harness.limiter.overloaded(), true);
  assert.ok(harness.limiter.queued() < 25, `${harness.limiter.queued()} wait`);
});

test('a queue without shedding is first come, first served until the deadline', async (t) => {
  const harness = limiterHarness(t, 1, { shedding: false, maxQueued: 4 });
  const asked = Array.from({ length: 6 }, () => harness.ask());
  await harness.pass(MAX_WAIT_MS - 1);
  assert.equal(states(asked), 'runs waits waits waits waits queue-full');
  assert.equal(harness.limiter.overloaded(), false);
  asked[0]?.release();
  await idle();
  assert.equal(asked[1]?.state, 'runs');
  await harness.pass(1);
  assert.equal(states(asked.slice(2, 5)), 'queue-expired queue-expired queue-expired');
});
