import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRIORITIES } from '../../src/resilience/codel-queue.ts';
import { idle } from '../fakes/idle.ts';
import { limiterHarness, states } from './harness.ts';

test('interactive goes before refresh, refresh before warm-up, warm-up before shadow', async (t) => {
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

test('refreshes use at most half the slots, warm-ups and shadows together a quarter, and all of them together half', async (t) => {
  const { limiter, ask } = limiterHarness(t, 8);
  const low = [
    ...['warm-up', 'shadow', 'warm-up'].map((priority) => ask({ priority: priority as 'warm-up' | 'shadow' })),
    ...Array.from({ length: 4 }, () => ask({ priority: 'refresh' })),
  ];
  await idle();
  assert.equal(states(low), 'runs runs waits runs runs waits waits');
  const interactive = Array.from({ length: 5 }, () => ask());
  await idle();
  assert.equal(states(interactive), 'runs runs runs runs waits', 'the other half is for interactive searches');
  assert.equal(limiter.inFlight(), 8);
});

test('with three slots each background priority may use one', async (t) => {
  for (const priority of ['refresh', 'warm-up', 'shadow'] as const) {
    await t.test(priority, async (t) => {
      const { ask } = limiterHarness(t, 3);
      const asked = [ask({ priority }), ask({ priority })];
      await idle();
      assert.equal(states(asked), 'runs waits');
    });
  }
});

test('with one slot a refresh runs when no interactive search waits', async (t) => {
  const { ask } = limiterHarness(t, 1);
  const alone = ask({ priority: 'refresh' });
  await idle();
  assert.equal(alone.state, 'runs');
  const [refresh, client] = [ask({ priority: 'refresh' }), ask()];
  await idle();
  alone.release();
  await idle();
  assert.equal(states([refresh, client]), 'waits runs');
  client.release();
  await idle();
  assert.equal(refresh.state, 'runs');
});

test('a refresh that waits for its share of the slots delays no interactive search', async (t) => {
  const { ask } = limiterHarness(t, 4);
  const refreshes = Array.from({ length: 3 }, () => ask({ priority: 'refresh' }));
  const client = ask();
  await idle();
  assert.equal(states([...refreshes, client]), 'runs runs waits runs');
});

test('in a full queue the oldest waiter of the least urgent priority makes room', async (t) => {
  const { ask } = limiterHarness(t, 1, { maxQueued: 3 });
  ask();
  const asked = [ask(), ask({ priority: 'shadow' }), ask({ priority: 'shadow' })];
  asked.push(ask(), ask(), ask({ priority: 'refresh' }));
  await idle();
  assert.equal(states(asked), 'waits queue-full queue-full waits waits queue-full');
});

test('`spare` is the number of slots that a refresh could take: none while interactive searches wait', async (t) => {
  const harness = limiterHarness(t, 8);
  assert.equal(harness.limiter.spare(), 4);
  harness.ask();
  harness.ask({ priority: 'refresh' });
  await idle();
  assert.equal(harness.limiter.spare(), 3);
  for (let one = 0; one < 5; one += 1) harness.ask();
  await idle();
  assert.equal(harness.limiter.spare(), 1);
  harness.ask();
  harness.ask();
  await idle();
  assert.equal(harness.limiter.spare(), 0);
  harness.max = 16;
  assert.equal(harness.limiter.spare(), 0, 'an interactive search still waits');
});
