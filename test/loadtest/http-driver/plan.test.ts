import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import { createHistogram } from 'node:perf_hooks';
import { test } from 'node:test';
import { driveHttp, servedShare, timesOf } from '../../../loadtest/http-driver/plan.ts';
import { listening } from '../../http-listener.ts';
import { LIMIT_MS } from '../../until.ts';

const PATHS = ['/a', '/b', '/c', '/d', '/e'];

test('`once` requests each path once, whatever the number of connections', async (t) => {
  const asked: string[] = [];
  const replica = await listening(t, ({ url = '' }, response) => {
    asked.push(url);
    response.end('12345');
  });
  const pace = { kind: 'once', connections: 3 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: LIMIT_MS });
  assert.deepEqual(asked.toSorted(), PATHS);
  assert.equal(driven.bodyBytes, 25);
  assert.equal(driven.pathsServed, 5);
  assert.equal(servedShare(driven), 1);
});

test('a burst is in flight all at once, and every path reaches every replica', async (t) => {
  const asked = new Set<string>();
  let most = 0;
  const open: ServerResponse[] = [];
  const listener =
    (name: string): RequestListener =>
    ({ url = '' }, response) => {
      asked.add(`${name}${url}`);
      most = Math.max(most, open.push(response));
      // Two paths, four times each: none is answered before all of them are in flight.
      if (open.length === 8) for (const one of open.splice(0)) one.end();
    };
  const replicas = [await listening(t, listener('one')), await listening(t, listener('two'))];
  const pace = { kind: 'burst', times: 4, pathsAtOnce: 2 } as const;
  const driven = await driveHttp({ replicas, paths: PATHS.slice(0, 4), pace, patienceMs: LIMIT_MS });
  assert.equal(driven.requests, 16);
  assert.equal(most, 8);
  assert.equal(asked.size, 8);
});

test('the rate is kept whatever the answers are, and paths are requested in turn', async (t) => {
  const asked: string[] = [];
  const open: ServerResponse[] = [];
  let isHeld = true;
  // None is answered before all of them are in flight, or one of them was given up.
  const release = (): void => {
    isHeld = false;
    for (const one of open.splice(0)) one.end();
  };
  const replica = await listening(t, ({ url = '' }, response) => {
    asked.push(url);
    open.push(response.once('close', release));
    if (!isHeld || open.length === 30) release();
  });
  const pace = { kind: 'rate', perSecond: 100, seconds: 0.3 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: LIMIT_MS });
  assert.deepEqual([driven.requests, driven.outcomes], [30, { 200: 30 }]);
  assert.equal(asked.filter((url) => url === '/a').length, 6);
});

test('refusals, broken answers and missing answers are counted separately, and their times are kept apart from pages', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const replica = await listening(t, ({ url }, response) => {
    if (url === '/a') response.end('page');
    if (url === '/b') response.writeHead(503).end();
    if (url === '/c') response.writeHead(200, { 'content-length': 10 }).write('half', () => response.destroy());
    if (url === '/d') response.destroy();
    // The last one: all others have ended.
    if (url === '/e') t.mock.timers.tick(LIMIT_MS);
  });
  const pace = { kind: 'once', connections: 1 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: LIMIT_MS });
  assert.deepEqual(driven.outcomes, { 200: 1, 503: 1, broken: 2 });
  assert.equal(driven.hung, 1);
  assert.equal(driven.pathsServed, 1);
  assert.ok(driven.servedMs !== undefined);
  assert.equal(driven.servedMs.p50, driven.servedMs.max);
  assert.ok(driven.failedMs !== undefined);
});

test('when no page is served there is no serving time', async (t) => {
  const replica = await listening(t, (_, response) => response.writeHead(500).end());
  const pace = { kind: 'once', connections: 1 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: LIMIT_MS });
  assert.equal(driven.servedMs, undefined);
  assert.equal(servedShare(driven), 0);
});

test('requests in the lead-in of a rate are in no figure', async (t) => {
  let asked = 0;
  const replica = await listening(t, (_, response) => {
    asked += 1;
    response.writeHead(asked <= 10 ? 500 : 200).end('page');
  });
  const pace = { kind: 'rate', perSecond: 100, seconds: 0.2, leadSeconds: 0.1 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: LIMIT_MS });
  assert.equal(asked, 30);
  assert.deepEqual([driven.requests, driven.outcomes], [20, { 200: 20 }]);
});

test('for latencies of 1 to 1000 ms each percentile has the right value', () => {
  const us = createHistogram();
  for (let ms = 1; ms <= 1000; ms += 1) us.record(ms * 1000);
  const { p50, p99, max } = timesOf(us);
  for (const [ms, wanted] of [
    [p50, 500],
    [p99, 990],
    [max, 1000],
  ] as const)
    assert.ok(Math.abs(ms - wanted) < 2, `${ms} ms, not ${wanted}`);
});
