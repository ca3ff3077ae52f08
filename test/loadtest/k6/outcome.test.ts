import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHonestShed, outcomeOf, parseCacheStatus } from '../../../loadtest/k6/kit/outcome.ts';

/** Every field of the header in the design. */
const FIELDS: readonly (readonly [string, string])[] = [
  ['serpcache-l1; hit; ttl=287', 'hit-l1'],
  ['serpcache-l2; hit; ttl=287, serpcache-l1; fwd=uri-miss', 'hit-l2'],
  ['serpcache-l2; fwd=uri-miss; stored, serpcache-l1; fwd=uri-miss; stored', 'engine'],
  ['serpcache-l2; fwd=uri-miss; collapsed; detail=unseen, serpcache-l1; fwd=uri-miss', 'collapsed'],
  ['serpcache-l1; hit; ttl=-12', 'stale'],
  ['serpcache-l1; fwd=stale; fwd-status=504', 'stale'],
];

test('the outcome is read from Cache-Status where a proxy removed Server-Timing', () => {
  for (const [field, outcome] of FIELDS) {
    assert.equal(outcomeOf({ status: 200, headers: { 'Cache-Status': field } }), outcome, field);
  }
});

test('Server-Timing of the service takes precedence', () => {
  const headers = { 'Server-Timing': 'cache;desc=lifeboat, total;dur=2', 'Cache-Status': 'serpcache-l1; fwd=uri-miss' };
  assert.equal(outcomeOf({ status: 200, headers }), 'lifeboat');
});

test('an answer of another server is unknown, and no answer is unanswered', () => {
  assert.equal(outcomeOf({ status: 200, headers: {} }), 'unknown');
  assert.equal(outcomeOf({ status: 200, headers: { 'Cache-Status': 'edge; hit' } }), 'unknown');
  assert.equal(outcomeOf({ status: 200, headers: { 'Server-Timing': 'cache;desc=HIT' } }), 'unknown');
  assert.equal(outcomeOf({ status: 0, headers: {} }), 'unanswered');
});

test('a cache in front of ours does not hide the outcome of ours', () => {
  const field = 'serpcache-l1; hit; ttl=3, "edge-7"; fwd=miss'.replaceAll('"', '');
  assert.equal(outcomeOf({ status: 200, headers: { 'Cache-Status': field } }), 'hit-l1');
});

test('a shed is honest with 503, Retry-After in seconds and a problem body; with less it is a failure', () => {
  const headers = { 'Retry-After': '3', 'Content-Type': 'application/problem+json; charset=utf-8' };
  assert.ok(isHonestShed({ status: 503, headers }));
  assert.ok(!isHonestShed({ status: 502, headers }));
  assert.ok(!isHonestShed({ status: 503, headers: { 'Content-Type': headers['Content-Type'] } }));
  assert.ok(!isHonestShed({ status: 503, headers: { ...headers, 'Content-Type': 'text/html' } }));
  assert.equal(outcomeOf({ status: 503, headers }), 'shed');
  assert.equal(outcomeOf({ status: 500, headers: {} }), 'failed');
  assert.equal(outcomeOf({ status: 404, headers: {} }), 'rejected');
});

test('a malformed Cache-Status does not parse', () => {
  for (const [field] of FIELDS) assert.ok(parseCacheStatus(field) !== undefined, field);
  for (const bad of [
    undefined,
    '',
    ';',
    'serpcache-l1; hit=',
    'serpcache-l1; ttl=a b',
    'a b; hit',
    'l1;; hit',
    'l1; Hit',
  ]) {
    assert.equal(parseCacheStatus(bad), undefined, `${bad}`);
  }
});

test('members come in order, with their parameters', () => {
  assert.deepEqual(parseCacheStatus('serpcache-l2; hit; ttl=287, serpcache-l1; fwd=uri-miss'), [
    { cache: 'serpcache-l2', parameters: { hit: '', ttl: '287' } },
    { cache: 'serpcache-l1', parameters: { fwd: 'uri-miss' } },
  ]);
});
