import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicServer } from './serve.ts';

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
