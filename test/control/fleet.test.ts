import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StoreBeat } from '../../src/cache/store.ts';
import { createFleet, type Fleet, fleetShare } from '../../src/control/membership.ts';
import { createFakeClock } from '../fakes/clock.ts';

const of = (live: number, rank: number): StoreBeat => ({ kind: 'fleet', live, rank });
const AWAY: StoreBeat = { kind: 'fault', fault: 'store-down' };

interface Scene {
  readonly fleet: Fleet;
  readonly said: string[];
  /** What the store says from now on. */
  readonly says: (beat: StoreBeat | Promise<StoreBeat>) => void;
  /** Lets so many seconds pass, a beat in each. */
  readonly pass: (seconds: number) => Promise<void>;
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 5; i += 1) await Promise.resolve();
};

function scene(t: TestContext, first: StoreBeat | Promise<StoreBeat> = of(1, 0)): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const said: string[] = [];
  let answer: StoreBeat | Promise<StoreBeat> = first;
  const store = {
    beat: async (id: string, ttlMs: number, deadlineMs: number): Promise<StoreBeat> => {
      said.push(`beat ${id} ${ttlMs} ${deadlineMs}`);
      return answer;
    },
    leave: async (id: string, deadlineMs: number): Promise<void> => {
      said.push(`leave ${id} ${deadlineMs}`);
    },
  };
  const fleet = createFleet({ store, id: 'me', clock, random: () => 0.5 });
  t.after(fleet.close);
  return {
    fleet,
    said,
    says: (beat) => {
      answer = beat;
    },
    pass: async (seconds) => {
      await settled();
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1000);
        t.mock.timers.tick(1000);
        await settled();
      }
    },
  };
}

const seen = ({ live, rank, counted }: Fleet): string => `${rank()} of ${live()}${counted() ? '' : ', not counted'}`;

test('without a store a process is alone, and counted', async (t) => {
  const fleet = createFleet({ id: 'me', clock: createFakeClock(), random: () => 0.5 });
  t.after(fleet.close);
  assert.equal(seen(fleet), '0 of 1');
});

test('it beats at once and then every second, and is alone until it was counted', async (t) => {
  const { fleet, said, says, pass } = scene(t, AWAY);
  assert.equal(seen(fleet), '0 of 1, not counted');
  await pass(1);
  assert.equal(seen(fleet), '0 of 1, not counted');
  says(of(3, 2));
  await pass(1);
  assert.equal(seen(fleet), '2 of 3');
  assert.deepEqual(said, Array(3).fill('beat me 5000 200'));
});

test('beats are spread over 0.8 to 1.2 of the interval', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const [random, ms] of [
    [0, 800],
    [0.999, 1200],
  ] as const) {
    let beats = 0;
    const beat = async (): Promise<StoreBeat> => {
      beats += 1;
      return of(1, 0);
    };
    const store = { beat, leave: async (): Promise<void> => undefined };
    const fleet = createFleet({ store, id: 'me', clock: createFakeClock(), random: () => random });
    await settled();
    t.mock.timers.tick(ms - 2);
    assert.equal(beats, 1);
    t.mock.timers.tick(2);
    assert.equal(beats, 2);
    await fleet.close();
  }
});

test('while the store is away the last known count stays', async (t) => {
  const { fleet, says, pass } = scene(t, of(4, 1));
  await pass(1);
  says(AWAY);
  await pass(60);
  assert.equal(seen(fleet), '1 of 4');
});

test('a newcomer counts at once, a process that is gone only after its lifetime', async (t) => {
  const { fleet, says, pass } = scene(t, of(2, 1));
  await pass(1);
  says(of(3, 1));
  await pass(1);
  assert.equal(seen(fleet), '1 of 3');
  says(of(2, 0));
  await pass(5);
  assert.equal(seen(fleet), '1 of 3', 'number and rank still fit those of the others');
  await pass(1);
  assert.equal(seen(fleet), '0 of 2');
});

test('a store that lost its data and counts from nothing makes nobody take himself for the only one', async (t) => {
  const { fleet, says, pass } = scene(t, of(3, 1));
  await pass(1);
  for (const heard of [of(1, 0), of(2, 0), of(3, 1)]) {
    says(heard);
    await pass(1);
    assert.equal(seen(fleet), '1 of 3');
  }
  says(of(1, 0));
  await pass(1);
  says(AWAY);
  await pass(30);
  says(of(1, 0));
  await pass(5);
  assert.equal(seen(fleet), '1 of 3', 'a store that comes back has to say it for as long again');
});

test('what is said now and then is not said for long', async (t) => {
  const { fleet, says, pass } = scene(t, of(3, 1));
  await pass(1);
  for (let round = 0; round < 3; round += 1) {
    says(of(2, 0));
    await pass(4);
    says(of(3, 1));
    await pass(1);
  }
  says(of(2, 0));
  await pass(4);
  assert.equal(seen(fleet), '1 of 3');
});

test('of the same number another rank is taken at once', async (t) => {
  const { fleet, says, pass } = scene(t, of(3, 1));
  await pass(1);
  says(of(3, 2));
  await pass(1);
  assert.equal(seen(fleet), '2 of 3');
});

test('one beat at a time, however slow', async (t) => {
  const slow = Promise.withResolvers<StoreBeat>();
  const { fleet, said, pass, says } = scene(t, slow.promise);
  await pass(10);
  assert.equal(said.length, 1);
  says(of(2, 0));
  slow.resolve(of(2, 1));
  await pass(1);
  assert.equal(said.length, 2);
  assert.equal(seen(fleet), '0 of 2');
});

test('closing leaves, once, and after a beat that is under way', async (t) => {
  const slow = Promise.withResolvers<StoreBeat>();
  const { fleet, said, pass } = scene(t, slow.promise);
  const closing = fleet.close();
  await settled();
  assert.deepEqual(said, ['beat me 5000 200']);
  slow.resolve(of(1, 0));
  await closing;
  await fleet.close();
  await pass(10);
  assert.deepEqual(said, ['beat me 5000 200', 'leave me 200']);
});

test('what belongs to all is divided so that nothing is left over and nobody has none', () => {
  const shares = (whole: number, live: number): number[] =>
    Array.from({ length: live }, (_, at) => fleetShare(whole, { live: () => live, rank: () => at }));
  assert.deepEqual(shares(8, 1), [8]);
  assert.deepEqual(shares(8, 3), [3, 3, 2]);
  assert.deepEqual(shares(9, 3), [3, 3, 3]);
  assert.deepEqual(shares(5.5, 2), [3, 2]);
  assert.deepEqual(shares(2, 4), [1, 1, 1, 1]);
});
