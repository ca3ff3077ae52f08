import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRIORITIES } from '../../src/resilience/admission.ts';
import { idle } from '../fakes/idle.ts';
import { limiterHarness, states } from './harness.ts';

test('people go before a refresh, a refresh before a warm-up, a warm-up before a shadow', async (t) => {
  const { ask } = limiterHarness(t, 1);
  const first = ask();
  const asked = PRIORITIES.toReversed().map((priority) => ask({ priority }));
  await idle();
  first.release();
  for (const expected of [
    'waits waits waits runs',
    'waits waits runs released',
    'waits runs released released',
    'runs released released released',
  ]) {
    await idle();
    assert.equal(states(asked), expected);
    asked.find(({ state }) => state === 'runs')?.release();
  }
});

test('refreshes use half the places at the most, warm-ups and shadows together a quarter, and all of them half', async (t) => {
  const { limiter, ask } = limiterHarness(t, 8);
  const low = [
    ...['warm-up', 'shadow', 'warm-up'].map((priority) => ask({ priority: priority as 'warm-up' | 'shadow' })),
    ...Array.from({ length: 4 }, () => ask({ priority: 'refresh' })),
  ];
  await idle();
  assert.equal(states(low), 'runs runs waits runs runs waits waits');
  const people = Array.from({ length: 5 }, () => ask());
  await idle();
  assert.equal(states(people), 'runs runs runs runs waits', 'the other half is for people');
  assert.equal(limiter.inFlight(), 8);
});

test('with two or three places each kind may use one', async (t) => {
  for (const priority of ['refresh', 'warm-up', 'shadow'] as const) {
    await t.test(priority, async (t) => {
      const { ask } = limiterHarness(t, 3);
      const asked = [ask({ priority }), ask({ priority })];
      await idle();
      assert.equal(states(asked), 'runs waits');
    });
  }
});

test('with one place a refresh runs when nobody else waits', async (t) => {
  const { ask } = limiterHarness(t, 1);
  const alone = ask({ priority: 'refresh' });
  await idle();
  assert.equal(alone.state, 'runs');
  const [refresh, person] = [ask({ priority: 'refresh' }), ask()];
  await idle();
  alone.release();
  await idle();
  assert.equal(states([refresh, person]), 'waits runs');
  person.release();
  await idle();
  assert.equal(refresh.state, 'runs');
});

test('a refresh that waits for its part of the places delays nobody', async (t) => {
  const { ask } = limiterHarness(t, 4);
  const refreshes = Array.from({ length: 3 }, () => ask({ priority: 'refresh' }));
  const person = ask();
  await idle();
  assert.equal(states([...refreshes, person]), 'runs runs waits runs');
});

test('in a full queue the oldest of the least urgent makes room', async (t) => {
  const { ask } = limiterHarness(t, 1, { maxQueued: 3 });
  ask();
  const asked = [ask(), ask({ priority: 'shadow' }), ask({ priority: 'shadow' })];
  asked.push(ask(), ask(), ask({ priority: 'refresh' }));
  await idle();
  assert.equal(states(asked), 'waits queue-full queue-full waits waits queue-full');
});

test('what is spare is what a refresh could take: nothing while people wait', async (t) => {
  const rig = limiterHarness(t, 8);
  assert.equal(rig.limiter.spare(), 4);
  rig.ask();
  rig.ask({ priority: 'refresh' });
  await idle();
  assert.equal(rig.limiter.spare(), 3);
  for (let one = 0; one < 5; one += 1) rig.ask();
  await idle();
  assert.equal(rig.limiter.spare(), 1);
  rig.ask();
  rig.ask();
  await idle();
  assert.equal(rig.limiter.spare(), 0);
  rig.max = 16;
  assert.equal(rig.limiter.spare(), 0, 'a person waits still');
});
