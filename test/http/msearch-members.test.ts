import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedOf, postBatch, publicServer, type TestServer } from './harness.ts';

/** Sends a batch. @returns its results, with status, code, parameter and detail of the refused items */
async function ask(started: TestServer, searches: Parameters<typeof postBatch>[1]) {
  const { results } = (await postBatch(started, searches)).json();
  const told = results.map(({ status, problem }: { status: number; problem?: Record<string, string> }) =>
    problem === undefined ? status : [status, problem['code'], problem['parameter'], problem['detail']],
  );
  return { results, told };
}

test('a member of a wrong type refuses its item with its name and the allowed types', async (context) => {
  const started = publicServer(context);
  const { told } = await ask(started, [
    { q: { text: 'a' } },
    { q: null },
    { q: 'a', filter: [['price:1..5']] },
    { q: 'a', region: [{}] },
    { q: 'a', domain: {} },
    { q: ['a', 'b'] },
    { q: 'a', filter: Array.from({ length: 65 }, () => 'price:1..5') },
    { q: 'a', domain: 'auto', region: {} },
    { q: ['a'], page: 2, highlight: false, facet: 'category' },
  ]);
  const scalar = 'must be a string, a number or a boolean';
  assert.deepEqual(told, [
    [400, 'invalid-body', 'q', `q ${scalar}.`],
    [400, 'invalid-body', 'q', `q ${scalar}.`],
    [400, 'invalid-body', 'filter', `filter ${scalar}, or a list of those.`],
    [400, 'invalid-body', 'region', `region ${scalar}.`],
    [400, 'invalid-body', 'domain', `domain ${scalar}.`],
    [400, 'invalid-query', 'q', '"q" may be given only once'],
    [400, 'invalid-body', 'filter', 'A search may carry at most 64 values, each one of a list counted; this has 66.'],
    200,
    200,
  ]);
  assert.equal(started.search.asked.many.length, 2);
  const rejected = 'rejected 400 goods';
  assert.deepEqual(countedOf(started.events), [
    ...Array(4).fill(rejected),
    'rejected 400 none',
    ...Array(2).fill(rejected),
    'engine 200 auto',
    'engine 200 goods',
  ]);
});

test('an undeclared member refuses its item with its name, the nearest allowed name and all of them', async (context) => {
  const started = publicServer(context);
  const known = 'nown here are q, domain, page, limit, sort, filter, facet, highlight';
  const cases = [
    [
      { q: 'a', filters: ['price:1..5'] },
      'filters',
      `There is no field filters; did you mean filter? K${known}, region.`,
    ],
    [{ q: 'a', Facet: 'x' }, 'Facet', `There is no field Facet; did you mean facet? K${known}, region.`],
    [{ q: 'a', utm_source: 'mail' }, 'utm_source', `There is no field utm_source; k${known}, region.`],
    [{ q: 'a', domain: 'auto', reigon: 'kz' }, 'reigon', `There is no field reigon; k${known}.`],
    [{ q: 'a', 'X-Variant': 'b' }, 'X-Variant', 'X-Variant is sent as a request header.'],
    [{ q: 'a', domain: 'auto', 'X-Variant': 'b' }, 'X-Variant', 'X-Variant is sent as a request header.'],
  ] as const;
  const { told } = await ask(started, [...cases.map(([item]) => item), { q: 'fine' }]);
  assert.deepEqual(told, [...cases.map(([, parameter, detail]) => [400, 'invalid-body', parameter, detail]), 200]);
  assert.equal(started.search.asked.many.length, 1);
});

test('context that only another domain declares is ignored, so that a client can send it with every item', async (context) => {
  const one = { q: 'a', domain: 'auto' };
  const { results } = await ask(publicServer(context), [one, { ...one, region: 'kz' }]);
  assert.deepEqual([results[0].status, results[1].status], [200, 200]);
  assert.equal(results[0].etag, results[1].etag);
});

test('an unknown field of the batch refuses the batch by name', async (context) => {
  const { server, events } = publicServer(context);
  for (const [payload, parameter, detail] of [
    [{ search: [{ q: 'a' }] }, '/search', 'There is no field search; did you mean searches? Known here are searches.'],
    [{ searches: [{ q: 'a' }], domain: 'auto' }, '/domain', 'There is no field domain; known here are searches.'],
  ] as const) {
    const refused = await server.app.inject({ method: 'POST', url: '/msearch', payload });
    assert.deepEqual([refused.statusCode, refused.json().code], [400, 'invalid-body']);
    assert.deepEqual([refused.json().parameter, refused.json().detail], [parameter, detail]);
  }
  assert.deepEqual(
    events.map(({ domain, outcome }) => `${domain} ${outcome}`),
    ['none rejected', 'none rejected'],
  );
});

test('a header that is declared context is taken from the request', async (context) => {
  const { server, search } = publicServer(context);
  const searches = [{ q: 'a', domain: 'auto' }];
  const send = (headers: Record<string, string>) =>
    server.app.inject({ method: 'POST', url: '/msearch', payload: { searches }, headers });
  await send({});
  await send({ 'x-variant': 'b' });
  assert.deepEqual(
    search.asked.many.map(({ request }) => request.context),
    [[['X-Variant', 'a']], [['X-Variant', 'b']]],
  );
});

test('names that are special in JavaScript are unknown members like others', async (context) => {
  const names = ['__proto__', 'constructor', 'toString'];
  const { told } = await ask(publicServer(context), names.map((name) => `{"q":"a","${name}":"x"}`).join());
  assert.deepEqual(
    told.map((item: readonly string[]) => item[2]),
    names,
  );
});

test('the values of an item are measured before they are used, and the refusal names the longest member', async (context) => {
  const started = publicServer(context, { maxBodyBytes: 2 ** 20 });
  const { told } = await ask(started, [
    { q: 'a', filter: `category:${'\u0323\u0301'.repeat(60_000)}` },
    { q: 'a', filter: Array.from({ length: 40 }, (_, i) => `category:${i}${'x'.repeat(500)}`) },
    { q: 'a', filter: `category:${'a\u0323\u0301'.repeat(180)}` },
    { q: 'fine' },
  ]);
  const tooLong = 'A search may carry values of at most 16384 characters together; this has';
  assert.deepEqual(told, [
    [400, 'invalid-body', 'filter', `${tooLong} 120010.`],
    [400, 'invalid-body', 'filter', `${tooLong} 20431.`],
    [400, 'invalid-filter', 'filter', 'each value of "category" must have 1 to 256 characters'],
    200,
  ]);
  assert.equal(started.search.asked.many.length, 1);
});

test('values are counted by the structure of the JSON, not by the content of its strings', async (context) => {
  const { server } = publicServer(context, { maxBodyBytes: 2 ** 20 });
  const post = (payload: string) =>
    server.app.inject({
      method: 'POST',
      url: '/msearch',
      headers: { 'content-type': 'application/json' },
      payload,
    });
  for (const text of [',[{', '\\",', '\\\\\\",'].map((part) => part.repeat(22_000))) {
    const answer = await post(`{"searches":[{"q":"a"},{"q":"${text}"}]}`);
    assert.deepEqual(
      answer.json().results?.map(({ status }: { status: number }) => status),
      [200, 400],
      text.slice(0, 9),
    );
  }
  for (const opening of ['{"a":', '[', '"\\\\",']) {
    const answer = await post(`{"searches":[${opening.repeat(11_000)}`);
    assert.match(answer.json().detail, /at most 10000 members/, opening);
  }
});

test('refused items are spread over turns of the event loop too, because each is compared with every known name', async (context) => {
  const started = publicServer(context);
  const turnsOf = async (count: number): Promise<number> => {
    let turns = 0;
    const tick = (): void => {
      turns += 1;
      next = setImmediate(tick);
    };
    let next = setImmediate(tick);
    const searches = Array.from({ length: count }, (_, i) => ({ q: 'a', [`qq${i}`]: 1 }));
    const { results } = await ask(started, searches);
    clearImmediate(next);
    assert.equal(results.length, count);
    return turns;
  };
  await turnsOf(1);
  const one = await turnsOf(1);
  assert.ok((await turnsOf(50)) >= one + 5);
});
