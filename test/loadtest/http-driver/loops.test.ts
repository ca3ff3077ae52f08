import assert from 'node:assert/strict';
import { createHistogram } from 'node:perf_hooks';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { openLoop } from '../../../loadtest/http-driver/loops.ts';
import { MAX_IN_FLIGHT, timesOf } from '../../../loadtest/http-driver/plan.ts';
import { seededRandom } from '../../../loadtest/random.ts';

const isAbout = (ms: number | undefined, wanted: number): void =>
  assert.ok(ms !== undefined && Math.abs(ms - wanted) < 2, `${ms} ms, not ${wanted}`);

/** 1000 requests a second for one second, by a clock that only the pauses move; each is answered when it is sent. */
async function aSecond(pauseMs: (pause: number) => number) {
  let [now, pauses] = [0, 0];
  const us = createHistogram();
  const pause = async (): Promise<void> => {
    pauses += 1;
    now += pauseMs(pauses);
  };
  const send = async (_: number, dueMs: number): Promise<void> => {
    us.record(Math.max(1, Math.round((now - dueMs) * 1000)));
  };
  await openLoop({ ratePerSecond: 1000, maxRequests: 1000, nowMs: () => now, pause, send }).ended;
  return { count: us.count, ...timesOf(us) };
}

test('a stall of 100 ms delays every request that was due during it: p99 is about 100 ms', async () => {
  const { count, p50, p99, max } = await aSecond((pause) => (pause === 500 ? 100 : 1));
  assert.equal(count, 1000);
  isAbout(max, 99);
  isAbout(p99, 90);
  isAbout(p50, 0);
});

test('a timer that is two milliseconds late is not counted as latency of the server', async () => {
  const { max } = await aSecond(() => 2);
  assert.ok(max < 0.1, `${max} ms`);
});

test('at most 512 requests are in flight; a request due beyond that waits, and is timed from when it was due', async () => {
  let now = 0;
  const asked: { readonly dueMs: number; readonly answer: () => void }[] = [];
  const pause = async (): Promise<void> => {
    now += 1;
  };
  const send = (_: number, dueMs: number): Promise<void> => new Promise((answer) => asked.push({ dueMs, answer }));
  const options = { ratePerSecond: 1000, maxRequests: 600, maxInFlight: MAX_IN_FLIGHT, nowMs: () => now, pause };
  const { ended } = openLoop({ ...options, send });
  await turn();
  assert.equal(asked.length, 512);
  now = 5000;
  for (const { answer } of asked.slice()) answer();
  await turn();
  assert.deepEqual(
    asked.slice(512).map(({ dueMs }) => Math.round(dueMs)),
    Array.from({ length: 88 }, (_, at) => 512 + at),
  );
  for (const { answer } of asked) answer();
  await ended;
});

test('arrivals follow their rate, also when a timer is late, and none comes after the stop', async () => {
  const steps = [2, 998, 9000, 1000];
  let [now, before] = [0, 0];
  const arrived: number[] = [];
  const pause = async (): Promise<void> => {
    if (steps.length === 1) {
      assert.ok(arrived.length > 900 && arrived.length < 1100, `${arrived.length} in ten seconds`);
      before = arrived.length;
      loop.stop();
    }
    now += steps.shift() ?? 0;
  };
  const send = (n: number): unknown => arrived.push(n);
  const loop = openLoop({ ratePerSecond: 100, random: seededRandom(1), nowMs: () => now, pause, send });
  await loop.ended;
  assert.deepEqual([now, steps], [11_000, []]);
  assert.equal(arrived.length, before);
  assert.deepEqual(arrived, [...arrived.keys()]);
  assert.ok(Math.max(...loop.lagMs()) > 8000);
});
