import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StoreBeat } from '../../src/cache/store.ts';
import { createMembership, fleetShare, type Membership } from '../../src/control/membership.ts';
import { createFakeClock } from '../fakes/clock.ts';

const counted = (live: number, rank: number): StoreBeat => ({ kind: 'fleet', live, rank, ids: [] });
const AWAY: StoreBeat = { kind: 'fault', fault: 'store-down' };

const settled = async (): Promise<void> => {
  for (let i = 0; i < 5; i += 1) await Promise.resolve();
};

function harness(t: TestContext, first: StoreBeat | Promise<StoreBeat> = counted(1, 0)) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const calls: string[] = [];
  let answer: StoreBeat | Promise<StoreBeat> = first;
  const store = {
    beat: async (id: string, ttlMs: number, deadlineMs: number): Promise<StoreBeat> => {
      calls.push(`beat ${id} ${ttlMs} ${deadlineMs}`);
      return answer;
    },
    leave: async (id: string, deadlineMs: number): Promise<void> => {
      calls.push(`leave ${id} ${deadlineMs}`);
    },
  };
  const fleet = createMembership({ store, id: 'me', clock, random: () => 0.5 });
  t.after(fleet.close);
  return {
    fleet,
    calls,
    /** Sets the reply of the store. */
    replies: (beat: typeof first): void => {
      answer = beat;
    },
    /** Lets seconds pass, with one heartbeat in each. */
    pass: async (seconds: number): Promise<void> => {
      await settled();
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1000);
        t.mock.timers.tick(1000);
        await settled();
      }
    },
  };
}

const seen = ({ live, rank, counted }: Membership): string =>
  `${rank()} of ${live()}${counted() ? '' : ', not counted'}`;

test('without a store a process is alone, and counted', async (t) => {
  const fleet = createMembership({ id: 'me', clock: createFakeClock(), random: () => 0.5 });
  t.after(fleet.close);
  assert.equal(seen(fleet), '0 of 1');
});

test('the first heartbeat leaves at once, then one every second, and a process is alone until the first count', async (t) => {
  const { fleet, calls, replies, pass } = harness(t, AWAY);
  assert.equal(seen(fleet), '0 of 1, not counted');
  await pass(1);
  assert.equal(seen(fleet), '0 of 1, not counted');
  replies(counted(3, 2));
  await pass(1);
  assert.equal(seen(fleet), '2 of 3');
  assert.deepEqual(calls, Array(3).fill('beat me 5000 200'));
});

test('heartbeats are spread over 0.8 to 1.2 of the interval', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const [random, ms] of [
    [0, 800],
    [0.999, 1200],
  ] as const) {
    let beats = 0;
    const beat = async (): Promise<StoreBeat> => {
      beats += 1;
      return counted(1, 0);
    };
    const store = { beat, leave: async (): Promise<void> => undefined };
    const fleet = createMembership({ store, id: 'me', clock: createFakeClock(), random: () => random });
    await settled();
    t.mock.timers.tick(ms - 2);
    assert.equal(beats, 1);
    t.mock.timers.tick(2);
    assert.equal(beats, 2);
    await fleet.close();
  }
});

test('while the store is away the last known count stays', async (t) => {
  const { fleet, replies, pass } = harness(t, counted(4, 1));
  await pass(1);
  replies(AWAY);
  await pass(60);
  assert.equal(seen(fleet), '1 of 4');
});

test('a higher count applies at once, a lower one only after the lifetime of a dead process', async (t) => {
  const { fleet, replies, pass } = harness(t, counted(2, 1));
  await pass(1);
  replies(counted(3, 1));
  await pass(1);
  assert.equal(seen(fleet), '1 of 3');
  replies(counted(2, 0));
  await pass(5);
  assert.equal(seen(fleet), '1 of 3', 'count and rank still fit those of the others');
  await pass(1);
  assert.equal(seen(fleet), '0 of 2');
});

test('when a store that lost its data counts from zero, no process assumes that it is alone', async (t) => {
  const { fleet, replies, pass } = harness(t, counted(3, 1));
  await pass(1);
  for (const reply of [counted(1, 0), counted(2, 0), counted(3, 1)]) {
    replies(reply);
    await pass(1);
    assert.equal(seen(fleet), '1 of 3');
  }
  replies(counted(1, 0));
  await pass(1);
  replies(AWAY);
  await pass(30);
  replies(counted(1, 0));
  await pass(5);
  assert.equal(
    seen(fleet),
    '1 of 3',
    'after an absence the store must report the lower count for the whole time again',
  );
});

test('a lower count with interruptions does not apply', async (t) => {
  const { fleet, replies, pass } = harness(t, counted(3, 1));
  await pass(1);
  for (let round = 0; round < 3; round += 1) {
    replies(counted(2, 0));
    await pass(4);
    replies(counted(3, 1));
    await pass(1);
  }
  replies(counted(2, 0));
  await pass(4);
  assert.equal(seen(fleet), '1 of 3');
});

test('with the same count another rank applies at once', async (t) => {
  const { fleet, replies, pass } = harness(t, counted(3, 1));
  await pass(1);
  replies(counted(3, 2));
  await pass(1);
  assert.equal(seen(fleet), '2 of 3');
});

test('there is one heartbeat at a time, however slow the store is', async (t) => {
  const slow = Promise.withResolvers<StoreBeat>();
  const { fleet, calls, pass, replies } = harness(t, slow.promise);
  await pass(10);
  assert.equal(calls.length, 1);
  replies(counted(2, 0));
  slow.resolve(counted(2, 1));
  await pass(1);
  assert.equal(calls.length, 2);
  assert.equal(seen(fleet), '0 of 2');
});

test('close leaves the count once, after the heartbeat under way', async (t) => {
  const slow = Promise.withResolvers<StoreBeat>();
  const { fleet, calls, pass } = harness(t, slow.promise);
  const closing = fleet.close();
  await settled();
  assert.deepEqual(calls, ['beat me 5000 200']);
  slow.resolve(counted(1, 0));
  await closing;
  await fleet.close();
  await pass(10);
  assert.deepEqual(calls, ['beat me 5000 200', 'leave me 200']);
});

test('shares of a fleet-wide number add up to it, and each is at least 1', () => {
  const shares = (whole: number, live: number): number[] =>
    Array.from({ length: live }, (_, at) => fleetShare(whole, { live, rank: at }));
  assert.deepEqual(shares(8, 1), [8]);
  assert.deepEqual(shares(8, 3), [3, 3, 2]);
  assert.deepEqual(shares(9, 3), [3, 3, 3]);
  assert.deepEqual(shares(5.5, 2), [3, 2]);
  assert.deepEqual(shares(2, 4), [1, 1, 1, 1]);
});
