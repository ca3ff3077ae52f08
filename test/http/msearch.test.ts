import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SearchError } from '../../src/resilience/search-error.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { countedOf, errorsIn, postBatch, publicServer, type TestServer } from './harness.ts';

/** The results of a batch. @param searches the items, or their JSON */
const ask = async (started: TestServer, searches: Parameters<typeof postBatch>[1]) =>
  (await postBatch(started, searches)).json().results;

test('a batch is answered in order, each item like GET /search', async (context) => {
  const started = publicServer(context, { fake: { coding: 'gzip' } });
  const { server, search, events } = started;
  search.answer = async (prepared) => {
    if (prepared.request.text === 'overload') throw new SearchError('queue-full');
    const answer = await search.computed(prepared);
    search.memory.set(prepared.key, answer.entry);
    return answer;
  };
  await server.app.inject({ url: '/search?q=known' });
  events.length = 0;
  const answer = await postBatch(started, [
    { q: 'known' },
    { q: '' },
    { q: 'overload' },
    { q: 'new', domain: 'auto', page: 2, limit: '5', highlight: false },
    { q: 'x', domain: 'nowhere' },
    { q: 'x', filter: ['price:1..5', 'category:shoes'], facet: ['category'], sort: '-price', region: 'kz' },
  ]);
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { results } = answer.json();
  assert.deepEqual(
    results.map(
      ({ status, outcome, reason, problem }: Record<string, never>) =>
        `${status} ${outcome} ${reason ?? problem?.['code']}`,
    ),
    [
      '200 hit-l1 undefined',
      '400 rejected invalid-query',
      '503 shed overloaded',
      '200 engine unseen',
      '404 rejected unknown-domain',
      '200 engine unseen',
    ],
  );
  assert.deepEqual(countedOf(events), [
    'hit-l1 200 goods',
    'rejected 400 goods',
    'shed 503 goods',
    'engine 200 auto',
    'rejected 404 none',
    'engine 200 goods',
  ]);
  assert.deepEqual(new Set(events.map(({ route }) => route)), new Set(['msearch']));
  const single = await server.app.inject({ url: '/search?q=known' });
  assert.deepEqual(results[0].body, single.json());
  assert.equal(results[0].etag, single.headers['etag']);
  assert.match(results[0].cacheStatus, /^serpcache-l1; hit; ttl=\d+$/);
  assert.deepEqual([results[3].body.page, results[3].body.limit], [2, 5]);
  const asked = search.asked.many.find(({ request }) => request.text === 'x')?.request;
  assert.deepEqual(
    [asked?.filters.length, asked?.facets, asked?.sort, asked?.context],
    [2, ['category'], { by: 'attribute', attribute: 'price', descending: true }, [['region', 'kz']]],
  );
});

test('an item shows the age of its page', async (context) => {
  const clock = createFakeClock();
  const started = publicServer(context, { clock });
  await started.server.app.inject({ url: '/search?q=known' });
  clock.advance(13_000);
  const [known, made] = await ask(started, [{ q: 'known' }, { q: 'new' }]);
  assert.deepEqual([known.age, made.age], [13, 0]);
});

test('fifty searches are one batch', async (context) => {
  const started = publicServer(context);
  const { search, events } = started;
  const results = await ask(
    started,
    Array.from({ length: 50 }, (_, i) => ({ q: `word ${i}` })),
  );
  assert.deepEqual([results.length, search.asked.many.length, events.length], [50, 50, 50]);
});

test('a number is searched by its digits', async (context) => {
  const started = publicServer(context);
  const numbers = '9007199254740993 1.10 -0 1e400 0.1000000000000000055 1E3 100000000000000000000000'.split(' ');
  const results = await ask(started, numbers.map((number) => `{"q":${number}}`).join());
  assert.deepEqual(
    results.map(({ body }: { body: { query: string } }) => body.query),
    numbers.map((number) => number.toLowerCase()),
  );
  const asText = await ask(started, numbers.map((number) => `{"q":"${number}"}`).join());
  assert.deepEqual(
    asText.map(({ outcome }: { outcome: string }) => outcome),
    numbers.map(() => 'hit-l1'),
    'the keys of the same digits in quotes',
  );
  const [filtered, paged, lists, wrong] = await ask(
    started,
    '{"q":"a","filter":["price:5",1.10]},{"q":"a","page":1.0,"limit":2e1},{"q":[12345678901234567890]},{"q":"a","page":1.5}',
  );
  assert.match(filtered.problem.detail, /"1.10" is not an attribute/);
  assert.deepEqual([paged.status, paged.body.page, paged.body.limit], [200, 1, 20], 'page and limit are numbers');
  assert.equal(lists.body.query, '12345678901234567890');
  assert.equal(wrong.problem.parameter, 'page');
  assert.equal(started.search.asked.many.at(-1)?.request.text, '12345678901234567890');
});

test('an invalid item does not affect the others', async (context) => {
  const started = publicServer(context);
  const results = await ask(started, [
    { q: 'lone \ud800 surrogate' },
    { q: 'a\u0000b' },
    { q: 'x', page: 1.5 },
    { q: 'x', limit: 1e21 },
    { page: 1 },
    { q: 'x', facet: Array.from({ length: 64 }, () => 'category') },
    { q: 'x', utm_source: 'mail' },
    { q: 'fine' },
  ]);
  assert.deepEqual(
    results.map(({ status, problem }: Record<string, never>) => problem?.['code'] ?? status),
    [
      ...['invalid-query', 'invalid-query', 'invalid-page', 'invalid-page', 'invalid-query'],
      ...['invalid-body', 'invalid-body', 200],
    ],
  );
  assert.equal(started.search.asked.many.length, 1);
});

test('an item without an answer has a retry time with jitter, like Retry-After', async (context) => {
  const spread = new Set<number>();
  for (const random of [0, 0.5, 0.999]) {
    const started = publicServer(context, { random: () => random });
    started.search.answer = () => Promise.reject(new SearchError('breaker-open'));
    const [failed, refused] = await ask(started, [{ q: 'a' }, { q: '' }]);
    const single = await started.server.app.inject({ url: '/search?q=a' });
    assert.deepEqual([failed.status, failed.retryAfter], [503, Number(single.headers['retry-after'])]);
    assert.equal(refused.retryAfter, undefined);
    spread.add(failed.retryAfter);
  }
  assert.deepEqual([...spread], [2, 3, 4]);
});

test('a bug behind the batch is reported per item', async (context) => {
  const started = publicServer(context);
  started.search.answer = () => Promise.reject(new TypeError('bug'));
  const results = await ask(started, [{ q: 'a' }, { q: '' }]);
  assert.deepEqual(
    results.map(({ problem }: { problem: { code: string } }) => problem.code),
    ['internal', 'invalid-query'],
  );
  assert.deepEqual(countedOf(started.events), ['failed 500 goods', 'rejected 400 goods']);
  assert.equal(errorsIn(started).length, 1);
});

const MAX_PAGE_BYTES = 10_000;

test('when the pages of a batch are too large together, those that fit are answered and the others are refused with advice', async (context) => {
  const clock = createFakeClock();
  const started = publicServer(context, { clock, maxPageBytes: MAX_PAGE_BYTES });
  const { server, search, events } = started;
  const page = JSON.stringify({ query: 'x', padding: ' '.repeat(MAX_PAGE_BYTES - 100) });
  search.answer = async (prepared) =>
    search.computed(prepared, {
      entry: entryOf(clock, { canonical: prepared.canonical, coding: 'gzip', body: gzipSync(page) }),
    });
  const searches = Array.from({ length: 50 }, (_, index) => ({ q: `${index}` }));
  const answer = await postBatch(started, searches);
  assert.equal(answer.statusCode, 200);
  const { results } = answer.json();
  const refused = results.filter(({ status }: { status: number }) => status !== 200);
  assert.equal(results.length, 50);
  assert.equal(refused.length, 48, 'at most two of the largest pages are answered');
  assert.equal(refused[0].problem.code, 'busy');
  assert.match(refused[0].problem.detail, /in a request of its own/);
  assert.ok(answer.rawPayload.length < 4 * MAX_PAGE_BYTES + 50 * 1000, `${answer.rawPayload.length} bytes`);
  assert.equal(events.filter(({ outcome }) => outcome === 'shed').length, 48);
  const single = await server.app.inject({ url: '/search?q=49' });
  assert.equal(single.statusCode, 200);
});
