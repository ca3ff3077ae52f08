import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Findings } from '../../src/http/search-api/health.ts';
import { fakeStatus, fakeStoreStatus } from '../fakes/status.ts';
import { until } from '../until.ts';
import { held, listeningServer, publicServer, sendBytes } from './harness.ts';

test('a process is ready while every part is ok', async (context) => {
  const { server } = publicServer(context);
  const { statusCode, body, headers } = await server.app.inject({ url: '/readyz' });
  assert.deepEqual([statusCode, JSON.parse(body).status, headers['cache-control']], [200, 'ready', 'no-store']);
});

test('without its store a process is degraded and ready; nodes are counted by state and not named', async (context) => {
  const { server, search } = publicServer(context);
  const lost = { connected: false, breaker: 'open' } as const;
  const store = fakeStoreStatus(
    { 'redis-a.internal:6379': lost, 'redis-b.internal:6379': {} },
    { state: 'down', reasons: ['refused'] },
  );
  search.statuses = [fakeStatus('goods', { state: 'degraded', store }), fakeStatus('auto')];
  const { statusCode, body } = await server.app.inject({ url: '/readyz' });
  assert.equal(statusCode, 200);
  assert.equal(JSON.parse(body).status, 'degraded');
  assert.deepEqual(JSON.parse(body).domains[0].store, {
    state: 'down',
    nodes: 2,
    connected: 1,
    breakers: { open: 1, closed: 1 },
    reasons: ['refused'],
  });
  assert.doesNotMatch(body, /internal/);
});

test('a process is not ready only when every domain is down', async (context) => {
  const { server, search } = publicServer(context);
  search.statuses = [fakeStatus('goods', { state: 'down' }), fakeStatus('auto')];
  assert.equal((await server.app.inject({ url: '/readyz' })).statusCode, 200);
  search.statuses = [fakeStatus('goods', { state: 'down' }), fakeStatus('auto', { state: 'down' })];
  const { statusCode, body } = await server.app.inject({ url: '/readyz' });
  assert.deepEqual([statusCode, JSON.parse(body).status], [503, 'down']);
  assert.equal((await server.app.inject({ url: '/healthz' })).statusCode, 200);
});

test('findings of the doctor are counted by severity, and change neither the status nor the answer of a probe', async (context) => {
  let findings: Findings | undefined;
  const { server } = publicServer(context, { findings: () => findings });
  const readiness = async () => {
    const { statusCode, body } = await server.app.inject({ url: '/readyz' });
    const { status, findings: shown, ...rest } = JSON.parse(body);
    return { statusCode, status, shown, others: Object.keys(rest) };
  };
  const others = ['process', 'domains'];
  assert.deepEqual(await readiness(), { statusCode: 200, status: 'ready', shown: undefined, others });
  findings = { critical: 2, warning: 1, info: 4 };
  assert.deepEqual(await readiness(), { statusCode: 200, status: 'ready', shown: findings, others });
});

test('findings of the doctor are counts alone: neither their checks nor their nodes are public', async (context) => {
  const named = { critical: 1, warning: 0, info: 0, node: 'redis-a.internal:6379', checks: ['store-cpu'] };
  const { server } = publicServer(context, { findings: () => named });
  const { body } = await server.app.inject({ url: '/readyz' });
  assert.deepEqual(JSON.parse(body).findings, { critical: 1, warning: 0, info: 0 });
});

test('a process is not ready from the start of draining, while it still answers', async (context) => {
  const { server, search, url } = await listeningServer(context, { drainMs: 600_000 });
  const release = held(search);
  const slow = fetch(`${url}/search?q=slow`);
  await until('the search to begin', () => search.asked.single.length === 1);
  const closed = server.close();
  const ready = await server.app.inject('/readyz');
  assert.deepEqual([ready.statusCode, ready.json().status], [503, 'draining']);
  release();
  assert.equal((await slow).status, 200);
  assert.deepEqual(await closed, { cut: 0 });
});

/** Bytes of a probe as a balancer sends them. */
const probes: readonly (readonly [who: string, bytes: string, status: number, allow?: string])[] = [
  ['HAProxy by default', 'OPTIONS / HTTP/1.0\r\n\r\n', 204, 'GET, HEAD, OPTIONS'],
  ['HAProxy with a Host', 'OPTIONS / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n', 204, 'GET, HEAD, OPTIONS'],
  ['a probe of the whole server', 'OPTIONS * HTTP/1.0\r\n\r\n', 204, 'GET, HEAD, OPTIONS, POST'],
  ['a preflight', 'OPTIONS /msearch HTTP/1.0\r\n\r\n', 204, 'OPTIONS, POST'],
  ['OPTIONS of nothing', 'OPTIONS /nothing HTTP/1.0\r\n\r\n', 404],
  ['nginx', 'GET /healthz HTTP/1.0\r\nConnection: close\r\n\r\n', 200],
  ['HEAD', 'HEAD /healthz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n', 200],
  ['HEAD of readiness', 'HEAD /readyz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n', 200],
  ['a slash at the end', 'GET /healthz/ HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n', 200],
  ['a slash at the end of readiness', 'GET /readyz/ HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n', 200],
];
for (const lane of ['auto', 'off'] as const) {
  for (const [who, bytes, status, allow] of probes) {
    test(`the probe of a balancer is answered with ${status}, lane ${lane}: ${who}`, async (context) => {
      const { port, events } = await listeningServer(context, { lane });
      const answer = await sendBytes(port, bytes);
      assert.deepEqual([answer.status, answer.headers['allow']], [status, allow]);
      if (bytes.startsWith('HEAD') || status === 204) assert.equal(answer.body, '');
      assert.deepEqual(events, [], 'no search');
    });
  }

  test(`a search with a slash behind its path is the same search, lane ${lane}`, async (context) => {
    const { server, url, search } = await listeningServer(context, { lane });
    const answers = [];
    for (const path of ['/search?q=lamp', '/search/?q=lamp']) answers.push(await (await fetch(url + path)).text());
    assert.equal(answers[0], answers[1]);
    assert.equal(search.asked.single.length, 1, 'one key');
    const payload = { searches: [{ q: 'lamp' }] };
    assert.equal(
      (await server.app.inject({ method: 'POST', url: '/msearch/', payload })).json().results[0].status,
      200,
    );
    assert.equal((await server.app.inject({ method: 'PUT', url: '/search/' })).headers['allow'], 'GET, HEAD, OPTIONS');
    assert.equal((await fetch(`${url}/search//?q=lamp`)).status, 404);
  });
}
