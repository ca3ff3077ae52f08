import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { SpanFacts, TraceRoot, Tracer } from '../../src/search/trace.ts';
import { get, type ListeningServer, listeningServer } from './harness.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

interface Ended {
  readonly root: TraceRoot;
  readonly facts: SpanFacts;
  readonly error: string | undefined;
}

interface TracedServer extends ListeningServer {
  readonly ended: readonly Ended[];
}

/** A server whose tracer samples every request, unless told otherwise. */
async function tracedServer(context: TestContext, isSampled = true): Promise<TracedServer> {
  const ended: Ended[] = [];
  const tracer: Tracer = {
    begin: (root) => {
      const child = { traceId: TRACE, spanId: SPAN, begin: () => child, end: () => {}, link: () => {} };
      const end = (facts: SpanFacts = {}, error?: string): void => void ended.push({ root, facts, error });
      return isSampled ? { ...child, end } : undefined;
    },
  };
  return { ...(await listeningServer(context, { tracer, hitSample: 1 })), ended };
}

test('a hit of the lane has a server span with its outcome, and tells the client the id of its trace', async (context) => {
  const { port, server, ended, events, lines } = await tracedServer(context);
  const ask = () => get(port, '/search?q=shoes');
  const keptAlive = await fetch(`http://127.0.0.1:${port}/search?q=shoes`);
  assert.equal(keptAlive.headers.get('traceresponse'), `00-${TRACE}-${SPAN}-01`);
  await keptAlive.text();
  await ask();
  assert.ok((server.lane?.status().searches ?? 0) > 0);
  assert.deepEqual(
    ended.map(({ root, facts }) => [
      root.name,
      root.kind,
      facts['serpcache.outcome'],
      facts['http.response.status_code'],
    ]),
    [
      ['GET /search', 'server', 'engine', 200],
      ['GET /search', 'server', 'hit-l1', 200],
    ],
  );
  assert.deepEqual(ended[1]?.root.facts, { 'http.request.method': 'GET', 'http.route': '/search' });
  assert.deepEqual(new Set(events.map(({ traceId }) => traceId)), new Set([TRACE]), 'exemplars carry it');
  assert.deepEqual(new Set(lines.map((line) => line['trace_id'])), new Set([TRACE]));
});

test("the tracer gets the client's traceparent and address, and decides itself", async (context) => {
  const { port, ended } = await tracedServer(context);
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  await get(port, '/search?q=shoes', `traceparent: ${traceparent}\r\n`);
  assert.equal(ended[0]?.root.traceparent, traceparent);
  assert.match(ended[0]?.root.address ?? '', /127\.0\.0\.1/);
});

test('a request that is not sampled has no trace id of ours, in the answer as in the log', async (context) => {
  const { port, events, lines } = await tracedServer(context, false);
  const { headers } = await get(port, '/search?q=shoes', `traceparent: 00-${TRACE}-${SPAN}-01\r\n`);
  assert.equal(headers['traceresponse'], undefined);
  assert.equal(events[0]?.traceId, undefined);
  assert.equal(lines[0]?.['trace_id'], undefined, 'a client cannot choose the id that the log shows');
});

test('a refused search ends its span: as an error when the service is at fault, not when the client is', async (context) => {
  const { port, ended, search } = await tracedServer(context);
  assert.equal((await get(port, '/search')).headers['traceresponse'], `00-${TRACE}-${SPAN}-01`);
  search.answer = () => Promise.reject(new Error('a bug'));
  await get(port, '/search?q=boots');
  assert.deepEqual(
    ended.map(({ facts, error }) => [facts['http.response.status_code'], facts['serpcache.outcome'], error]),
    [
      [400, 'rejected', undefined],
      [500, 'failed', 'internal'],
    ],
  );
});

test('a batch and the search page have one span each', async (context) => {
  const { url, ended, events } = await tracedServer(context);
  const batch = { searches: [{ q: 'a' }, { q: 'b' }, {}] };
  const headers = { 'content-type': 'application/json' };
  for (const [path, body] of [
    ['/msearch', JSON.stringify(batch)],
    ['/msearch', '{}'],
    ['/?q=shoes', undefined],
  ] as const) {
    const answer = await fetch(url + path, body === undefined ? {} : { method: 'POST', headers, body });
    assert.equal(answer.headers.get('traceresponse'), `00-${TRACE}-${SPAN}-01`, path);
    await answer.text();
  }
  assert.equal(events.filter(({ traceId }) => traceId === TRACE).length, events.length);
  assert.deepEqual(
    ended.map(({ root, facts }) => [root.name, facts['http.response.status_code'], facts['serpcache.searches']]),
    [
      ['POST /msearch', 200, 3],
      ['POST /msearch', 400, undefined],
      ['GET /', 200, undefined],
    ],
  );
});
