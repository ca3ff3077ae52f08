import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { atRate } from '../../../../loadtest/labs/peers/measure/at-rate.ts';
import { driveHttp, timesOf } from '../../../../loadtest/labs/peers/measure/http-driver.ts';

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
  await atRate(['/a'], { perSecond: 1000, seconds: 1, nowMs: () => now, pause }, async (_, dueMs) => {
    us.record(Math.max(1, Math.round((now - dueMs) * 1000)));
  });
  return { count: us.count, ...timesOf(us) };
}

test('for latencies of 1 to 1000 ms each percentile has the right value', () => {
  const us = createHistogram();
  for (let ms = 1; ms <= 1000; ms += 1) us.record(ms * 1000);
  const { p50, p99, max } = timesOf(us);
  isAbout(p50, 500);
  isAbout(p99, 990);
  isAbout(max, 1000);
});

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
  const over = atRate(['/a'], { perSecond: 1000, seconds: 0.6, nowMs: () => now, pause }, (_, dueMs) => {
    return new Promise((answer) => asked.push({ dueMs, answer }));
  });
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
  await over;
});

test('a server that stalls delays the requests that came due during the stall', async (t) => {
  let isFirst = true;
  const server = createServer((_, response) => {
    // The driver runs in this process and stalls with it: it can send only afterwards.
    if (isFirst) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    isFirst = false;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const replicas = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  const pace = { kind: 'rate', perSecond: 100, seconds: 0.2 } as const;
  const { requests, servedMs } = await driveHttp({ replicas, paths: ['/a'], pace, patienceMs: 5000 });
  assert.equal(requests, 20);
  // Due at 0, 10, … 190 ms, and none answered before 200 ms: a busy machine only increases the latency.
  assert.ok((servedMs?.p50 ?? 0) >= 95, `${servedMs?.p50} ms`);
});
