import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AdminHarness, adminHarness, bearer, TOKEN } from './harness.ts';

const OPEN = ['/metrics', '/healthz', '/admin/openapi.json', '/ops', '/ops/report', '/ops/assets/:version/*'];

async function everyRoute(context: TestContext, token: string): Promise<AdminHarness['routes']> {
  const { server, routes } = adminHarness(context, { token });
  await server.app.ready();
  assert.ok(routes.length > 30, 'all routes are registered');
  return routes.map(({ method, url }) => ({ method, url }));
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

test('with a configured token, every route needs it except those without data', async (context) => {
  const routes = await everyRoute(context, TOKEN);
  const { app } = adminHarness(context).server;
  let asked = 0;
  for (const { method, url } of routes) {
    for (const authorization of [undefined, 'Bearer nope', TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, 'Bearer ']) {
      const headers = authorization === undefined ? {} : { authorization };
      asked += 1;
      // Each request has another address: after some wrong tokens, those of one address are no longer compared.
      const remoteAddress = `10.0.${asked >> 8}.${asked & 255}`;
      const { statusCode } = await app.inject({ method: method as 'GET', url, headers, remoteAddress });
      const isOpen = OPEN.includes(url) && isRead(method);
      assert.equal(statusCode === 401, !isOpen, `${method} ${url} with ${authorization}`);
    }
  }
});

test('without a configured token everything may be read and nothing changed', async (context) => {
  const routes = await everyRoute(context, '');
  for (const token of [undefined, '']) {
    const { server, entries } = adminHarness(context, { token: token as string });
    const changing = routes.filter(({ method }) => !isRead(method));
    for (const { method, url } of changing) {
      const refused = await server.app.inject({ method: method as 'POST', url, headers: bearer, payload: {} });
      assert.deepEqual([refused.statusCode, refused.json().code], [403, 'token-not-set'], url);
      assert.match(refused.json().detail, /ADMIN_TOKEN/);
    }
    for (const url of ['/admin/domains', '/admin/drills', '/admin/audit', '/nope']) {
      const { statusCode } = await server.app.inject({ url });
      assert.equal(statusCode, url === '/nope' ? 404 : 200);
    }
    await server.close();
    const counted = entries.reduce((sum, { result, omitted = 0 }) => sum + (result === 'omitted' ? 0 : 1) + omitted, 0);
    assert.equal(counted, changing.length, 'each refusal is written or counted');
  }
});

test('a wrong and a missing token have different problem codes', async (context) => {
  const { app } = adminHarness(context).server;
  for (const [authorization, code, title] of [
    [undefined, 'unauthorized', 'Token required'],
    ['', 'unauthorized', 'Token required'],
    [TOKEN, 'unauthorized', 'Token required'],
    [`Basic ${TOKEN}`, 'unauthorized', 'Token required'],
    ['Bearer ', 'unauthorized', 'Token required'],
    ['Bearer nope', 'wrong-token', 'Wrong token'],
    [`bearer ${TOKEN}x`, 'wrong-token', 'Wrong token'],
  ] as const) {
    const headers = authorization === undefined ? {} : { authorization };
    const refused = await app.inject({ url: '/admin/domains', headers });
    assert.deepEqual([refused.statusCode, refused.json().code, refused.json().title], [401, code, title]);
    assert.equal(/error="invalid_token"/.test(String(refused.headers['www-authenticate'])), code === 'wrong-token');
    assert.doesNotMatch(refused.payload, new RegExp(TOKEN));
  }
});

test('without the token an unknown path is not distinguishable from a known one', async (context) => {
  const { app } = adminHarness(context).server;
  for (const method of ['GET', 'POST', 'DELETE'] as const) {
    assert.equal((await app.inject({ method, url: '/admin/nope' })).statusCode, 401);
  }
});

test('a request from another site is refused whatever it carries', async (context) => {
  const { app } = adminHarness(context, { token: '' }).server;
  const withToken = adminHarness(context).server.app;
  for (const fields of [
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    { origin: 'https://elsewhere.example' },
    { origin: 'null' },
    { origin: 'http://localhost:9999' },
  ]) {
    const look = await app.inject({ url: '/admin/domains', headers: fields });
    assert.deepEqual([look.statusCode, look.json().code], [403, 'cross-site'], JSON.stringify(fields));
    const headers = { ...bearer, ...fields };
    const change = await withToken.inject({ method: 'POST', url: '/admin/halt', headers, payload: { reason: 'x' } });
    assert.deepEqual([change.statusCode, change.json().code], [403, 'cross-site'], JSON.stringify(fields));
  }
});

test('requests of own pages, of programs and by followed links are admitted', async (context) => {
  const { app } = adminHarness(context, { token: '' }).server;
  const withToken = adminHarness(context).server.app;
  for (const fields of [
    {},
    { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:80' },
    // A proxy may have changed Host; the browser still knows that it is the same origin.
    { 'sec-fetch-site': 'same-origin', origin: 'https://ops.example' },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    { origin: 'http://localhost' },
  ]) {
    const look = await app.inject({ url: '/admin/domains', headers: fields });
    assert.equal(look.statusCode, 200, JSON.stringify(fields));
    const headers = { ...bearer, ...fields };
    const change = await withToken.inject({ method: 'POST', url: '/admin/halt', headers, payload: { reason: 'x' } });
    assert.equal(change.statusCode, 200, JSON.stringify(fields));
  }
  const link = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  assert.equal((await app.inject({ url: '/admin/explain?q=a', headers: link })).statusCode, 200);
  const form = await withToken.inject({ method: 'POST', url: '/admin/halt', headers: { ...bearer, ...link } });
  assert.equal(form.json().code, 'cross-site');
});

test('a foreign name in Host is refused while reads are free', async (context) => {
  const { app } = adminHarness(context, { token: '' }).server;
  for (const host of ['rebound.example:8081', 'localhost.example', '127.0.0.1.example', '127.0.0.1.nip.example:80']) {
    const { statusCode, payload } = await app.inject({ url: '/admin/domains', headers: { host } });
    assert.deepEqual([statusCode, JSON.parse(payload).parameter], [403, 'Host'], host);
    for (const url of ['/metrics', '/healthz', '/ops', '/admin/openapi.json']) {
      assert.equal((await app.inject({ url, headers: { host } })).json().code, 'cross-site', `${url} for ${host}`);
    }
  }
  for (const host of [
    'localhost:8081',
    '127.0.0.1',
    '127.0.0.1:1',
    '[::1]:8081',
    '[::1]',
    'LOCALHOST',
    'a.localhost',
  ]) {
    for (const url of ['/admin/domains', '/metrics', '/healthz']) {
      assert.equal((await app.inject({ url, headers: { host } })).statusCode, 200, host);
    }
  }
  const named = { ...bearer, host: 'ops.example' };
  assert.equal(
    (await adminHarness(context).server.app.inject({ url: '/admin/domains', headers: named })).statusCode,
    200,
  );
});

test('a configured name in Host is accepted, with and without a token, and no other name is', async (context) => {
  const hosts = ['Metrics.internal'];
  const open = adminHarness(context, { token: '', hosts }).server.app;
  const closed = adminHarness(context, { hosts }).server.app;
  for (const app of [open, closed]) {
    for (const url of ['/metrics', '/healthz', '/admin/domains']) {
      for (const [host, status] of [
        ['metrics.internal:8081', 200],
        ['METRICS.INTERNAL', 200],
        ['127.0.0.1:8081', 200],
        ['rebound.example:8081', 403],
        ['x.metrics.internal', 403],
      ] as const) {
        assert.equal((await app.inject({ url, headers: { ...bearer, host } })).statusCode, status, `${url} ${host}`);
      }
    }
  }
});

test('no answer allows another origin to read it', async (context) => {
  const { app } = adminHarness(context).server;
  for (const [method, url] of [
    ['OPTIONS', '/admin/halt'],
    ['POST', '/admin/halt'],
    ['GET', '/admin/domains'],
    ['GET', '/admin/openapi.json'],
    ['GET', '/ops'],
    ['GET', '/metrics'],
  ] as const) {
    const preflight = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' };
    const { headers } = await app.inject({ method, url, headers: preflight });
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('access-control-')),
      [],
    );
  }
});

test('an open path needs no token to be read, and needs one with a changing method', async (context) => {
  const { app } = adminHarness(context).server;
  for (const url of OPEN.slice(0, 4)) {
    assert.equal((await app.inject({ url })).statusCode, 200, url);
    assert.equal((await app.inject({ method: 'HEAD', url })).statusCode, 200, url);
    assert.equal((await app.inject({ method: 'POST', url, payload: {} })).statusCode, 401, url);
  }
});
