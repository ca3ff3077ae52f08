import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStream } from '../../../loadtest/traffic/stream.ts';
import { seededRandom } from '../../../src/runtime.ts';
import { createFakeClock } from '../../fakes/clock.ts';

test('arrivals follow their rate, also when a timer is late, and none comes after the stop', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const clock = createFakeClock();
  const arrived: number[] = [];
  const arrive = (n: number): unknown => arrived.push(n);
  const stream = startStream({ ratePerSecond: 100, random: seededRandom(1), clock, arrive });
  for (const ms of [2, 998, 9000]) {
    clock.advance(ms);
    t.mock.timers.tick(2);
  }
  assert.ok(arrived.length > 900 && arrived.length < 1100, `${arrived.length} in ten seconds`);
  assert.deepEqual(arrived, [...arrived.keys()]);
  assert.ok(Math.max(...stream.lagMs()) > 8000);
  const before = arrived.length;
  stream.stop();
  clock.advance(1000);
  t.mock.timers.tick(2);
  assert.equal(arrived.length, before);
});

test('after an hour of arrivals only the latest lags are kept', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const clock = createFakeClock();
  let arrivals = 0;
  const arrive = (): void => {
    arrivals += 1;
  };
  const stream = startStream({ ratePerSecond: 2000, random: seededRandom(1), clock, arrive });
  t.after(stream.stop);
  for (let second = 0; second < 600; second += 1) {
    clock.advance(1000);
    t.mock.timers.tick(2);
  }
  assert.ok(arrivals > 1_000_000);
  assert.ok(stream.lagMs().length <= 200_000 && stream.lagMs().length >= 100_000, `${stream.lagMs().length} are kept`);
});
