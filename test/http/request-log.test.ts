import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/runtime.ts';
import { publicServer } from './harness.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

test('a miss gets one line that names the query by its key only', async (context) => {
  const { server, search, lines } = publicServer(context);
  await server.app.inject({
    url: '/search?q=very+private+words',
    headers: { authorization: 'Bearer s3cret', 'x-request-id': 'r-1', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
  });
  assert.equal(lines.length, 1);
  const { time, pid, hostname, ms, ...line } = lines[0] ?? {};
  assert.equal(typeof ms, 'number');
  assert.deepEqual(line, {
    level: 30,
    msg: 'request',
    requestId: 'r-1',
    traceId: TRACE,
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
  assert.deepEqual(
    lines.map(({ level, code, status, outcome }) => [level, code, status, outcome]),
    [[30, 'invalid-page', 400, 'rejected']],
  );
});

test('of refusals a hundred a second get a line, answers always do', async (context) => {
  // Time stands still: a slow machine must not begin another second.
  const { server, lines } = publicServer(context, { clock: { ...systemClock, monotonicMs: () => 0 } });
  for (let i = 0; i < 150; i += 1) await server.app.inject({ url: '/search' });
  assert.equal(lines.length, 100);
  await server.app.inject({ url: '/search?q=shoes' });
  assert.equal(lines.length, 101);
});
