import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../loadtest/random.ts';
import { createRequestIds } from '../../src/http/search-api/exchange.ts';
import { systemClock } from '../../src/runtime.ts';
import { publicServer } from './harness.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

test('a miss gets one line with the key of the query and not its text', async (context) => {
  const { server, search, lines } = publicServer(context);
  await server.app.inject({
    url: '/search?q=very+private+words',
    headers: { authorization: 'Bearer s3cret', 'x-request-id': 'r-1', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
  });
  assert.equal(lines.length, 1);
  const { time, pid, hostname, duration_ms, ...line } = lines[0] ?? {};
  assert.equal(typeof duration_ms, 'number');
  assert.deepEqual(line, {
    level: 30,
    msg: 'request',
    requestId: 'r-1',
    trace_id: TRACE,
    route: 'search',
    domain: 'goods',
    outcome: 'engine',
    reason: 'unseen',
    status: 200,
    key: search.asked.single[0]?.key,
  });
  assert.doesNotMatch(JSON.stringify(lines), /private|s3cret/);
});

test('hits are sampled', async (context) => {
  for (const [hitSample, expected] of [
    [0, 1],
    [0.4, 1],
    [0.6, 6],
    [1, 6],
  ] as const) {
    const { server, lines } = publicServer(context, { hitSample });
    for (let i = 0; i < 6; i += 1) await server.app.inject({ url: '/search?q=x' });
    assert.equal(lines.length, expected, `sample ${hitSample}`);
  }
});

test("a client's mistake is a line at info with its code", async (context) => {
  const { server, lines } = publicServer(context);
  await server.app.inject({ url: '/search?q=a&page=0' });
  const told = lines.map(({ level, code, status, outcome }) => `${level} ${code} ${status} ${outcome}`);
  assert.deepEqual(told, ['30 invalid-page 400 rejected']);
});

test('at most a hundred refusals a second get a line, answers always do', async (context) => {
  // The clock stands still: a slow machine must not reach the next second.
  const { server, lines } = publicServer(context, { clock: { ...systemClock, monotonicMs: () => 0 } });
  for (let i = 0; i < 150; i += 1) await server.app.inject({ url: '/search' });
  assert.equal(lines.length, 100);
  await server.app.inject({ url: '/search?q=shoes' });
  assert.equal(lines.length, 101);
});

test('a valid request id is kept and any other is replaced by a new one', () => {
  const idOf = createRequestIds(seededRandom(1));
  assert.equal(idOf('a1B2.c-3_'), 'a1B2.c-3_');
  assert.equal(idOf('x'.repeat(64)), 'x'.repeat(64));
  const made = [undefined, '', 'x'.repeat(65), 'a b', 'a\r\nb', 'ё', ['a', 'b']].map(idOf);
  assert.equal(new Set(made).size, made.length);
  for (const id of made) assert.match(id, /^[a-z0-9]+-[a-z0-9]+$/);
});

test('two processes name their requests differently', () => {
  assert.notEqual(createRequestIds(seededRandom(1))(undefined), createRequestIds(seededRandom(2))(undefined));
});
