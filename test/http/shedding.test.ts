import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createVirtualTime } from '../fakes/clock.ts';
import { until } from '../until.ts';
import { countedOf, held, postBatch, publicServer, type TestServer } from './harness.ts';

test('above the maximum in flight, pages in memory are answered and other searches are shed at once', async (context) => {
  const started = publicServer(context, { maxInFlight: 2 });
  await ask(started, 'held');
  const release = held(started.search);
  const waiting = [ask(started, 'a'), ask(started, 'b')];
  await until('both searches are in flight', () => started.search.asked.single.length === 3);
  started.events.length = 0;
  const shed = await ask(started, 'c');
  assert.equal(shed.statusCode, 503);
  assert.equal(shed.json().code, 'busy');
  assert.equal(shed.headers['cache-control'], 'no-store');
  const after = Number(shed.headers['retry-after']);
  assert.ok(after >= 1 && after <= 2, String(after));
  assert.equal((await ask(started, 'held')).statusCode, 200);
  assert.deepEqual(countedOf(started.events), ['shed 503 goods', 'hit-l1 200 goods']);
  assert.equal(started.search.asked.single.length, 3, 'no other search reached the core');
  assert.equal((await started.server.app.inject({ url: '/?q=d' })).statusCode, 503);
  assert.equal((await started.server.app.inject({ url: '/search?page=x' })).statusCode, 400);
  release();
  for (const { statusCode } of await Promise.all(waiting)) assert.equal(statusCode, 200);
  assert.equal(started.server.pressure.status().inFlight, 0);
  assert.equal((await ask(started, 'c')).statusCode, 200);
});

test('each item of a batch that is not in memory takes a place, and only items above the maximum are shed', async (context) => {
  const started = publicServer(context, { maxInFlight: 3 });
  await ask(started, 'held');
  const release = held(started.search);
  const waiting = ask(started, 'a');
  await until('the search is in flight', () => started.search.asked.single.length === 2);
  const searches = ['b', 'held', 'c', 'd', 'e'].map((q) => ({ q }));
  const answered = postBatch(started, searches);
  await until('two items were admitted', () => started.search.asked.many.length === 2);
  assert.equal(started.server.pressure.status().inFlight, 3);
  release();
  const { results } = (await answered).json();
  assert.deepEqual(
    results.map(({ outcome, body, problem }: Item) => `${outcome} ${body?.query ?? problem?.code}`),
    ['engine b', 'hit-l1 held', 'engine c', 'shed busy', 'shed busy'],
  );
  assert.equal(results[3].status, 503);
  assert.ok(results[3].retryAfter >= 1);
  await waiting;
  assert.equal(started.server.pressure.status().inFlight, 0);
});

test('a failed search leaves its place, also in a batch', async (context) => {
  const started = publicServer(context, { maxInFlight: 2 });
  started.search.answer = () => Promise.reject(new TypeError('a bug'));
  for (let i = 0; i < 4; i += 1) {
    assert.equal((await ask(started, 'a')).statusCode, 500);
    const { results } = (await postBatch(started, [{ q: 'b' }, { q: 'c' }])).json();
    assert.deepEqual(
      results.map(({ status }: { status: number }) => status),
      [500, 500],
    );
  }
  assert.equal(started.server.pressure.status().inFlight, 0);
});

test('/readyz changes before any search is shed, and names the process; /healthz stays ok', async (context) => {
  const { started, clock } = inVirtualTime(context, { maxInFlight: 4 });
  const release = held(started.search);
  const waiting = ['a', 'b', 'c'].map((word) => ask(started, word));
  let ready = await probe(started);
  assert.deepEqual([ready.statusCode, ready.json().status], [200, 'ready']);
  await clock.pass(550);
  ready = await probe(started);
  assert.deepEqual([ready.statusCode, ready.json().status], [503, 'busy']);
  const { state, inFlight, maxInFlight } = ready.json().process;
  assert.deepEqual([state, inFlight, maxInFlight], ['degraded', 3, 4]);
  assert.equal((await started.server.app.inject({ url: '/healthz' })).statusCode, 200);
  const fourth = ask(started, 'd');
  release();
  for (const { statusCode } of await Promise.all([...waiting, fourth])) assert.equal(statusCode, 200);
  await clock.pass(50);
  assert.equal((await probe(started)).statusCode, 200);
});

test('while the event loop is late, misses and pages are shed, pages with an explanation, and a hit of /search is not', async (context) => {
  const { started, clock } = inVirtualTime(context, { maxLoopDelayMs: 100 });
  const page = (path = '/?q=held') => started.server.app.inject({ url: path });
  const known = '/search?q=held&domain=goods&facet=category&highlight=true';
  assert.equal((await page()).statusCode, 200);
  started.events.length = 0;
  clock.advance(500);
  await clock.pass(50);
  const shed = await page();
  assert.equal(shed.statusCode, 503);
  assert.match(String(shed.headers['content-type']), /^text\/html/);
  assert.match(String(shed.headers['retry-after']), /^[12]$/);
  assert.match(shed.payload, /role="alert".*Too many searches at once/s);
  assert.match(String((await started.server.app.inject({ url: known })).headers['cache-status']), /^serpcache-l1; hit/);
  assert.equal((await ask(started, 'a')).json().code, 'busy');
  assert.deepEqual(countedOf(started.events), ['shed 503 goods', 'hit-l1 200 goods', 'shed 503 goods']);
  await clock.pass(500);
  assert.equal((await page()).statusCode, 200);
  assert.equal((await ask(started, 'a')).statusCode, 200);
});

test('with all places taken and the event loop on time, a page in memory is drawn', async (context) => {
  const started = publicServer(context, { maxInFlight: 1 });
  assert.equal((await started.server.app.inject({ url: '/?q=held' })).statusCode, 200);
  const release = held(started.search);
  const waiting = ask(started, 'a');
  await until('the place is taken', () => started.server.pressure.status().inFlight === 1);
  assert.equal((await started.server.app.inject({ url: '/?q=held' })).statusCode, 200);
  assert.equal((await started.server.app.inject({ url: '/?q=other' })).statusCode, 503);
  release();
  await waiting;
});

/** A server whose event loop is looked at every 50 ms of virtual time. */
function inVirtualTime(context: TestContext, bounds: Parameters<typeof publicServer>[1]) {
  const clock = createVirtualTime(context, 50);
  return { started: publicServer(context, { clock, ...bounds }), clock };
}

interface Item {
  readonly outcome: string;
  readonly body?: { readonly query: string };
  readonly problem?: { readonly code: string };
}

function ask({ server }: TestServer, word: string) {
  return server.app.inject({ url: `/search?q=${word}` });
}

function probe({ server }: TestServer) {
  return server.app.inject({ url: '/readyz' });
}
