import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperationError } from '../../../src/control/operation-error.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { adminHarness, testRefusals } from './harness.ts';

const FROM_FILE = { domain: 'goods', from: 'queries', maxPerSecond: 50 };

test('a warm-up gets queries in several requests, is followed and stopped', async (context) => {
  const clock = createFakeClock();
  const { post, get, entries } = adminHarness(context, { clock });
  const started = await post('/admin/warm', FROM_FILE);
  assert.deepEqual([started.status, started.json.state], [201, 'waiting']);
  const { id } = started.json;
  const queries = Array.from({ length: 500 }, (_, i) => `query ${i} ${'x'.repeat(1000)}`);
  for (const taken of [500, 500, 0]) {
    const { json } = await post(`/admin/warm/${id}/queries`, { queries, last: false });
    assert.equal(json.taken, taken);
  }
  clock.advance(2000);
  const [warmUp] = (await get('/admin/warm')).json.warmUps;
  assert.deepEqual([warmUp.state, warmUp.taken, warmUp.settled], ['running', 1000, 100]);
  assert.equal((await post(`/admin/warm/${id}/stop`)).json.state, 'stopped');
  assert.deepEqual(
    entries.map(({ action, domain, result }) => [action, domain, result]),
    ['warm-start', 'warm-feed', 'warm-feed', 'warm-feed', 'warm-stop'].map((action) => [action, 'goods', 'done']),
  );
});

testRefusals('/admin/warm', [
  ['an unknown domain', '/admin/warm', { ...FROM_FILE, domain: 'nope' }, 404, 'unknown-domain', '/domain'],
  ['no rate', '/admin/warm', { domain: 'goods', from: 'popular' }, 400, 'invalid-body', '/maxPerSecond'],
  ['a rate of zero', '/admin/warm', { ...FROM_FILE, maxPerSecond: 0 }, 400, 'invalid-body', '/maxPerSecond'],
  [
    'a rate above the maximum',
    '/admin/warm',
    { ...FROM_FILE, maxPerSecond: 10_001 },
    400,
    'invalid-body',
    '/maxPerSecond',
  ],
  ['another source', '/admin/warm', { ...FROM_FILE, from: 'thin air' }, 400, 'invalid-body', '/from'],
]);

test('a second warm-up, an unknown one and too many queries are refused', async (context) => {
  const { post } = adminHarness(context);
  const { id } = (await post('/admin/warm', FROM_FILE)).json;
  const second = await post('/admin/warm', FROM_FILE);
  assert.deepEqual([second.status, second.json.code], [409, 'warm-up-running']);
  const unknown = await post('/admin/warm/nope/stop', {});
  assert.deepEqual([unknown.status, unknown.json.code], [404, 'unknown-warm-up']);
  const queries = Array.from({ length: 501 }, String);
  const many = await post(`/admin/warm/${id}/queries`, { queries, last: true });
  assert.deepEqual([many.status, many.json.parameter], [400, '/queries']);
  const wrong = await post(`/admin/warm/${id}/queries`, { queries: [1], last: true });
  assert.equal(wrong.json.parameter, '/queries/0');
});

test('each route has a limit on its body that fits its content', async (context) => {
  const { post } = adminHarness(context);
  const large = { reason: 'x'.repeat(65 * 1024) };
  for (const url of ['/admin/halt', '/admin/flush', '/admin/drills', '/admin/warm']) {
    assert.deepEqual((await post(url, large)).json.code, 'body-too-large', url);
  }
  for (const url of ['/admin/suppress', '/admin/warm/x/queries']) {
    assert.equal((await post(url, large)).json.code, 'invalid-body', url);
    assert.equal((await post(url, { reason: 'x'.repeat(2 ** 22) })).json.code, 'body-too-large', url);
  }
});

test('the most frequent searches are listed up to the given number', async (context) => {
  const { get } = adminHarness(context);
  const { json } = await get('/admin/popular?domain=goods&limit=2');
  assert.deepEqual([json.domain, json.source, json.queries.length], ['goods', 'process', 2]);
  for (const [query, code, parameter] of [
    ['', 'invalid-request', 'domain'],
    ['domain=', 'invalid-request', 'domain'],
    ['domain=nope', 'unknown-domain', 'domain'],
    ['domain=goods&limit=0', 'invalid-request', 'limit'],
    ['domain=goods&limit=1001', 'invalid-request', 'limit'],
    ['domain=goods&limit=ten', 'invalid-request', 'limit'],
    ['domain=goods&domain=auto', 'invalid-request', 'domain'],
    ['domain=goods&limits=5', 'invalid-request', 'limits'],
  ] as const) {
    const refused = await get(`/admin/popular?${query}`);
    assert.deepEqual([refused.json.code, refused.json.parameter], [code, parameter], query);
  }
});

test('an unavailable control store is a 503 with a retry time', async (context) => {
  const operations = createFakeOperations({ clock: createFakeClock() });
  const away = new OperationError('control-unavailable', 'The control store does not answer.');
  Object.assign(operations.drills, { halt: () => Promise.reject(away) });
  const { post, entries } = adminHarness(context, { operations });
  const { status, headers, json } = await post('/admin/halt', { reason: 'now' });
  assert.deepEqual([status, json.code], [503, 'control-unavailable']);
  assert.ok(Number(headers['retry-after']) >= 1);
  assert.equal(entries[0]?.result, 'control-unavailable');
});
