import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTally } from '../../../../../loadtest/labs/kit/driver/connection.ts';

const isWithinOneInAHundred = (ms: number | undefined, wanted: number): void =>
  assert.ok(ms !== undefined && Math.abs(ms - wanted) <= wanted / 100, `${ms} ms, not ${wanted}`);

/** 1, 2, … 1000 ms, each once. */
function thousand() {
  const clock = { ms: 5000 };
  const tally = createTally(5000, () => clock.ms);
  for (let ms = 1; ms <= 1000; ms += 1) tally.answered(ms);
  clock.ms += 1000;
  return tally.end();
}

test('for latencies of 1 to 1000 ms each percentile has the right value', () => {
  const { answered, latencyMs } = thousand();
  assert.equal(answered, 1000);
  isWithinOneInAHundred(latencyMs.mean, 500.5);
  isWithinOneInAHundred(latencyMs.p50, 500);
  isWithinOneInAHundred(latencyMs.p95, 950);
  isWithinOneInAHundred(latencyMs.p99, 990);
  isWithinOneInAHundred(latencyMs.max, 1000);
});

test('every second has its own entry, also a second in which nothing happened', () => {
  const clock = { ms: 0 };
  const tally = createTally(0, () => clock.ms);
  tally.answered(1);
  clock.ms = 999;
  tally.answered(1);
  clock.ms = 2000;
  tally.answered(50);
  tally.failed('late');
  clock.ms = 3000;
  tally.answered(1);
  clock.ms = 4000;
  const { eachSecond } = tally.end();
  assert.deepEqual(
    eachSecond.map(({ answered, failed }) => [answered, failed]),
    [
      [2, 0],
      [0, 0],
      [1, 1],
      [1, 0],
    ],
  );
});

test('a failed command counts in its second; a connection that could not be opened is not a command', () => {
  const clock = { ms: 0 };
  const tally = createTally(0, () => clock.ms);
  tally.failed('broken', 3);
  tally.failed('refused');
  tally.failed('unconnected', 7);
  clock.ms = 1000;
  const { errors, eachSecond } = tally.end();
  assert.deepEqual(errors, { late: 0, broken: 3, refused: 1, unsent: 0, unconnected: 7 });
  assert.equal(eachSecond[0]?.failed, 4);
});
