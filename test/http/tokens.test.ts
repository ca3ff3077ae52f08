import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../fakes/clock.ts';
import { createFakeSearch } from '../fakes/search.ts';
import { adminHarness, bearer, TOKEN } from './admin/harness.ts';
import { get, listeningServer, publicServer, sendBytes } from './harness.ts';

const url = '/search?q=x';
const WRONG = { authorization: 'Bearer not-the-token-of-anybody' };

test('nothing that a client sends makes the public listener bypass the cache', async (context) => {
  const { server, search } = publicServer(context, { clock: createFakeClock() });
  await server.app.inject({ url });
  const plain = await server.app.inject({ url });
  for (const authorization of [undefined, 'Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN}`, TOKEN, 'Bearer ', '']) {
    for (const cacheControl of ['no-cache', 'no-store', 'max-age=0, no-cache']) {
      const headers = { 'cache-control': cacheControl, ...(authorization === undefined ? {} : { authorization }) };
      const answer = await server.app.inject({ url, headers });
      const { 'x-request-id': _id, date: _date, ...fields } = answer.headers;
      const { 'x-request-id': _plainId, date: _plainDate, ...plainFields } = plain.headers;
      assert.deepEqual(
        [answer.statusCode, fields, answer.payload],
        [200, plainFields, plain.payload],
        `${authorization}`,
      );
    }
  }
  assert.equal(search.asked.bypass.length, 0);
});

test('a Bearer token on the public listener is counted on every route and compared with nothing', async (context) => {
  const { port, tokens } = await listeningServer(context);
  const authorization = `Authorization: Bearer ${TOKEN}\r\n`;
  await get(port, url, authorization);
  await get(port, '/', 'Authorization: bearer\r\n');
  await get(port, '/nope', 'authorization: Bearer a b\r\n');
  await sendBytes(port, `POST /msearch HTTP/1.1\r\nHost: t\r\nConnection: close\r\n${authorization}\r\n`);
  for (const other of [
    '',
    'Authorization: \r\n',
    'Authorization: Basic dXNlcjp3b3Jk\r\n',
    `Authorization: ${TOKEN}\r\n`,
  ]) {
    await get(port, url, other);
  }
  const ignored = { kind: 'token', listener: 'public', result: 'ignored', address: 'address:127.0.0.1' };
  assert.deepEqual(tokens, Array(4).fill(ignored));
});

test('a search on the admin listener is computed again, stored, and answered like a public one', async (context) => {
  const clock = createFakeClock();
  const search = createFakeSearch({ clock });
  const { server, requests, entries } = adminHarness(context, { domains: search.domains, clock });
  const ask = (fields: object = {}, target = url) =>
    server.app.inject({ url: `/admin${target}`, headers: { ...bearer, ...fields } });
  const first = await ask();
  const again = await ask();
  assert.deepEqual([first.statusCode, again.statusCode, search.asked.bypass.length], [200, 200, 2]);
  assert.equal(search.asked.single.length, 0);
  assert.equal(again.json().query, 'x');
  assert.equal(again.headers['cache-control'], 'no-store');
  assert.match(String(again.headers['content-type']), /^application\/json/);
  const same = await ask({ 'if-none-match': again.headers['etag'] });
  assert.equal(same.statusCode, 304);
  assert.equal((await server.app.inject({ method: 'HEAD', url: `/admin${url}`, headers: bearer })).statusCode, 200);
  const refused = await ask({}, '/search?q=x&page=0');
  assert.deepEqual([refused.statusCode, refused.json().parameter], [400, 'page']);
  assert.equal((await ask({}, '/search?q=%zz')).json().code, 'invalid-url');
  assert.deepEqual(
    requests.map(({ status }) => status),
    [200, 200, 304, 200, 400, 400],
  );
  assert.deepEqual(entries, [], 'it writes nothing to the audit');
});

test('an admin search costs the engine, so it needs the token, and is off without a configured one', async (context) => {
  const search = createFakeSearch({ clock: createFakeClock() });
  const { server } = adminHarness(context, { domains: search.domains });
  const open = adminHarness(context, { domains: search.domains, token: '' });
  const refusals = [
    [server, {}, 401, 'unauthorized'],
    [server, WRONG, 401, 'wrong-token'],
    [server, { ...bearer, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 403, 'cross-site'],
    [open.server, {}, 403, 'token-not-set'],
    [open.server, { ...bearer, host: 'rebound.example' }, 403, 'token-not-set'],
  ] as const;
  for (const [{ app }, headers, status, code] of refusals) {
    for (const method of ['GET', 'HEAD'] as const) {
      const refused = await app.inject({ method, url: `/admin${url}`, headers });
      assert.equal(refused.statusCode, status);
      if (method === 'GET') assert.equal(refused.json().code, code);
    }
  }
  assert.equal(search.asked.bypass.length, 0);
});

test('the tokens of an address that sent too many wrong ones are not compared', async (context) => {
  const clock = createFakeClock();
  const { server, tokens } = adminHarness(context, { clock });
  const ask = (headers: object) => server.app.inject({ url: '/admin/domains', headers: { ...headers } });
  for (let i = 0; i < 10; i += 1) assert.equal((await ask(WRONG)).statusCode, 401);
  for (const headers of [WRONG, bearer, { authorization: 'Bearer' }, { authorization: 'Bearer a b' }]) {
    const refused = await ask(headers);
    assert.deepEqual([refused.statusCode, refused.json().code], [429, 'too-many-tokens']);
    assert.match(String(refused.headers['retry-after']), /^[12]$/);
    assert.doesNotMatch(refused.payload, new RegExp(TOKEN));
  }
  assert.equal((await ask({})).statusCode, 401, 'a request without a token gets the usual answer');
  assert.equal((await server.app.inject({ url: '/metrics', headers: WRONG })).statusCode, 200);
  clock.advance(1000);
  for (let i = 0; i < 50; i += 1) assert.equal((await ask(bearer)).statusCode, 200, 'the right token costs nothing');
  assert.deepEqual(
    [tokens.length, tokens.at(9)?.result, tokens.at(10)?.result, tokens.at(10)?.address],
    [14, 'wrong', 'throttled', 'address:127.0.0.1'],
  );
});

test('at any speed of guessing ten tokens are compared, and then one a second', async (context) => {
  const clock = createFakeClock();
  const { server, tokens } = adminHarness(context, { clock });
  for (let i = 0; i < 500; i += 1) {
    await server.app.inject({ url: '/admin/domains', headers: { authorization: `Bearer guess-${i}` } });
    clock.advance(40);
  }
  const compared = tokens.filter(({ result }) => result === 'wrong').length;
  assert.ok(compared >= 29 && compared <= 30, `${compared} in 20 s`);
  assert.equal(tokens.length, 500);
});

test('a guesser locks out only its own address', async (context) => {
  const { server } = adminHarness(context, { clock: createFakeClock(), trustedProxies: ['10.0.0.0/8'] });
  const ask = async (remoteAddress: string, forwarded: string, headers: object): Promise<number> => {
    const fields = { ...headers, ...(forwarded === '' ? {} : { 'x-forwarded-for': forwarded }) };
    return (await server.app.inject({ url: '/admin/domains', remoteAddress, headers: fields })).statusCode;
  };
  for (const [peer, forwarded] of [
    ['192.0.2.1', ''],
    ['10.0.0.1', '203.0.113.9'],
    ['2001:db8:0:1::1', ''],
    ['192.0.2.7', '198.51.100.1'],
  ] as const) {
    for (let i = 0; i < 10; i += 1) await ask(peer, forwarded, WRONG);
    assert.equal(await ask(peer, forwarded, bearer), 429, peer);
  }
  assert.equal(await ask('192.0.2.2', '', bearer), 200);
  assert.equal(await ask('10.0.0.2', '203.0.113.9', bearer), 429, 'behind another proxy it is the same client');
  assert.equal(await ask('10.0.0.1', '203.0.113.9, 203.0.113.8', bearer), 200);
  assert.equal(await ask('2001:db8:0:1:ffff::1', '', bearer), 429, 'an IPv6 network is one subscriber');
  assert.equal(await ask('192.0.2.7', '198.51.100.2', bearer), 429, 'from an untrusted peer the header is ignored');
});

test('guesses through a trusted proxy do not lock out the named client when it asks without the proxy', async (context) => {
  const { server } = adminHarness(context, { clock: createFakeClock(), trustedProxies: ['10.0.0.0/8'] });
  const ask = (remoteAddress: string, headers: object) =>
    server.app.inject({ url: '/admin/domains', remoteAddress, headers: { ...headers } });
  for (const operator of ['127.0.0.1', '10.0.0.7']) {
    for (let i = 0; i < 11; i += 1) await ask('10.0.0.66', { ...WRONG, 'x-forwarded-for': operator });
    assert.equal((await ask('10.0.0.66', { ...bearer, 'x-forwarded-for': operator })).statusCode, 429, operator);
    assert.equal((await ask(operator, bearer)).statusCode, 200, operator);
  }
});

test('a trusted proxy that names a new client with each guess is slowed down itself', async (context) => {
  const clock = createFakeClock();
  const { server, tokens } = adminHarness(context, { clock, trustedProxies: ['10.0.0.0/8'] });
  const ask = (i: number, headers: object) =>
    server.app.inject({
      url: '/admin/domains',
      remoteAddress: '10.0.0.66',
      headers: { ...headers, 'x-forwarded-for': `198.51.${i >> 8}.${i & 255}` },
    });
  for (let i = 0; i < 500; i += 1) {
    await ask(i, WRONG);
    clock.advance(20);
  }
  const compared = tokens.filter(({ result }) => result === 'wrong').length;
  assert.ok(compared >= 190 && compared <= 200, `${compared} in 10 s`);
  clock.advance(1000);
  for (let i = 0; i < 50; i += 1) assert.equal((await ask(0, bearer)).statusCode, 200, 'the right token costs nothing');
});

test('a token that is refused before it is compared costs its address nothing', async (context) => {
  const { server, tokens } = adminHarness(context, { clock: createFakeClock() });
  const crossSite = { ...WRONG, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
  for (let i = 0; i < 50; i += 1) {
    assert.equal((await server.app.inject({ url: '/admin/domains', headers: crossSite })).statusCode, 403);
  }
  assert.equal((await server.app.inject({ url: '/admin/domains', headers: bearer })).statusCode, 200);
  assert.deepEqual(tokens, [], 'a page of another site must not lock an operator out');
});
