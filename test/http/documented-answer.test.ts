import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { SearchError } from '../../src/search/search-error.ts';
import { fakeStatus } from '../fakes/search.ts';
import { publicServer, type TestServer } from './serve.ts';

type Json = { readonly [member: string]: unknown };

/** The documented schema of one answer, closed: a member nobody documented is a fault. */
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

test('a page is as documented', async (context) => {
  const started = publicServer(context);
  const assertDocumented = await documented(started, ['get', '/search', 200]);
  assertDocumented((await started.server.app.inject({ url: '/search?q=a&facet=category' })).json());
  assert.throws(() => assertDocumented({ query: 'a' }));
});

test('a search nobody could answer is as documented', async (context) => {
  const started = publicServer(context);
  started.search.answer = async () => {
    throw new SearchError('overloaded', 'Too many searches wait.', 1000);
  };
  const assertDocumented = await documented(started, ['get', '/search', 503, 'application/problem+json']);
  assertDocumented((await started.server.app.inject({ url: '/search?q=a' })).json());
});

test('a batch is as documented, whatever its items came to', async (context) => {
  const started = publicServer(context);
  const { search, server } = started;
  search.answer = async (prepared) => {
    if (prepared.request.text === 'late') throw new SearchError('engine-deadline', 'Too late.', 1000);
    return search.computed(prepared);
  };
  const payload = { searches: [{ q: 'a' }, { q: '' }, { q: 'late' }, { q: {} }] };
  const answer = await server.app.inject({ method: 'POST', url: '/msearch', payload });
  (await documented(started, ['post', '/msearch', 200]))(answer.json());
});

test('the readiness of every part is as documented', async (context) => {
  const started = publicServer(context);
  const node = { node: 'redis-a:6379', connected: true, outstanding: 0, breaker: 'closed' } as const;
  started.search.statuses = [fakeStatus('goods', { store: { state: 'ok', nodes: [node] } }), fakeStatus('auto')];
  const answer = await started.server.app.inject({ url: '/readyz' });
  const assertDocumented = await documented(started, ['get', '/readyz', 200]);
  const body: Json = answer.json();
  assertDocumented(body);
  const { flights: _, ...short }: Json = answer.json().domains[1];
  assert.throws(() => assertDocumented({ ...body, domains: [short] }), 'flights are not documented');
});
