import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unanswered } from '../../src/search/failure.ts';
import { publicServer } from './serve.ts';

const batch = (searches: readonly object[]) => ({ method: 'POST', url: '/msearch', payload: { searches } }) as const;

test('a batch is answered in order, each item as GET /search would have been', async (context) => {
  const { server, search, events } = publicServer(context, { fake: { coding: 'gzip' } });
  search.answer = async (prepared) => {
    if (prepared.request.text === 'overload') throw new Unanswered('overloaded', 'Too many searches wait.', 1000);
    const answer = await search.computed(prepared);
    search.memory.set(prepared.key, answer.entry);
    return answer;
  };
  await server.app.inject({ url: '/search?q=known' });
  const answer = await server.app.inject(
    batch([
      { q: 'known' },
      { q: '' },
      { q: 'overload' },
      { q: 'new', domain: 'auto', page: 2, limit: '5', highlight: false },
      { q: 'x', domain: 'nowhere' },
      { q: 'x', filter: ['price:1..5', 'category:shoes'], facet: ['category'], sort: '-price', region: 'kz' },
    ]),
  );
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { results } = answer.json();
  assert.deepEqual(
    results.map(({ status, outcome, reason, problem }: Record<string, never>) => [
      status,
      outcome,
      reason ?? problem?.['code'],
    ]),
    [
      [200, 'hit-l1', undefined],
      [400, 'rejected', 'invalid-query'],
      [503, 'shed', 'overloaded'],
      [200, 'engine', 'unseen'],
      [404, 'rejected', 'unknown-domain'],
      [200, 'engine', 'unseen'],
    ],
  );
  const single = await server.app.inject({ url: '/search?q=known' });
  assert.deepEqual(results[0].body, single.json());
  assert.equal(results[0].etag, single.headers['etag']);
  assert.match(results[0].cacheStatus, /^serpcache-l1; hit; ttl=\d+$/);
  assert.deepEqual([results[3].body.page, results[3].body.limit], [2, 5]);
  const asked = search.asked.many.at(-1)?.request;
  assert.deepEqual(
    [asked?.filters.length, asked?.facets, asked?.sort, asked?.context],
    [2, ['category'], { by: 'attribute', attribute: 'price', descending: true }, [['region', 'kz']]],
  );
  assert.deepEqual(
    events.filter(({ route }) => route === 'msearch').map(({ domain, outcome, status }) => [domain, outcome, status]),
    [
      ['goods', 'hit-l1', 200],
      ['goods', 'rejected', 400],
      ['goods', 'shed', 503],
      ['auto', 'engine', 200],
      ['none', 'rejected', 404],
      ['goods', 'engine', 200],
    ],
  );
});

test('fifty searches are one batch', async (context) => {
  const { server, search, events } = publicServer(context);
  const { results } = (
    await server.app.inject(batch(Array.from({ length: 50 }, (_, i) => ({ q: `word ${i}` }))))
  ).json();
  assert.deepEqual([results.length, search.asked.many.length, events.length], [50, 50, 50]);
});

test('what is wrong in one item leaves the others alone', async (context) => {
  const { server, search } = publicServer(context);
  const { results } = (
    await server.app.inject(
      batch([
        { q: 'lone \ud800 surrogate' },
        { q: 'a\u0000b' },
        { q: 'x', page: 1.5 },
        { q: 'x', limit: 1e21 },
        { page: 1 },
        { q: 'x', facet: Array.from({ length: 64 }, () => 'category') },
        { q: 'fine', utm_source: 'mail' },
      ]),
    )
  ).json();
  assert.deepEqual(
    results.map(({ status, problem }: Record<string, never>) => problem?.['code'] ?? status),
    ['invalid-query', 'invalid-query', 'invalid-page', 'invalid-page', 'invalid-query', 'invalid-body', 200],
  );
  assert.equal(search.asked.many.length, 1);
});

test('a member of a wrong type refuses its own item, by name, and says what is allowed', async (context) => {
  const { server, search, events } = publicServer(context);
  const answer = await server.app.inject(
    batch([
      { q: { text: 'a' } },
      { q: null },
      { q: 'a', filter: [['price:1..5']] },
      { q: 'a', region: [{}] },
      { q: 'a', domain: {} },
      { q: ['a', 'b'] },
      { q: 'a', filter: Array.from({ length: 65 }, () => 'price:1..5') },
      { q: 'a', domain: 'auto', region: {} },
      { q: ['a'], page: 2, highlight: false, facet: 'category' },
    ]),
  );
  assert.equal(answer.statusCode, 200);
  const { results } = answer.json();
  const scalar = 'must be a string, a number or a boolean';
  assert.deepEqual(
    results.map(({ status, problem }: { status: number; problem?: Record<string, string> }) =>
      problem === undefined ? status : [status, problem['code'], problem['parameter'], problem['detail']],
    ),
    [
      [400, 'invalid-body', 'q', `q ${scalar}.`],
      [400, 'invalid-body', 'q', `q ${scalar}.`],
      [400, 'invalid-body', 'filter', `filter ${scalar}, or a list of those.`],
      [400, 'invalid-body', 'region', `region ${scalar}.`],
      [400, 'invalid-body', 'domain', `domain ${scalar}.`],
      [400, 'invalid-query', 'q', '"q" may be given only once'],
      [400, 'invalid-body', 'filter', 'A search may carry at most 64 values, each one of a list counted; this has 66.'],
      200,
      200,
    ],
  );
  assert.equal(search.asked.many.length, 2);
  assert.deepEqual(
    events.map(({ domain, outcome }) => `${domain} ${outcome}`),
    [
      ...Array.from({ length: 4 }, () => 'goods rejected'),
      'none rejected',
      ...Array.from({ length: 2 }, () => 'goods rejected'),
      'auto engine',
      'goods engine',
    ],
  );
});

test('members nobody declared are ignored, whatever their type and number', async (context) => {
  const { server } = publicServer(context);
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, i]));
  const odd = { client: { name: 'app' }, tags: [['a'], null], nothing: null, 'X-Variant': { any: 1 } };
  const { results } = (await server.app.inject(batch([{ q: 'a' }, { q: 'a', ...many, ...odd }]))).json();
  assert.deepEqual(
    results.map(({ status }: { status: number }) => status),
    [200, 200],
  );
  assert.equal(results[0].etag, results[1].etag);
});

test('a header that is declared context is not a member of a search', async (context) => {
  const { server, search } = publicServer(context);
  const searches = [{ q: 'a', domain: 'auto', 'X-Variant': 'b' }];
  const send = (headers: Record<string, string>) =>
    server.app.inject({ method: 'POST', url: '/msearch', payload: { searches }, headers });
  await send({});
  await send({ 'x-variant': 'b' });
  assert.deepEqual(
    search.asked.many.map(({ request }) => request.context),
    [[['X-Variant', 'a']], [['X-Variant', 'b']]],
  );
});

test('an item that was not answered says when to ask again, jittered like Retry-After', async (context) => {
  const spread = new Set<number>();
  for (const random of [0, 0.5, 0.999]) {
    const { server, search } = publicServer(context, { random: () => random });
    search.answer = async () => {
      throw new Unanswered('engine-open', 'The engine is left alone.', 2000);
    };
    const { results } = (await server.app.inject(batch([{ q: 'a' }, { q: '' }]))).json();
    const single = await server.app.inject({ url: '/search?q=a' });
    assert.deepEqual([results[0].status, results[0].retryAfter], [503, Number(single.headers['retry-after'])]);
    assert.equal(results[1].retryAfter, undefined);
    spread.add(results[0].retryAfter);
  }
  assert.deepEqual([...spread], [2, 3, 4]);
});

test('a bug behind the batch is told per item', async (context) => {
  const { server, search, events, lines } = publicServer(context);
  search.answer = async () => {
    throw new TypeError('bug');
  };
  const { results } = (await server.app.inject(batch([{ q: 'a' }, { q: '' }]))).json();
  assert.deepEqual(
    results.map(({ problem }: { problem: { code: string } }) => problem.code),
    ['internal', 'invalid-query'],
  );
  assert.deepEqual(
    events.map(({ outcome }) => outcome),
    ['failed', 'rejected'],
  );
  assert.equal(lines.filter(({ level }) => level === 50).length, 1);
});

test('names that mean something to JavaScript mean nothing here', async (context) => {
  const { server } = publicServer(context);
  const payload = '{"searches":[{"q":"a","__proto__":"x","constructor":"y","toString":"z"}]}';
  const answer = await server.app.inject({
    method: 'POST',
    url: '/msearch',
    payload,
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(answer.json().results[0].status, 200);
});
