import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineCallsOf, parseMetrics } from '../../../loadtest/k6/kit/metrics-text.ts';
import { isHonestShed, outcomeOf } from '../../../loadtest/k6/kit/outcome.ts';

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

const one = (line: string) => parseMetrics(line)[0];

test('a series is its name, its labels and its value', () => {
  assert.deepEqual(
    parseMetrics('# HELP up Is it.\n# TYPE up gauge\nup 1\nseen_total{domain="goods",outcome="hit-l1"} 3\n'),
    [
      { name: 'up', labels: {}, value: 1 },
      { name: 'seen_total', labels: { domain: 'goods', outcome: 'hit-l1' }, value: 3 },
    ],
  );
});

test('label values may hold braces, commas, escaped quotes, backslashes and line ends', () => {
  const line = String.raw`a{x="} 5, y=\"z\"",path="C:\\new",text="two\nlines",} 7`;
  assert.deepEqual(one(line), {
    name: 'a',
    labels: { x: '} 5, y="z"', path: 'C:\\new', text: 'two\nlines' },
    value: 7,
  });
});

test('engine calls are summed over domains and outcomes, whatever else is on the page', () => {
  const text = `# HELP serpcache_engine_calls_total Engine calls.
# TYPE serpcache_engine_calls_total counter
serpcache_engine_calls_total{domain="goods",outcome="whole"} 30
serpcache_engine_calls_total{domain="a}b",outcome="empty"} 1.2e+1 1795255947000
serpcache_engine_calls_total_other{domain="goods"} 1000
other{note="serpcache_engine_calls_total{} 1000"} 1000
serpcache_engine_calls_total{domain="auto",outcome="whole"} 1`;
  assert.equal(engineCallsOf(text), 43);
  assert.equal(engineCallsOf('serpcache_engine_calls_total 5\n'), 5);
  assert.equal(engineCallsOf('serpcache_engine_calls_total{domain="goods"} 0\n'), 0);
});

test('a page without the engine call counter does not count as zero calls', () => {
  assert.equal(engineCallsOf('<html>serpcache_engine_calls_total 5</html>'), undefined);
  assert.equal(engineCallsOf(''), undefined);
});
