import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Compile } from 'typebox/compile';
import { PROBLEMS } from '../../../src/http/transport/problem.ts';
import { loadReadyPlans } from '../../../src/operations/drills/plan-file.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { adminHarness, type Reply } from './harness.ts';

type Json = Readonly<Record<string, unknown>>;

/** Routes that are not described: files, pages, and the description itself. */
const UNDESCRIBED = /^\/ops|^\/admin\/openapi\.json$/;

interface Operation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>
  >;
}

async function described(context: TestContext, clock = createFakeClock()) {
  const harness = adminHarness(context, { clock });
  const { status, json } = await harness.get('/admin/openapi.json');
  assert.deepEqual([status, json.openapi], [200, '3.1.0']);
  /** With every `$ref` resolved. */
  const schemaOf = (method: string, path: string, code: string): Json => {
    const content = Object.values(json.paths[path][method].responses[code].content)[0] as { schema: Json };
    return closed(content.schema) as Json;
  };
  const paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> = json.paths;
  return { harness, paths, schemaOf };
}

/** An undescribed member is a fault. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const open = 'properties' in parts && !('additionalProperties' in parts);
  return open ? { ...parts, additionalProperties: false } : parts;
}

test('every route is described, with its input, its answer and its problems', async (context) => {
  const { harness, paths } = await described(context);
  const missing: string[] = [];
  for (const { method, url } of harness.routes) {
    if (method === 'HEAD' || UNDESCRIBED.test(url)) continue;
    const path = url.replaceAll(/:(\w+)/g, '{$1}');
    const operation = paths[path]?.[method.toLowerCase()];
    const isWhole = operation?.summary !== undefined && operation.tags?.length === 1;
    if (!isWhole) missing.push(`${method} ${url}`);
    if (operation === undefined || !path.startsWith('/admin/')) continue;
    assert.deepEqual(Object.keys(operation.responses).slice(-2), ['4XX', '5XX'], path);
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const inPath = operation.parameters?.filter((each) => each.in === 'path').map(({ name }) => name);
    assert.deepEqual(inPath ?? [], named, path);
    assert.equal(operation.requestBody !== undefined, method === 'POST', `${path} has a body`);
  }
  assert.deepEqual(missing, []);
  assert.ok(Object.keys(paths).length > 20);
});

test('request bodies allow no undeclared members, and every problem has its code', async (context) => {
  const { paths } = await described(context);
  for (const [path, { post }] of Object.entries(paths)) {
    if (post === undefined) continue;
    assert.equal(Object.values(post.requestBody?.content ?? {})[0]?.schema['additionalProperties'], false, path);
  }
  const problem = paths['/admin/flush']?.['post']?.responses['4XX']?.content?.['application/problem+json']?.schema;
  assert.partialDeepStrictEqual(problem, { properties: { code: { enum: Object.keys(PROBLEMS) } } });
});

test('a plan in a request needs only the members that have no default', async (context) => {
  const { paths } = await described(context);
  const minimal = { name: 'mine', stages: [{ kind: 'fraction', fraction: 0.1, holdMs: 2000 }] };
  // biome-ignore lint/suspicious/noThenProperty: the plan's own word, and never awaited.
  const guards = [{ figure: 'p99Ms', max: 'patience', then: 'hold' }];
  const routes = [
    ['/admin/drills', { reason: 'a test' }],
    ['/admin/drills/preview', {}],
  ] as const;
  for (const [path, rest] of routes) {
    const schema = paths[path]?.['post']?.requestBody?.content['application/json']?.schema;
    for (const plan of [minimal, { ...minimal, guards, recovery: {} }]) {
      assert.deepEqual(Compile(schema as never).Errors({ plan, ...rest }), [], path);
    }
  }
});

test('an answer has whole numbers for counts and the listed words, although a journal of another version may differ', async (context) => {
  const { schemaOf } = await described(context);
  const journal = schemaOf('get', '/admin/drills/{id}', '200');
  const figures = { properties: { searches: { type: 'integer' }, searchesPerSecond: { type: 'number' } } };
  // biome-ignore lint/suspicious/noThenProperty: the plan's own word, and never awaited.
  const guard = { follows: { enum: ['patience'] }, then: { enum: ['rollback', 'hold', 'continue'] } };
  assert.partialDeepStrictEqual(journal, {
    properties: {
      samples: { items: { properties: { figures } } },
      plan: { properties: { minSearches: { type: 'integer' }, guards: { items: { properties: guard } } } },
    },
  });
  assert.doesNotMatch(JSON.stringify(journal), /x-written/);
});

test('every answer matches its description', async (context) => {
  const clock = createFakeClock();
  const { harness, paths, schemaOf } = await described(context, clock);
  const seen = new Set<string>();
  const check = (method: 'get' | 'post', path: string, { status, json }: Reply): void => {
    assert.ok(status < 300, `${path}: ${JSON.stringify(json)}`);
    assert.deepEqual(Compile(schemaOf(method, path, String(status)) as never).Errors(json), [], `${method} ${path}`);
    seen.add(`${method} ${path}`);
  };
  const get = async (path: string, url = path): Promise<void> => check('get', path, await harness.get(url));
  const post = async (path: string, body: object, url = path): Promise<Reply> => {
    const reply = await harness.post(url, body);
    check('post', path, reply);
    return reply;
  };

  await post('/admin/flush/preview', { domain: 'goods', mode: 'drop' });
  await post('/admin/flush', { domain: 'goods', mode: 'refresh', indexVersion: 'v7' });
  await post('/admin/flush', { domain: 'goods', mode: 'erase', reason: 'a rehearsal' });
  await post('/admin/purge', { domain: 'goods', q: 'shoes' });
  await post('/admin/changes', { id: 'a' }, '/admin/changes?domain=goods');
  await post('/admin/documents', { id: 'a', title: 'A' }, '/admin/documents?domain=goods');
  await post('/admin/suppress', { domain: 'goods', ids: ['a', 'b'] });
  await post('/admin/unsuppress', { domain: 'goods', ids: ['a'] });
  await post('/admin/drills/preview', { plan: '1-5-25-100', domains: ['goods'] });
  const { id } = (await post('/admin/drills', { plan: '1-5-25-100', domains: ['goods'], reason: 'rehearsal' })).json;
  await get('/admin/drills/{id}', `/admin/drills/${id}`);
  clock.advance(6000);
  await get('/admin/drills/{id}', `/admin/drills/${id}?samples=1`);
  await post('/admin/drills/{id}/abort', {}, `/admin/drills/${id}/abort`);
  await post('/admin/drills/{id}/resume', { reason: 'again' }, `/admin/drills/${id}/resume`);
  await post('/admin/halt', { reason: 'enough' });
  for (const path of ['/admin/halt', '/admin/drills', '/admin/plans', '/admin/domains']) await get(path);
  await get('/admin/flush', '/admin/flush?domain=goods');
  await get('/admin/suppressed', '/admin/suppressed?domain=goods');
  await get('/admin/popular', '/admin/popular?domain=goods');
  await get('/admin/explain', '/admin/explain?q=a');
  await get('/admin/search', '/admin/search?q=a');
  await get('/admin/trace', '/admin/trace?q=a');
  await post('/admin/halt/lift', { reason: 'over' });
  const warm = (await post('/admin/warm', { domain: 'goods', from: 'queries', maxPerSecond: 5 })).json;
  await post('/admin/warm/{id}/queries', { queries: ['a'], last: false }, `/admin/warm/${warm.id}/queries`);
  await get('/admin/warm');
  await post('/admin/warm/{id}/stop', {}, `/admin/warm/${warm.id}/stop`);
  await post('/admin/shadow', { domain: 'auto', candidate: 'valkey', fraction: 0.1 });
  await get('/admin/shadow');
  await get('/admin/shadow/status', '/admin/shadow/status?domain=goods&for=60');
  await get('/admin/shadow/samples', '/admin/shadow/samples?domain=goods&from=1');
  await post('/admin/shadow/change', { domain: 'auto', reads: 3 });
  await post('/admin/shadow/cut-over', { domain: 'goods', force: true, reason: 'Valkey' });
  await post('/admin/shadow/back', { domain: 'goods', reason: 'not yet' });
  const { report } = (await post('/admin/shadow/stop', { domain: 'auto' })).json;
  await get('/admin/shadow/reports');
  await get('/admin/shadow/reports/{id}', `/admin/shadow/reports/${report}`);
  await get('/admin/doctor');
  await get('/admin/doctor/examination', '/admin/doctor/examination?facts=true');
  await post('/admin/doctor/enable', { name: 'slowlog' });
  await get('/admin/audit', '/admin/audit?limit=3');
  await get('/healthz');

  const all = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((name) => `${name} ${path}`));
  // A stream, two pages and a text: the stream is checked below, the others have no JSON.
  const pages = ['get /admin/drills/{id}/report', 'get /admin/shadow/reports/{id}/report'];
  const rest = ['get /admin/live', ...pages, 'get /metrics'];
  assert.deepEqual([...seen, ...rest].sort(), all.sort());
});

test('the first and the next line of the stream match their description', async (context) => {
  const { harness, schemaOf } = await described(context);
  await harness.post('/admin/drills', { plan: 'canary', domains: ['goods'], reason: 'rehearsal' });
  const line = Compile(schemaOf('get', '/admin/live', '200') as never);
  const watcher = harness.operations.watch();
  const { drills } = (await harness.get('/admin/drills')).json;
  for (let i = 0; i < 2; i += 1) {
    assert.deepEqual(line.Errors({ atMs: 1, domains: watcher.look(), drills }), []);
  }
});

test('a refusal matches its description', async (context) => {
  const { harness, schemaOf } = await described(context);
  const problem = Compile(schemaOf('post', '/admin/flush', '4XX') as never);
  for (const body of [{}, { domain: 'nope', mode: 'drop' }, { domain: 'goods', mode: 'drop', fraction: 7 }]) {
    assert.deepEqual(problem.Errors((await harness.post('/admin/flush', body)).json), []);
  }
});

test('the ready-made plans match their description', async (context) => {
  const { schemaOf } = await described(context);
  const plans = Compile(schemaOf('get', '/admin/plans', '200') as never);
  assert.deepEqual(plans.Errors({ plans: loadReadyPlans()(3) }), []);
});
