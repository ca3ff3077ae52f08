import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Reply } from '../../loadtest/http-driver/client.ts';
import { createReference, verdictOf } from './verdict.ts';

const BODY = { query: 'стул', total: 1, results: [{ id: '1', title: 'Стул' }] };

function page(over: { readonly headers?: Record<string, string>; readonly body?: unknown } = {}): Reply {
  const headers = { 'server-timing': 'cache;desc=hit-l1, total;dur=0.1', 'cache-status': 'serpcache-l1; hit; ttl=9' };
  return {
    kind: 'answer',
    status: 200,
    headers: { ...headers, ...over.headers },
    bytes: 0,
    body: JSON.stringify(over.body ?? BODY),
  };
}

function problem(status: number, code: string, headers: Record<string, string> = {}): Reply {
  const own = { 'content-type': 'application/problem+json', 'cache-control': 'no-store', 'retry-after': '2' };
  return { kind: 'answer', status, headers: { ...own, ...headers }, bytes: 0, body: JSON.stringify({ code }) };
}

describe('a reply', () => {
  test('with a page, one outcome and headers that agree is a page', () => {
    const verdict = verdictOf(page(), 'стул');
    assert.equal(verdict.kind === 'page' && verdict.outcome, 'hit-l1');
  });

  const dishonest: readonly (readonly [what: string, why: string, reply: Reply])[] = [
    ['that answers another search', 'a page for another search', page({ body: { ...BODY, query: 'стол' } })],
    ['without an outcome', 'not exactly one outcome', page({ headers: { 'server-timing': 'total;dur=1' } })],
    [
      'with two outcomes',
      'not exactly one outcome',
      page({ headers: { 'server-timing': 'cache;desc=hit-l1, cache;desc=engine' } }),
    ],
    [
      'whose headers disagree',
      'outcome hit-l1 but',
      page({ headers: { 'cache-status': 'serpcache-l1; fwd=uri-miss' } }),
    ],
    ['with more results than there are', '1 results of 0', page({ body: { ...BODY, total: 0 } })],
    ['that was cut short', 'not a JSON object', { ...page(), body: '{"query":"стул"' } as Reply],
    [
      'from the lifeboat that does not say so',
      'does not say degraded',
      page({ headers: { 'server-timing': 'cache;desc=lifeboat', 'cache-status': 'serpcache-l1; fwd=uri-miss' } }),
    ],
    ['500', '500: internal', problem(500, 'internal')],
    ['503 with the code of another status', '503: engine-rejected', problem(503, 'engine-rejected')],
    ['503 without Retry-After', 'without Retry-After', problem(503, 'overloaded', { 'retry-after': '' })],
    ['503 that may be stored', 'may be stored', problem(503, 'overloaded', { 'cache-control': 'max-age=5' })],
    [
      '503 that is no problem document',
      'not a problem document',
      problem(503, 'overloaded', { 'content-type': 'text/plain' }),
    ],
  ];
  for (const [what, why, reply] of dishonest) {
    test(`${what} is an answer that no client can act on`, () => {
      const verdict = verdictOf(reply, 'стул');
      assert.ok(verdict.kind === 'dishonest' && verdict.why.includes(why), JSON.stringify(verdict));
    });
  }

  test('that refuses as documented is a refusal', () => {
    assert.deepEqual(verdictOf(problem(503, 'overloaded'), 'стул'), { kind: 'shed', code: 'overloaded' });
    assert.deepEqual(verdictOf(problem(504, 'engine-deadline', { 'retry-after': '' }), 'стул').kind, 'shed');
  });
});

describe('the reference', () => {
  const other = { ...BODY, results: [{ id: '2', title: 'Стул' }] };

  test('a page that differs from the engine’s in one id is found', () => {
    const reference = createReference();
    reference.learn('стул', verdictOf(page(), 'стул'));
    assert.equal(reference.agrees('стул', verdictOf(page(), 'стул')), true);
    assert.equal(reference.agrees('стул', verdictOf(page({ body: other }), 'стул')), false);
  });

  test('only the shape of a degraded page is checked, and nothing is learned from it', () => {
    const reference = createReference();
    const degraded = verdictOf(page({ body: { ...other, degraded: true } }), 'стул');
    reference.learn('стул', degraded);
    assert.equal(reference.knows('стул'), false);
    reference.learn('стул', verdictOf(page(), 'стул'));
    assert.equal(reference.agrees('стул', degraded), true);
  });

  test('two different complete pages for one search are a contradiction', () => {
    const reference = createReference();
    reference.learn('стул', verdictOf(page(), 'стул'));
    reference.learn('стул', verdictOf(page({ body: other }), 'стул'));
    assert.deepEqual(reference.contradictions(), ['стул']);
  });
});
