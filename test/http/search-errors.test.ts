import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NoPageReason, REASONS, SearchError, type SearchErrorCode } from '../../src/resilience/search-error.ts';
import type { Outcome } from '../../src/search/outcome.ts';
import { countedOf, errorsIn, publicServer } from './harness.ts';

const cases: readonly [NoPageReason, SearchErrorCode, number, Outcome][] = [
  ['queue-full', 'overloaded', 503, 'shed'],
  ['breaker-open', 'engine-open', 503, 'shed'],
  ['engine-unavailable', 'engine-unavailable', 503, 'failed'],
  ['engine-deadline', 'engine-deadline', 504, 'failed'],
  ['engine-rejected', 'engine-rejected', 502, 'failed'],
];

for (const [reason, code, status, outcome] of cases) {
  test(`${code} is ${status} with a jittered Retry-After, counted ${outcome}`, async (context) => {
    const spread = new Set<string>();
    for (const random of [0, 0.5, 0.999]) {
      const { server, search, events, lines } = publicServer(context, { random: () => random });
      search.answer = () => Promise.reject(new SearchError(reason, 'agent 10.1.2.3: secret', { retryAfterMs: 2000 }));
      const answer = await server.app.inject({ url: '/search?q=x' });
      assert.equal(answer.statusCode, status);
      assert.equal(answer.headers['content-type'], 'application/problem+json');
      assert.equal(answer.headers['cache-control'], 'no-store');
      const { type, title, ...rest } = answer.json();
      assert.match(type, new RegExp(`:${code}$`));
      assert.ok(title.length > 0);
      assert.deepEqual(rest, { status, detail: REASONS[reason].detail, code });
      const after = Number(answer.headers['retry-after']);
      assert.ok(Number.isInteger(after) && after >= 2 && after <= 4, String(after));
      spread.add(String(after));
      assert.deepEqual(countedOf(events), [`${outcome} ${status} goods`]);
      assert.deepEqual(errorsIn({ lines }), []);
    }
    assert.ok(spread.size > 1);
  });
}

test('a bug is described in the log and not to the client', async (context) => {
  const { server, search, events, lines } = publicServer(context);
  search.answer = () => Promise.reject(new TypeError('secret detail'));
  const answer = await server.app.inject({ url: '/search?q=x' });
  assert.deepEqual([answer.statusCode, answer.json().code], [500, 'internal']);
  assert.doesNotMatch(answer.payload, /secret/);
  assert.deepEqual(countedOf(events), ['failed 500 goods']);
  assert.equal(errorsIn({ lines }).length, 1);
});

test('a bug before the engine call is caught too', async (context) => {
  const { server, search, events } = publicServer(context);
  Object.assign(search, {
    fromMemory: () => {
      throw new TypeError('memory');
    },
  });
  assert.equal((await server.app.inject({ url: '/search?q=x' })).statusCode, 500);
  assert.equal(events.length, 1);
});
