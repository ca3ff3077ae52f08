import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { systemClock } from '../../src/clock.ts';
import { type AdminServerOptions, createAdminServer } from '../../src/http/admin-server.ts';
import { createFakeSearch } from '../fakes/search.ts';

const TOKEN = 'an-operators-token';
const bearer = { authorization: `Bearer ${TOKEN}` };

function admin(context: TestContext, options: Partial<AdminServerOptions> = {}) {
  const { app, close } = createAdminServer({
    search: createFakeSearch({ clock: systemClock }),
    metricsText: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
    log: pino({ level: 'silent' }),
    clock: systemClock,
    random: () => 0.5,
    drainMs: 100,
    maxUrlBytes: 4096,
    register: (routes) => {
      routes.post('/admin/flush', (_request, reply) => {
        reply.send({ flushed: true });
      });
    },
    ...options,
  });
  context.after(close);
  return app;
}

test('metrics and health need no token', async (context) => {
  const app = admin(context, { token: TOKEN });
  const metrics = await app.inject({ url: '/metrics' });
  assert.deepEqual([metrics.statusCode, metrics.payload], [200, 'up 1\n']);
  assert.match(String(metrics.headers['content-type']), /^text\/plain; version=0\.0\.4/);
  assert.equal((await app.inject({ url: '/healthz' })).statusCode, 200);
});

test('explain takes what search takes', async (context) => {
  const app = admin(context);
  const { canonical, key } = (await app.inject({ url: '/admin/explain?q=%20A%20&page=2' })).json();
  assert.match(canonical, /q=a&region=ru&page=2$/);
  assert.equal(key.length, 22);
  const refused = await app.inject({ url: '/admin/explain?q=a&page=0' });
  assert.deepEqual([refused.statusCode, refused.json().parameter], [400, 'page']);
  assert.equal((await app.inject({ url: '/admin/explain?q=%zz' })).json().code, 'invalid-url');
});

test('the state of each domain is listed', async (context) => {
  const { domains } = (await admin(context).inject({ url: '/admin/domains' })).json();
  assert.deepEqual(
    domains.map(({ domain }: { domain: string }) => domain),
    ['goods', 'auto'],
  );
});

test('without a token every change is refused and says how to set one', async (context) => {
  for (const token of [undefined, '']) {
    const app = admin(context, token === undefined ? {} : { token });
    const refused = await app.inject({ method: 'POST', url: '/admin/flush', headers: bearer });
    assert.deepEqual([refused.statusCode, refused.json().code], [403, 'token-not-set']);
    assert.match(refused.json().detail, /ADMIN_TOKEN/);
    assert.equal((await app.inject({ url: '/admin/domains' })).statusCode, 200);
  }
});

test('with a token, reads and changes need it', async (context) => {
  const app = admin(context, { token: TOKEN });
  for (const headers of [
    {},
    { authorization: 'Bearer nope' },
    { authorization: TOKEN },
    { authorization: `Basic ${TOKEN}` },
  ]) {
    for (const request of [
      { url: '/admin/domains' },
      { method: 'POST', url: '/admin/flush' } as const,
      { url: '/nope' },
    ]) {
      const refused = await app.inject({ ...request, headers });
      assert.deepEqual([refused.statusCode, refused.json().code], [401, 'unauthorized']);
      assert.match(String(refused.headers['www-authenticate']), /^Bearer /);
    }
  }
  assert.equal((await app.inject({ url: '/admin/domains', headers: bearer })).statusCode, 200);
  assert.equal((await app.inject({ method: 'POST', url: '/admin/flush', headers: bearer })).json().flushed, true);
});

test('a body is not read before the token is', async (context) => {
  const app = admin(context, { token: TOKEN });
  const payload = 'x'.repeat(100_000);
  assert.equal((await app.inject({ method: 'POST', url: '/admin/flush', payload })).statusCode, 401);
});

test('metrics that fail are a problem document', async (context) => {
  const app = admin(context, { metricsText: () => Promise.reject(new Error('registry')) });
  const { statusCode, payload } = await app.inject({ url: '/metrics' });
  assert.equal(statusCode, 500);
  assert.doesNotMatch(payload, /registry/);
});
