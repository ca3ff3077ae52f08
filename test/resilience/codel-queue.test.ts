import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idle } from '../fakes/idle.ts';
import {
  type Asked,
  LIMITER_DEADLINE_MS,
  type LimiterHarness,
  limiterHarness,
  MAX_WAIT_MS,
  states,
} from './harness.ts';

const endsAtMs = new WeakMap<Asked, number>();

/** Each holds its slot for `holdMs` once it has one. */
async function serve(rig: LimiterHarness, asked: readonly Asked[], holdMs: number, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1) {
    for (const one of asked) {
      if (one.state !== 'runs') continue;
      const at = endsAtMs.get(one) ?? rig.clock.monotonicMs() + holdMs;
      endsAtMs.set(one, at);
      if (at <= rig.clock.monotonicMs()) one.release();
    }
    await rig.pass(1);
  }
}

for (const [places, holdMs] of [
  [2, 4],
  [8, 5],
] as const)
  test(`a burst of fifty on ${places} idle places of ${holdMs} ms is answered whole`, async (t) => {
    const rig = limiterHarness(t, places);
    const asked = Array.from({ length: 50 }, () => rig.ask());
    await idle();
    await serve(rig, asked, holdMs, 300);
    assert.equal(asked.filter(({ state }) => state === 'released').length, 50);
    assert.equal(rig.limiter.overloaded(), false);
  });

for (const isKnown of [false, true])
  test(`of a burst the engine cannot do, what it can do in time is answered, and the others hear of it within the deadline${isKnown ? '' : ', before any call is back'}`, async (t) => {
    const [places, holdMs] = [2, 200];
    const rig = limiterHarness(t, places);
    if (isKnown) await serve(rig, [rig.ask()], holdMs, holdMs + 5);
    const asked = Array.from({ length: 30 }, () => rig.ask());
    await idle();
    await serve(rig, asked, holdMs, MAX_WAIT_MS + holdMs);
    const done = asked.filter(({ state }) => state === 'released');
    const possible = (MAX_WAIT_MS / holdMs) * places;
    assert.ok(done.length >= 0.8 * possible, `${done.length} of ${possible} that are possible`);
    const shed = asked.filter(({ state }) => state === 'queue-expired');
    assert.equal(done.length + shed.length, asked.length);
    assert.ok(Math.max(...shed.map(({ waitedMs }) => waitedMs)) < 0.6 * LIMITER_DEADLINE_MS);
  });

test('a burst that the engine clears within the patience is answered whole, those who come meanwhile too', async (t) => {
  const rig = limiterHarness(t, 4);
  const asked = Array.from({ length: 16 }, () => rig.ask());
  await idle();
  for (let at = 0; at < 6; at += 1) {
    await serve(rig, asked, 200, 80);
    asked.push(rig.ask());
  }
  assert.equal(rig.limiter.overloaded(), false);
  await serve(rig, asked, 200, 1200);
  assert.equal(states(asked), Array(22).fill('released').join(' '));
  assert.ok(Math.max(...asked.map(({ waitedMs }) => waitedMs)) > LIMITER_DEADLINE_MS / 2, 'some waited long');
});

test('a queue that stands for longer than one patience is overload, however short it is', async (t) => {
  const rig = limiterHarness(t, 2);
  const asked = Array.from({ length: 10 }, () => rig.ask());
  // As many come as go: the queue never ends, and everybody in it waits half a second.
  for (let ms = 0; ms < 1.5 * MAX_WAIT_MS; ms += 10) {
    const before = asked.filter(({ state }) => state === 'released').length;
    await serve(rig, asked, 100, 10);
    const done = asked.filter(({ state }) => state === 'released').length - before;
    asked.push(...Array.from({ length: done }, () => rig.ask()));
  }
  const shed = asked.filter(({ state }) => state === 'queue-expired');
  assert.ok(shed.length > 0 && shed.every(({ waitedMs }) => waitedMs < LIMITER_DEADLINE_MS / 10));
});

test('when no slot will be free in time everybody who waits is refused', async (t) => {
  const rig = limiterHarness(t, 1);
  const asked = [rig.ask(), rig.ask(), rig.ask({ priority: 'refresh' })];
  await idle();
  rig.limiter.refuseAll();
  await idle();
  assert.equal(states(asked), 'runs queue-expired queue-expired');
  asked[0]?.release();
  assert.deepEqual([rig.limiter.inFlight(), rig.limiter.queued()], [0, 0]);
});

test('fifty clients who ask again and again are all answered while the queue clears in time', async (t) => {
  const rig = limiterHarness(t, 2);
  const asked = Array.from({ length: 50 }, () => rig.ask());
  for (let round = 0; round < 20; round += 1) {
    const before = asked.filter(({ state }) => state === 'released').length;
    await serve(rig, asked, 4, 20);
    const done = asked.filter(({ state }) => state === 'released').length - before;
    asked.push(...Array.from({ length: done }, () => rig.ask()));
  }
  assert.deepEqual([...new Set(asked.map(({ state }) => state))].toSorted(), ['released', 'runs', 'waits']);
});

interface Load {
  readonly rig: LimiterHarness;
  readonly asked: Asked[];
}

/** Two places of 20 ms, asked `perTick` times every 10 ms. */
async function load({ rig, asked }: Load, ms: number, perTick: number): Promise<void> {
  const running = new Map<Asked, number>();
  for (let passed = 0; passed < ms; passed += 1) {
    if (passed % 10 === 0) for (let one = 0; one < perTick; one += 1) asked.push(rig.ask());
    await rig.pass(1);
    for (const one of asked) {
      if (one.state === 'runs' && !running.has(one)) running.set(one, rig.clock.monotonicMs() + 20);
      if (one.state === 'runs' && (running.get(one) ?? 0) <= rig.clock.monotonicMs()) one.release();
    }
  }
}

for (const times of [2, 5, 10])
  test(`at ${times} times what the engine can do it stays busy, and whoever is shed hears of it in a tenth of the deadline`, async (t) => {
    const rig = limiterHarness(t, 2);
    // The load has stayed for longer than any burst may last, and those who were kept until then have gone.
    const earlier: Asked[] = [];
    await load({ rig, asked: earlier }, 2 * MAX_WAIT_MS, times);
    assert.ok(
      earlier.every(({ state, waitedMs }) => state !== 'queue-expired' || waitedMs < 0.6 * LIMITER_DEADLINE_MS),
    );
    const asked = earlier.filter(({ state }) => state === 'runs' || state === 'waits');
    const ms = 2500;
    await load({ rig, asked }, ms, times);
    assert.equal(rig.limiter.overloaded(), true);
    const shed = asked.filter(({ state }) => state === 'queue-expired' || state === 'queue-full');
    assert.ok(shed.length > (0.6 * (times - 1) * ms) / 10, `${shed.length} shed`);
    assert.ok(Math.max(...shed.map(({ waitedMs }) => waitedMs)) < LIMITER_DEADLINE_MS / 10);
    const done = asked.filter(
      ({ state, waitedMs }) => state === 'released' && waitedMs <= LIMITER_DEADLINE_MS / 2,
    ).length;
    assert.ok(done >= (0.9 * ms) / 10, `${done} answered`);
  });

test('under overload the newest goes first, refreshes are refused, and it ends with the load', async (t) => {
  const rig = limiterHarness(t, 2);
  const asked: Asked[] = [];
  await load({ rig, asked }, 2 * MAX_WAIT_MS, 5);
  const refresh = rig.ask({ priority: 'refresh' });
  const [older, newer] = [rig.ask(), rig.ask()];
  await idle();
  assert.equal(refresh.state, 'queue-full');
  assert.equal(rig.limiter.overloaded(), true);
  asked.find(({ state }) => state === 'runs')?.release();
  await idle();
  assert.equal(states([older, newer]), 'waits runs');
  newer.release();
  await idle();
  await load({ rig, asked: [...asked, older] }, 200, 0);
  assert.equal(rig.limiter.overloaded(), false);
  assert.deepEqual([rig.limiter.inFlight(), rig.limiter.queued()], [0, 0]);
  const later = [rig.ask(), rig.ask(), rig.ask(), rig.ask()];
  await idle();
  later[0]?.release();
  await idle();
  assert.equal(states(later), 'released runs runs waits', 'oldest first again');
});

test('soon after an overload a burst has no patience, since a load that stays empties its queue at moments', async (t) => {
  const rig = limiterHarness(t, 2);
  const asked: Asked[] = [];
  await load({ rig, asked }, 2 * MAX_WAIT_MS, 5);
  await load({ rig, asked }, 200, 0);
  const longestShedMs = async (): Promise<number> => {
    assert.equal(rig.limiter.overloaded(), false);
    const burst = Array.from({ length: 30 }, () => rig.ask());
    await serve(rig, burst, 200, 2 * MAX_WAIT_MS);
    const shed = burst.filter(({ state }) => state === 'queue-expired');
    assert.equal(shed.length + burst.filter(({ state }) => state === 'released').length, burst.length);
    return Math.max(...shed.map(({ waitedMs }) => waitedMs));
  };
  assert.ok((await longestShedMs()) < LIMITER_DEADLINE_MS / 10);
  await rig.pass(4 * MAX_WAIT_MS);
  assert.ok((await longestShedMs()) > LIMITER_DEADLINE_MS / 10, 'a burst after a while is measured again');
});

test('an engine that stands still is seen before any of its calls is back', async (t) => {
  const rig = limiterHarness(t, 2);
  const asked = [rig.ask(), rig.ask()];
  for (let passed = 0; passed < 500; passed += 10) {
    asked.push(rig.ask());
    await rig.pass(10);
  }
  assert.equal(rig.limiter.overloaded(), true);
  assert.ok(rig.limiter.queued() < 25, `${rig.limiter.queued()} wait`);
});

test('a queue without shedding is first come, first served until the deadline', async (t) => {
  const rig = limiterHarness(t, 1, { shedding: false, maxQueued: 4 });
  const asked = Array.from({ length: 6 }, () => rig.ask());
  await rig.pass(MAX_WAIT_MS - 1);
  assert.equal(states(asked), 'runs waits waits waits waits queue-full');
  assert.equal(rig.limiter.overloaded(), false);
  asked[0]?.release();
  await idle();
  assert.equal(asked[1]?.state, 'runs');
  await rig.pass(1);
  assert.equal(states(asked.slice(2, 5)), 'queue-expired queue-expired queue-expired');
});
