import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN_TOKEN, publicServer } from './serve.ts';

const url = '/search?q=x';

test('no-cache from anybody is ignored', async (context) => {
  const { server, search } = publicServer(context);
  await server.app.inject({ url });
  for (const authorization of [
    undefined,
    'Bearer wrong',
    `Basic ${ADMIN_TOKEN}`,
    `Bearer ${ADMIN_TOKEN}x`,
    ADMIN_TOKEN,
  ]) {
    const headers = { 'cache-control': 'no-cache', ...(authorization === undefined ? {} : { authorization }) };
    const { headers: answered } = await server.app.inject({ url, headers });
    assert.match(String(answered['cache-status']), /; hit;/, authorization);
  }
  assert.equal(search.asked.bypass.length, 0);
});

test('no-cache from an operator asks the engine', async (context) => {
  const { server, search } = publicServer(context);
  await server.app.inject({ url });
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  await server.app.inject({ url, headers: { 'cache-control': 'max-age=0, no-cache', authorization } });
  assert.equal(search.asked.bypass.length, 1);
  await server.app.inject({ url, headers: { authorization } });
  await server.app.inject({ url, headers: { 'cache-control': 'x-no-cache-please', authorization } });
  assert.equal(search.asked.bypass.length, 1);
});

test('without an admin token nobody is an operator', async (context) => {
  const { server, search } = publicServer(context, { adminToken: '' });
  await server.app.inject({ url, headers: { 'cache-control': 'no-cache', authorization: 'Bearer ' } });
  assert.equal(search.asked.bypass.length, 0);
});
