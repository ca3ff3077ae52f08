import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../loadtest/random.ts';
import { systemClock } from '../../../src/runtime.ts';
import { createDeadlines, type DeadlineMember } from '../../../src/stores/redis/node.ts';
import { until } from '../../until.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Members by name, on timers and a clock that the test moves. */
function scripted(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const deadlines = createDeadlines({ monotonicMs: () => nowMs });
  const expired: string[] = [];
  return {
    deadlines,
    expired,
    nowMs: () => nowMs,
    join: (name: string, afterMs: number): DeadlineMember => {
      const member: DeadlineMember = {
        dueAtMs: 0,
        older: undefined,
        newer: undefined,
        expire: () => void expired.push(`${name} at ${nowMs}`),
      };
      deadlines.join(member, afterMs, nowMs);
      return member;
    },
    pass: (ms: number): void => {
      for (let step = 0; step < ms; step += 1) {
        nowMs += 1;
        t.mock.timers.tick(1);
      }
    },
  };
}

test('each member expires once, at its own deadline', (t) => {
  const { deadlines, expired, join, pass } = scripted(t);
  join('a', 50);
  pass(20);
  join('b', 50);
  join('c', 10);
  join('d', 50);
  pass(200);
  assert.deepEqual(expired, ['c at 30', 'a at 50', 'b at 70', 'd at 70']);
  assert.equal(deadlines.size(), 0);
});

test('a member that leaves does not expire, and the others keep their deadlines', (t) => {
  const { deadlines, expired, join, pass } = scripted(t);
  const [first, , middle, , last] = ['a', 'b', 'c', 'd', 'e'].map((name) => join(name, 50));
  for (const member of [middle, first, last, middle]) if (member !== undefined) deadlines.leave(member);
  assert.equal(deadlines.size(), 2);
  pass(200);
  assert.deepEqual(expired, ['b at 50', 'd at 50']);
});

test('under traffic there is one timer per deadline, and an abandoned request still expires in time', (t) => {
  const { deadlines, expired, join, pass } = scripted(t);
  for (let step = 0; step < 500; step += 1) {
    const answered = join('answered', 50);
    if (step % 100 === 33) join(`lost ${step}`, 50);
    pass(1);
    deadlines.leave(answered);
  }
  pass(100);
  assert.deepEqual(expired, [
    'lost 33 at 83',
    'lost 133 at 183',
    'lost 233 at 283',
    'lost 333 at 383',
    'lost 433 at 483',
  ]);
});

test('a member may join again, and others may join or leave, while one expires', (t) => {
  const { deadlines, expired, nowMs, join, pass } = scripted(t);
  let turns = 0;
  const again: DeadlineMember = {
    dueAtMs: 0,
    older: undefined,
    newer: undefined,
    expire: () => {
      turns += 1;
      if (turns === 1) deadlines.leave(neighbour);
      if (turns < 3) deadlines.join(again, 10, nowMs());
    },
  };
  deadlines.join(again, 10, nowMs());
  const neighbour = join('neighbour', 10);
  pass(100);
  assert.equal(turns, 3);
  assert.deepEqual(expired, []);
  assert.equal(deadlines.size(), 0);
});

test('with real timers: none is lost, none early by more than a millisecond, and no timer keeps the process alive', async () => {
  const random = seededRandom(7);
  const before = timers();
  const deadlines = createDeadlines(systemClock);
  const lateByMs: number[] = [];
  let wanted = 0;
  for (let round = 0; round < 20; round += 1) {
    for (let i = 0; i < 20; i += 1) {
      const afterMs = [5, 20.4, 40][Math.floor(random() * 3)] ?? 5;
      const dueAtMs = systemClock.monotonicMs() + afterMs;
      const member: DeadlineMember = {
        dueAtMs: 0,
        older: undefined,
        newer: undefined,
        expire: () => void lateByMs.push(systemClock.monotonicMs() - dueAtMs),
      };
      deadlines.join(member, afterMs, systemClock.monotonicMs());
      if (random() < 0.5) deadlines.leave(member);
      else wanted += 1;
    }
    await sleep(2);
  }
  assert.equal(timers(), before);
  await until('all of them', () => lateByMs.length === wanted);
  assert.ok(Math.min(...lateByMs) > -1, `${Math.min(...lateByMs)} ms`);
  assert.equal(deadlines.size(), 0);
});
