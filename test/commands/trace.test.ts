import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceText } from '../../src/commands/explain.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import type { LiveTrace, RecordedSpan } from '../../src/search/trace-recorder.ts';
import { adminService, callCli } from './harness.ts';

const span = (
  stage: RecordedSpan['stage'],
  depth: number,
  times: readonly [number, number?],
  more: Partial<RecordedSpan> = {},
): RecordedSpan => ({
  ...{ stage, depth, startMs: times[0], facts: {} },
  ...(times[1] === undefined ? {} : { durationMs: times[1] }),
  ...more,
});

const MISS: LiveTrace = {
  domain: 'goods',
  canonical: 'goods@p?q=диван',
  key: 'abcdefghijklmnopqrstuv',
  outcome: 'stale',
  reason: 'expired',
  cacheStatus: 'serpcache-l1; fwd=stale',
  durationMs: 40,
  spans: [
    span('search', 0, [0, 40]),
    span('l2', 1, [1, 2], { facts: { 'serpcache.result': 'missed', 'serpcache.node': '10.0.0.7:6379' } }),
    span('load', 1, [10], { facts: { 'serpcache.key': 'abcdefghijklmnopqrstuv' }, isShared: true }),
    span('engine', 2, [20, 20], { error: 'engine-timeout' }),
  ],
};

test('the waterfall shows when each stage ran, what it said, and which goes on after the answer', () => {
  const lines = traceText(MISS).split('\n');
  assert.match(lines[2] ?? '', /^outcome +stale \(expired\) in 40\sms$/);
  const [search, l2, load, engine] = lines.slice(6);
  assert.match(search ?? '', /^ {2}search .*│█{40}│$/);
  assert.match(l2 ?? '', /^ {4}l2 +1\S*\sms +2\S*\sms +│ █{2} {37}│ +missed, node 10\.0\.0\.7:6379$/);
  assert.match(load ?? '', /goes on +│ {10}█{30}│ +waits for another search's load$/);
  assert.match(engine ?? '', /^ {6}engine .*│ {20}█{20}│ +failed: engine-timeout$/);
});

test('trace searches in the first domain unless another is named, and answers JSON to a script', async (t) => {
  const { url, requests } = await adminService(t);
  const [found = {}] = (await callCli(['trace', 'Диван', 'page=2', '--admin', url])).lines();
  assert.deepEqual([found['domain'], found['outcome']], ['goods', 'engine']);
  assert.match(String(found['canonical']), /q=диван&.*page=2|page=2.*q=диван/);
  assert.equal(requests().at(-1), 'GET /admin/trace');
  const { out } = await callCli(['trace', 'диван', '--domain', 'auto', '--admin', url], { answers: [] });
  assert.match(out, /^search +auto, key /);
});

test('a search without a page shows its stages and ends with status 1; a wrong one is refused', async (t) => {
  const { url } = await adminService(t, {
    search: (_prepared, _client, done) => done(new SearchError('engine-deadline')),
  });
  const failed = await callCli(['trace', 'диван', '--admin', url], { answers: [] });
  assert.equal(failed.code, 1);
  assert.match(failed.out, /outcome +failed/);
  assert.match(failed.err, /no page: /);
  const wrong = await callCli(['trace', 'диван', 'page=0', '--admin', url]);
  assert.equal(wrong.code, 3);
  assert.match(wrong.err, /page/);
  assert.equal((await callCli(['trace', 'диван', 'page', '--admin', url])).code, 64);
});
