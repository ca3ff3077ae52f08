import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ANSWER_HEADERS, noHeads } from '../../src/http/search-api/response-headers.ts';
import { createTargetMemo } from '../../src/http/search-api/search-handler.ts';
import { systemClock } from '../../src/runtime.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { createFakeSearch } from '../fakes/search.ts';
import { pluck } from '../pluck.ts';
import { countedOf, errorsIn, publicServer } from './harness.ts';

const URL = `/search?q=${encodeURIComponent('Кроссовки')}`;
const GZIP = { 'accept-encoding': 'gzip' };

test('the first search comes from the engine and the second from memory', async (context) => {
  const clock = createFakeClock();
  const { server, events } = publicServer(context, { clock });
  const first = await server.app.inject({ url: URL });
  assert.equal(first.statusCode, 200);
  assert.equal(first.headers['cache-status'], 'serpcache-l1; fwd=uri-miss; stored; detail=unseen');
  assert.equal(first.headers['server-timing'], 'cache;desc=engine, engine;dur=12.5, total;dur=0');
  clock.advance(13_000);
  const second = await server.app.inject({ url: URL });
  assert.equal(second.headers['cache-status'], 'serpcache-l1; hit; ttl=287');
  assert.equal(second.headers['cache-control'], 'public, max-age=43, stale-while-revalidate=30, stale-if-error=30');
  assert.deepEqual([first.headers['age'], second.headers['age']], ['0', '13']);
  assert.equal(second.headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(second.headers['vary'], 'Accept-Encoding');
  assert.match(String(second.headers['x-request-id']), /^[a-z0-9]+-/);
  assert.deepEqual(second.rawPayload, first.rawPayload);
  assert.equal(second.json().query, 'кроссовки');
  assert.deepEqual(countedOf(events), ['engine 200 goods', 'hit-l1 200 goods']);
  assert.deepEqual(pluck(events, 'reason'), ['unseen', undefined]);
});

test('the stored coding is sent as it is, and identity clients get the same page with its own tag', async (context) => {
  const { server, search } = publicServer(context, { fake: { coding: 'gzip' } });
  await server.app.inject({ url: URL });
  const zipped = await server.app.inject({ url: URL, headers: GZIP });
  assert.equal(zipped.headers['content-encoding'], 'gzip');
  const [entry] = search.memory.values();
  assert.deepEqual(zipped.rawPayload, entry?.body);
  assert.equal(zipped.headers['etag'], `"${entry?.etag}-gz"`);
  // Twice: inflated first, then from the cache.
  for (const _ of [1, 2]) {
    const plain = await server.app.inject({ url: URL });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.deepEqual(plain.rawPayload, gunzipSync(zipped.rawPayload));
    assert.equal(plain.headers['etag'], `"${entry?.etag}"`);
    assert.equal(plain.headers['content-length'], String(plain.rawPayload.length));
  }
});

test('an entry has the same bytes and tag from L2 as from L1', async (context) => {
  const { server, search } = publicServer(context, { fake: { coding: 'zstd' } });
  const fields = { 'accept-encoding': 'zstd' };
  await server.app.inject({ url: URL });
  const l1 = await server.app.inject({ url: URL, headers: fields });
  const [entry] = search.memory.values();
  search.memory.clear();
  search.answer = (prepared) =>
    search.computed(prepared, {
      entry: entry ?? assert.fail('no entry'),
      outcome: 'hit-l2',
      l2: { kind: 'hit' },
      l1: { kind: 'forward', why: 'uri-miss', stored: true },
      remainingMs: 200_000,
      timings: { l2Ms: 0.4 },
    });
  const l2 = await server.app.inject({ url: URL, headers: fields });
  assert.equal(l2.headers['cache-status'], 'serpcache-l2; hit; ttl=200, serpcache-l1; fwd=uri-miss; stored');
  assert.deepEqual([l2.rawPayload, l2.headers['etag']], [l1.rawPayload, l1.headers['etag']]);
});

test('HEAD answers with the headers of GET and no body', async (context) => {
  const { server } = publicServer(context, { clock: createFakeClock(), fake: { coding: 'gzip' } });
  await server.app.inject({ url: URL });
  for (const headers of [{}, GZIP]) {
    const [got, head] = [
      await server.app.inject({ url: URL, headers }),
      await server.app.inject({ method: 'HEAD', url: URL, headers }),
    ];
    assert.equal(head.statusCode, 200);
    assert.equal(head.payload, '');
    assert.deepEqual(Object.keys(head.headers).sort(), Object.keys(got.headers).sort());
    for (const { name } of ANSWER_HEADERS) assert.ok(got.headers[name.toLowerCase()], name);
    for (const name of ['content-length', 'etag', 'content-encoding', 'cache-control', 'vary', 'content-type']) {
      assert.equal(head.headers[name], got.headers[name], name);
    }
  }
});

test('a client that has the page in the coding that is sent gets 304', async (context) => {
  const clock = createFakeClock();
  const { server, events } = publicServer(context, { clock, fake: { coding: 'gzip' } });
  await server.app.inject({ url: URL });
  clock.advance(13_000);
  const first = await server.app.inject({ url: URL, headers: GZIP });
  assert.equal(first.headers['age'], '13');
  const tag = String(first.headers['etag']);
  assert.match(tag, /-gz"$/);
  for (const held of [tag, `W/${tag}`, `"other", ${tag}`, `, "a,b" ,\t${tag}, "c"`, '*', ' * ']) {
    const { statusCode, headers, payload } = await server.app.inject({
      url: URL,
      headers: { ...GZIP, 'if-none-match': held },
    });
    assert.equal(statusCode, 304, held);
    assert.equal(payload, '');
    for (const name of ['cache-control', 'age', 'vary', 'etag']) assert.equal(headers[name], first.headers[name], name);
    assert.equal(headers['content-type'], undefined);
    for (const { name } of ANSWER_HEADERS) assert.ok(headers[name.toLowerCase()], name);
  }
  assert.deepEqual(events.at(-1)?.status, 304);
  const plain = tag.replace('-gz', '');
  const others = ['"other"', plain, plain.replace(/"$/, '-zst"'), `w/${tag}`, `x${tag}`, `${tag}x`, 'garbage', '""'];
  for (const held of others) {
    const { statusCode } = await server.app.inject({ url: URL, headers: { ...GZIP, 'if-none-match': held } });
    assert.equal(statusCode, 200, held);
  }
  const asIdentity = await server.app.inject({ url: URL, headers: { 'if-none-match': tag } });
  assert.equal(asIdentity.statusCode, 200);
});

test('a search whose If-Match names another version is 412, in memory or not', async (context) => {
  const { server, events } = publicServer(context, { fake: { coding: 'gzip' } });
  const ask = (headers: Record<string, string>) => server.app.inject({ url: URL, headers: { ...GZIP, ...headers } });
  const refused = await ask({ 'if-match': '"other"' });
  assert.deepEqual([refused.statusCode, refused.json().code], [412, 'precondition-failed']);
  assert.deepEqual([events.at(-1)?.outcome, events.at(-1)?.status], ['rejected', 412]);
  const tag = String((await ask({})).headers['etag']);
  for (const held of [`W/${tag}`, tag.replace('-gz', ''), '', 'garbage', `w/${tag}`])
    assert.equal((await ask({ 'if-match': held })).statusCode, 412, held);
  for (const held of [tag, `"other", ${tag}`, '*'])
    assert.equal((await ask({ 'if-match': held })).statusCode, 200, held);
  assert.equal((await ask({ 'if-match': tag, 'if-none-match': tag })).statusCode, 304);
  assert.equal((await ask({ 'if-match': '"other"', 'if-none-match': tag })).statusCode, 412);
});

test('a declared context header is part of the key and of Vary', async (context) => {
  const { server, search } = publicServer(context);
  const url = '/search?q=x&domain=auto';
  const first = await server.app.inject({ url, headers: { 'x-variant': 'b' } });
  assert.equal(first.headers['vary'], 'Accept-Encoding, X-Variant');
  await server.app.inject({ url, headers: { 'x-variant': 'a' } });
  const again = await server.app.inject({ url, headers: { 'x-variant': 'b' } });
  assert.equal(search.asked.single.length, 2);
  assert.match(String(again.headers['cache-status']), /hit/);
});

test('a degraded page must not be stored downstream', async (context) => {
  const { server, search } = publicServer(context);
  search.answer = (prepared) => search.computed(prepared, { outcome: 'lifeboat' });
  const { headers } = await server.app.inject({ url: URL });
  assert.equal(headers['cache-control'], 'no-store');
});

test('the request id of a client comes back', async (context) => {
  const { server } = publicServer(context);
  for (const url of [URL, '/search', '/healthz', '/nope']) {
    const { headers } = await server.app.inject({ url, headers: { 'x-request-id': 'mine-1' } });
    assert.equal(headers['x-request-id'], 'mine-1', url);
  }
});

test('a body that cannot be inflated is an internal error, logged and counted once', async (context) => {
  const { server, search, events, lines } = publicServer(context, { fake: { coding: 'gzip' } });
  search.answer = async (prepared) => {
    const answer = await search.computed(prepared);
    return { ...answer, entry: { ...answer.entry, body: Buffer.from('not gzip') } };
  };
  const { statusCode, payload } = await server.app.inject({ url: URL });
  assert.equal(statusCode, 500);
  assert.doesNotMatch(payload, /header check/);
  assert.deepEqual(countedOf(events), ['failed 500 goods']);
  assert.equal(errorsIn({ lines }).length, 1);
});

const prepared = createFakeSearch({ clock: systemClock }).prepare({ pairs: [['q', 'a']] });
const known = { prepared, heads: noHeads() };

test('a target in use stays remembered while a thousand other targets come once each', () => {
  const memo = createTargetMemo(100_000);
  memo.set('/search?q=hot', known);
  for (let i = 0; i < 1000; i += 1) {
    memo.set(`/search?q=${i}`, known);
    if (i % 20 === 0) assert.ok(memo.get('/search?q=hot'), `lost after ${i}`);
  }
  const kept = Array.from({ length: 1000 }, (_, i) => memo.get(`/search?q=${i}`)).filter(Boolean).length;
  assert.ok(kept <= 100, `${kept} kept`);
});

test('the memory for long URLs is limited in bytes', () => {
  const memo = createTargetMemo(100_000);
  const target = (i: number): string => `/search?q=${String(i).padStart(4000, 'x')}`;
  for (let i = 0; i < 100; i += 1) memo.set(target(i), known);
  const kept = Array.from({ length: 100 }, (_, i) => i).filter((i) => memo.get(target(i)) !== undefined).length;
  assert.ok(kept >= 5 && kept <= 12, `${kept} kept`);
});

test('a remembered search holds no Buffer: a small one would keep the 64 KiB pool it was cut from', () => {
  const viewsIn = (value: unknown): number => {
    if (ArrayBuffer.isView(value)) return 1;
    return typeof value === 'object' && value !== null
      ? Object.values(value).reduce((sum, part) => sum + viewsIn(part), 0)
      : 0;
  };
  assert.equal(viewsIn({ body: Buffer.from('a') }), 1);
  assert.equal(viewsIn(prepared), 0);
});
