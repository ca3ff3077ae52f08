import assert from 'node:assert/strict';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { type TestContext, test } from 'node:test';
import { driveHttp, servedShare, timesOf } from '../../../loadtest/http-driver/plan.ts';

async function served(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const PATHS = ['/a', '/b', '/c', '/d', '/e'];

test('`once` requests each path once, whatever the number of connections', async (t) => {
  const asked: string[] = [];
  const replica = await served(t, ({ url = '' }, response) => {
    asked.push(url);
    response.end('12345');
  });
  const pace = { kind: 'once', connections: 3 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: 60_000 });
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
  const replicas = [await served(t, listener('one')), await served(t, listener('two'))];
  const pace = { kind: 'burst', times: 4, pathsAtOnce: 2 } as const;
  const driven = await driveHttp({ replicas, paths: PATHS.slice(0, 4), pace, patienceMs: 60_000 });
  assert.equal(driven.requests, 16);
  assert.equal(most, 8);
  assert.equal(asked.size, 8);
});

test('the rate is kept whatever the answers are, and paths are requested in turn', async (t) => {
  const asked: string[] = [];
  const replica = await served(t, ({ url = '' }, response) => {
    asked.push(url);
    setTimeout(() => response.end(), 300);
  });
  const pace = { kind: 'rate', perSecond: 100, seconds: 0.3 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: 60_000 });
  assert.equal(driven.requests, 30);
  assert.equal(asked.filter((url) => url === '/a').length, 6);
  assert.ok((driven.servedMs?.p50 ?? 0) >= 295, `${driven.servedMs?.p50} ms`);
});

test('refusals, broken answers and missing answers are counted separately, and their times are kept apart from pages', async (t) => {
  const replica = await served(t, ({ url }, response) => {
    if (url === '/a') response.end('page');
    if (url === '/b') response.writeHead(503).end();
    if (url === '/c') response.writeHead(200, { 'content-length': 10 }).write('half');
    if (url === '/c') setTimeout(() => response.destroy(), 50);
    if (url === '/d') response.destroy();
  });
  const pace = { kind: 'once', connections: 5 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: 2000 });
  assert.deepEqual(driven.outcomes, { 200: 1, 503: 1, broken: 2 });
  assert.equal(driven.hung, 1);
  assert.equal(driven.pathsServed, 1);
  assert.ok(driven.servedMs !== undefined);
  assert.equal(driven.servedMs.p50, driven.servedMs.max);
  assert.ok((driven.failedMs?.max ?? 0) >= 45);
});

test('when no page is served there is no serving time', async (t) => {
  const replica = await served(t, (_, response) => response.writeHead(500).end());
  const pace = { kind: 'once', connections: 1 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: 60_000 });
  assert.equal(driven.servedMs, undefined);
  assert.equal(servedShare(driven), 0);
});

test('requests in the lead-in of a rate are in no figure', async (t) => {
  let asked = 0;
  const replica = await served(t, (_, response) => {
    asked += 1;
    response.writeHead(asked <= 10 ? 500 : 200).end('page');
  });
  const pace = { kind: 'rate', perSecond: 100, seconds: 0.2, leadSeconds: 0.1 } as const;
  const driven = await driveHttp({ replicas: [replica], paths: PATHS, pace, patienceMs: 60_000 });
  assert.equal(asked, 30);
  assert.deepEqual([driven.requests, driven.outcomes], [20, { 200: 20 }]);
});

test('a server that stalls delays the requests that came due during the stall', async (t) => {
  let isFirst = true;
  const replica = await served(t, (_, response) => {
    // The driver runs in this process and stalls with it: it can send only afterwards.
    if (isFirst) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    isFirst = false;
    response.end();
  });
  const pace = { kind: 'rate', perSecond: 100, seconds: 0.2 } as const;
  const { requests, servedMs } = await driveHttp({ replicas: [replica], paths: ['/a'], pace, patienceMs: 60_000 });
  assert.equal(requests, 20);
  // Due at 0, 10, … 190 ms, and none answered before 200 ms: a busy machine only increases the latency.
  assert.ok((servedMs?.p50 ?? 0) >= 95, `${servedMs?.p50} ms`);
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
