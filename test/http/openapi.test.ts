import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANSWER_HEADERS } from '../../src/http/search-api/response-headers.ts';
import { publicServer } from './harness.ts';

test('the API describes itself from the schemas that check it', async (context) => {
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
  for (const status of [200, 304]) assert.deepEqual(Object.keys(responses[status].headers), names);
  assert.equal(responses[304].content, undefined);
  for (const status of [429, 502, 503, 504]) assert.deepEqual(Object.keys(responses[status].headers), ['Retry-After']);
  const item = paths['/msearch'].post.requestBody.content['application/json'].schema.properties.searches.items;
  assert.match(item.description, /query context/);
  assert.deepEqual(item.properties.region.enum, ['ru', 'kz']);
});

test('the docs read the description that is sent compressed, not a copy of their own', async (context) => {
  const { server } = publicServer(context);
  const { payload } = await server.app.inject({ url: '/docs/static/swagger-initializer.js' });
  assert.match(payload, /"urls":\[\{"name":"serpcache","url":"\/openapi\.json"\}\]/);
});

test('the docs allow no inline script or style and nothing from elsewhere', async (context) => {
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
