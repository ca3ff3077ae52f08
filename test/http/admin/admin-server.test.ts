import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminHarness, bearer } from './harness.ts';

test('explain takes the parameters of search', async (context) => {
  const { get } = adminHarness(context);
  const { canonical, key } = (await get('/admin/explain?q=%20A%20&page=2')).json;
  assert.match(canonical, /q=a&region=ru&page=2$/);
  assert.equal(key.length, 22);
  const refused = await get('/admin/explain?q=a&page=0');
  assert.deepEqual([refused.status, refused.json.parameter], [400, 'page']);
  assert.equal((await get('/admin/explain?q=%zz')).json.code, 'invalid-url');
  const { ignored } = (await get('/admin/explain?q=a&utm_source=x&utm_campaign=50%_off&%zz=1&page=2')).json;
  assert.deepEqual(ignored, ['utm_source', 'utm_campaign', '%zz'], 'also those that cannot be decoded');
  assert.equal((await get('/admin/audit?limit=%zz')).json.code, 'invalid-url');
});

test('trace makes one search, and shows its answer and its spans', async (context) => {
  const { get } = adminHarness(context);
  const { status, json } = await get('/admin/trace?q=%20A%20');
  assert.equal(status, 200);
  assert.deepEqual([json.domain, json.outcome, json.reason], ['goods', 'engine', 'unseen']);
  assert.match(json.cacheStatus, /^serpcache-l1; fwd=uri-miss/);
  assert.deepEqual(
    json.spans.map(({ stage, depth }: Record<string, unknown>) => [stage, depth]),
    [['search', 0]],
  );
  const refused = await get('/admin/trace?q=a&page=0');
  assert.deepEqual([refused.status, refused.json.parameter], [400, 'page']);
});

test('the state of each domain is listed, with the decisions of operators', async (context) => {
  const { get, post } = adminHarness(context);
  await post('/admin/purge', { domain: 'auto', q: 'x' });
  const { domains } = (await get('/admin/domains')).json;
  assert.deepEqual(
    domains.map(({ domain, state, control }: Record<string, Record<string, number>>) => [
      domain,
      state,
      control?.['revision'],
    ]),
    [
      ['goods', 'ok', 0],
      ['auto', 'ok', 1],
    ],
  );
});

test('the body is not read before the token is judged', async (context) => {
  const { app } = adminHarness(context).server;
  const payload = 'x'.repeat(100_000);
  assert.equal((await app.inject({ method: 'POST', url: '/admin/flush', payload })).statusCode, 401);
});

test('a change needs a JSON body, or none when every field is optional', async (context) => {
  const { app } = adminHarness(context).server;
  const url = '/admin/drills/nope/abort';
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
    const headers = { ...bearer, 'content-type': type };
    const refused = await app.inject({ method: 'POST', url, headers, payload: 'reason=x' });
    assert.deepEqual([refused.statusCode, refused.json().code], [415, 'unsupported-media-type'], type);
  }
  assert.equal((await app.inject({ method: 'POST', url, headers: bearer })).json().code, 'unknown-drill');
});

test('a known path with a wrong method answers with the allowed methods', async (context) => {
  const { app } = adminHarness(context).server;
  for (const [method, url, status, allow] of [
    ['OPTIONS', '/admin/halt', 204, 'GET, HEAD, OPTIONS, POST'],
    ['DELETE', '/admin/halt', 405, 'GET, HEAD, OPTIONS, POST'],
    ['HEAD', '/admin/live', 405, 'GET, OPTIONS'],
    ['PUT', '/admin/flush/preview/', 405, 'OPTIONS, POST'],
  ] as const) {
    const answer = await app.inject({ method, url, headers: bearer });
    assert.deepEqual([answer.statusCode, answer.headers['allow']], [status, allow], `${method} ${url}`);
  }
  assert.equal((await app.inject({ method: 'OPTIONS', url: '/admin/halt' })).statusCode, 401, 'with the token only');
});

test('the page of metrics is made for the Accept header of the scraper', async (context) => {
  const metricsText = async (accept?: string) => ({ contentType: `${accept}; version=1.0.0`, body: '# EOF\n' });
  const { app } = adminHarness(context, { metricsText }).server;
  const accept = 'application/openmetrics-text';
  const { headers, payload } = await app.inject({ url: '/metrics', headers: { ...bearer, accept } });
  assert.deepEqual([headers['content-type'], payload], [`${accept}; version=1.0.0`, '# EOF\n']);
});

test('failing metrics are answered with a problem document', async (context) => {
  const metricsText = () => Promise.reject(new Error('registry'));
  const { status, text } = await adminHarness(context, { metricsText }).get('/metrics');
  assert.equal(status, 500);
  assert.doesNotMatch(text, /registry/);
});

test('the audit is read page by page, and an invalid page parameter is refused by name', async (context) => {
  const { get, post } = adminHarness(context);
  for (let i = 0; i < 7; i += 1) await post('/admin/halt', { reason: `r${i}` });
  const reasons: string[] = [];
  let next = '';
  do {
    const { status, json } = await get(`/admin/audit?limit=3${next}`);
    assert.equal(status, 200);
    reasons.push(...json.entries.map(({ reason }: { reason: string }) => reason));
    next = json.next === undefined ? '' : `&before=${json.next}`;
  } while (next !== '');
  assert.deepEqual(
    reasons,
    Array.from({ length: 7 }, (_, i) => `r${6 - i}`),
  );
  for (const before of ['', 'x', '1-1', '000000000000-99', '0'.repeat(3000)]) {
    const { status, json } = await get(`/admin/audit?before=${before}`);
    assert.deepEqual([status, json.parameter], [400, 'before'], before.slice(0, 20));
  }
});
