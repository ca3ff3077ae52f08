import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { ANSWER_HEADERS } from '../../src/http/search-api/response-headers.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import { fakeStatus, fakeStoreStatus } from '../fakes/status.ts';
import { postBatch, publicServer, type TestServer } from './harness.ts';

test('the API description is made from the schemas of the routes', async (context) => {
  const { server } = publicServer(context);
  const api = (await server.app.inject({ url: '/openapi.json' })).json();
  assert.equal(api.openapi, '3.1.0');
  assert.deepEqual(Object.keys(api.paths).sort(), ['/healthz', '/msearch', '/readyz', '/search']);
  const parameters = api.paths['/search'].get.parameters.map(({ name }: { name: string }) => name);
  assert.deepEqual(parameters, ['q', 'domain', 'page', 'limit', 'sort', 'filter', 'facet', 'highlight', 'region']);
  const body = api.paths['/msearch'].post.requestBody.content['application/json'].schema;
  assert.equal(body.properties.searches.maxItems, 50);
  const refused = Object.keys(api.paths['/search'].get.responses['4XX'].content);
  assert.deepEqual(refused, ['application/problem+json']);
});

test('no description has markup that the docs would strip', async (context) => {
  const { server } = publicServer(context);
  const { payload } = await server.app.inject({ url: '/openapi.json' });
  assert.match(payload, /`<em>`/);
  assert.doesNotMatch(payload.replaceAll(/`[^`"]*`/g, ''), /<[a-z]/i);
});

test('every header of an answered page is described, and Retry-After of a refusal', async (context) => {
  const { server } = publicServer(context);
  const { paths } = (await server.app.inject({ url: '/openapi.json' })).json();
  const { responses } = paths['/search'].get;
  const names = ANSWER_HEADERS.map(({ name }) => name);
  for (const name of ['ETag', 'Cache-Status', 'Cache-Control', 'Age', 'Vary']) assert.ok(names.includes(name), name);
  for (const status of [200, 304])
    assert.deepEqual(Object.keys(responses[status].headers), [...names, 'traceresponse']);
  assert.equal(responses[304].content, undefined);
  for (const status of [429, 502, 503, 504]) assert.deepEqual(Object.keys(responses[status].headers), ['Retry-After']);
  const item = paths['/msearch'].post.requestBody.content['application/json'].schema.properties.searches.items;
  assert.match(item.description, /query context/);
  assert.deepEqual(item.properties.region.enum, ['ru', 'kz']);
});

test('the docs load /openapi.json and not a copy of their own', async (context) => {
  const { server } = publicServer(context);
  const { payload } = await server.app.inject({ url: '/docs/static/swagger-initializer.js' });
  assert.match(payload, /"urls":\[\{"name":"serpcache","url":"\/openapi\.json"\}\]/);
});

test('the docs allow no inline script or style and no other origin', async (context) => {
  const { server } = publicServer(context);
  for (const url of ['/docs', '/docs/', '/docs/static/swagger-ui.css', '/docs/static/swagger-initializer.js']) {
    const { statusCode, headers, payload } = await server.app.inject({ url });
    assert.equal(statusCode, 200, url);
    assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|https?:|\*/);
    assert.match(String(headers['content-security-policy']), /default-src 'none'/);
    if (String(headers['content-type']).startsWith('text/html')) {
      assert.doesNotMatch(payload, /<style|<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=/);
    }
  }
  assert.equal((await server.app.inject({ url: '/docs/static/nope.js' })).json().code, 'not-found');
});

type Json = { readonly [member: string]: unknown };

/** The documented schema of one answer, closed: an undocumented member is a fault. */
async function documented(
  { server }: TestServer,
  [method, path, status, type = 'application/json']: readonly [string, string, number, string?],
): Promise<(body: unknown) => void> {
  const { paths } = (await server.app.inject({ url: '/openapi.json' })).json();
  const schema = closed(paths[path][method].responses[status].content[type].schema) as Json;
  const compiled = Compile(schema);
  return (body) => assert.deepEqual(compiled.Errors(body), []);
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const open = 'properties' in parts && !('additionalProperties' in parts);
  return open ? { ...parts, additionalProperties: false } : parts;
}

test('a page matches its documented schema', async (context) => {
  const started = publicServer(context);
  const assertDocumented = await documented(started, ['get', '/search', 200]);
  assertDocumented((await started.server.app.inject({ url: '/search?q=a&facet=category' })).json());
  assert.throws(() => assertDocumented({ query: 'a' }));
});

test('a search without an answer matches its documented schema', async (context) => {
  const started = publicServer(context);
  started.search.answer = () => Promise.reject(new SearchError('queue-full'));
  const assertDocumented = await documented(started, ['get', '/search', 503, 'application/problem+json']);
  assertDocumented((await started.server.app.inject({ url: '/search?q=a' })).json());
});

test('a batch with answered and refused items matches its documented schema', async (context) => {
  const started = publicServer(context);
  const { search } = started;
  search.answer = async (prepared) => {
    if (prepared.request.text === 'late') throw new SearchError('engine-deadline');
    return search.computed(prepared);
  };
  const answer = await postBatch(started, [{ q: 'a' }, { q: '' }, { q: 'late' }, { q: {} }]);
  (await documented(started, ['post', '/msearch', 200]))(answer.json());
});

test('the readiness of every part matches its documented schema', async (context) => {
  const started = publicServer(context);
  started.search.statuses = [
    fakeStatus('goods', { store: fakeStoreStatus({ 'redis-a:6379': {} }) }),
    fakeStatus('auto'),
  ];
  const answer = await started.server.app.inject({ url: '/readyz' });
  const assertDocumented = await documented(started, ['get', '/readyz', 200]);
  const body: Json = answer.json();
  assertDocumented(body);
  const { loads: _, ...short }: Json = answer.json().domains[1];
  assert.throws(() => assertDocumented({ ...body, domains: [short] }), 'loads are not documented');
});
