import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SearchError } from '../../src/resilience/search-error.ts';
import { get, listeningServer, postBatch, publicServer, type TestServer } from './harness.ts';

const missBudget = { perMinute: 1, burst: 3, maxClients: 100 };
const trustedProxies = ['127.0.0.1'];

test('a client without misses left is refused with 429, and its hits are free', async (context) => {
  const started = publicServer(context, { missBudget });
  askTheBudget(started);
  for (const word of ['a', 'b', 'c']) assert.equal((await ask(started, word)).statusCode, 200);
  const refused = await ask(started, 'd');
  assert.equal(refused.statusCode, 429);
  assert.equal(refused.headers['content-type'], 'application/problem+json');
  assert.equal(refused.headers['cache-control'], 'no-store');
  const { code, title, detail } = refused.json();
  assert.deepEqual([code, title], ['over-budget', 'Too many searches beyond the cache']);
  assert.match(detail, /free and still served/);
  const after = Number(refused.headers['retry-after']);
  assert.ok(after >= 10 && after <= 20, String(after));
  for (let i = 0; i < 10; i += 1) assert.equal((await ask(started, 'a')).statusCode, 200);
  const outcomes = started.events.map(({ outcome, status }) => `${outcome} ${status}`);
  assert.deepEqual(outcomes.slice(0, 5), ['engine 200', 'engine 200', 'engine 200', 'rejected 429', 'hit-l1 200']);
});

test('each item of a batch costs a miss of its own', async (context) => {
  const started = publicServer(context, { missBudget });
  askTheBudget(started);
  await ask(started, 'a');
  const searches = ['a', 'b', 'c', 'd', 'e'].map((q) => ({ q }));
  const { results } = (await postBatch(started, searches)).json();
  const statuses = results.map(({ status }: { status: number }) => status);
  assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
  assert.equal(results[3].problem.code, 'over-budget');
  assert.ok(results[3].retryAfter >= 10);
});

test('the search page uses the same budget', async (context) => {
  const started = publicServer(context, { missBudget });
  askTheBudget(started);
  const visit = (q: string) => started.server.app.inject({ url: `/?q=${q}` });
  for (const word of ['a', 'b', 'c']) assert.equal((await visit(word)).statusCode, 200);
  const refused = await visit('d');
  assert.equal(refused.statusCode, 429);
  assert.ok(Number(refused.headers['retry-after']) >= 10);
  assert.equal((await ask(started, 'd')).statusCode, 429);
  assert.equal((await visit('a')).statusCode, 200);
});

test('clients behind a trusted proxy have a budget each', async (context) => {
  const started = await listeningServer(context, { missBudget, trustedProxies });
  askTheBudget(started);
  const from = async (address: string, word: string) =>
    (await get(started.port, `/search?q=${word}`, `X-Forwarded-For: ${address}\r\n`)).status;
  for (const word of ['a', 'b', 'c']) assert.equal(await from('198.51.100.1', word), 200);
  assert.equal(await from('198.51.100.1', 'd'), 429);
  assert.equal(await from('6.6.6.6, 198.51.100.1', 'd'), 429);
  assert.equal(await from('198.51.100.2', 'd'), 200);
});

test('a query without escapes is charged to its client too', async (context) => {
  const started = await listeningServer(context, { missBudget, trustedProxies });
  askTheBudget(started);
  const raw = async (address: string, word: string) =>
    (await get(started.port, Buffer.from(`/search?q=${word}`).toString('latin1'), `X-Forwarded-For: ${address}\r\n`))
      .status;
  for (const word of ['ж', 'щ', 'ю']) assert.equal(await raw('198.51.100.1', word), 200);
  assert.equal(await raw('198.51.100.1', 'э'), 429);
  assert.equal(await raw('198.51.100.2', 'э'), 200);
});

for (const reason of ['queue-full', 'breaker-open'] as const) {
  test(`a miss that ended in ${reason} costs nothing`, async (context) => {
    const started = publicServer(context, { missBudget });
    const compute = started.search.answer;
    let turnedAway = true;
    started.search.answer = async (prepared, options) => {
      assert.equal(options?.mayMiss?.(prepared), true);
      if (turnedAway) throw new SearchError(reason);
      return compute(prepared, options);
    };
    for (let i = 0; i < 10; i += 1) assert.equal((await ask(started, 'a')).statusCode, 503);
    for (let i = 0; i < 3; i += 1) await postBatch(started, [{ q: 'a' }, { q: 'b' }]);
    turnedAway = false;
    for (const word of ['a', 'b', 'c']) assert.equal((await ask(started, word)).statusCode, 200);
  });
}

test('refused items of a batch refund nothing for items that reached the engine', async (context) => {
  const started = publicServer(context, { missBudget });
  started.search.answer = async (prepared, options) => {
    const { text } = prepared.request;
    if (text === 'asked') {
      if (options?.mayMiss?.(prepared) === false) throw new SearchError('over-budget');
      throw new SearchError('engine-deadline');
    }
    throw new SearchError('queue-full');
  };
  const statuses: number[] = [];
  for (let i = 0; i < 4; i += 1) {
    const { results } = JSON.parse((await postBatch(started, [{ q: 'asked' }, { q: 'late' }, { q: 'late' }])).body);
    statuses.push(results[0].status);
  }
  assert.deepEqual(statuses, [504, 504, 504, 429]);
});

test('a miss whose engine call failed is not refunded', async (context) => {
  const started = publicServer(context, { missBudget });
  started.search.answer = async (prepared, options) => {
    if (options?.mayMiss?.(prepared) === false) throw new SearchError('over-budget');
    throw new SearchError('engine-deadline');
  };
  const statuses: number[] = [];
  for (const word of ['a', 'b', 'c', 'd']) statuses.push((await ask(started, word)).statusCode);
  assert.deepEqual(statuses, [504, 504, 504, 429]);
});

test('without a budget no client is limited', async (context) => {
  const started = publicServer(context);
  const compute = started.search.answer;
  started.search.answer = (prepared, options) => {
    for (let i = 0; i < 1000; i += 1) assert.equal(options?.mayMiss?.(prepared), true);
    return compute(prepared, options);
  };
  assert.equal((await ask(started, 'a')).statusCode, 200);
  assert.equal((await postBatch(started, [{ q: 'b' }])).statusCode, 200);
});

/** The fake search asks the budget, as the core does before each engine call. */
function askTheBudget({ search }: TestServer): void {
  const compute = search.answer;
  search.answer = (prepared, options) => {
    if (options?.mayMiss?.(prepared) === false) throw new SearchError('over-budget');
    return compute(prepared, options);
  };
}

function ask({ server }: TestServer, word: string) {
  return server.app.inject({ url: `/search?q=${word}` });
}
