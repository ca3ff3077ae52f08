import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Explanation } from '../../src/search/explain.ts';
import type { SearchParameters } from '../../src/search/query.ts';
import { adminService, callCli } from './harness.ts';

test('purge takes its second argument as one query, and shows the flushed text', async (t) => {
  const { url, posted } = await adminService(t);
  const person = await callCli(['purge', 'goods', 'Красные  Кроссовки', '--admin', url], { answers: [] });
  assert.match(
    person.out,
    /^goods: every page of "красные кроссовки" is flushed, revision 1\n {2}2 pages in the memory of this process;.*\n {2}watch: .*reason="flushed".*\n {2}watch: GET \/admin\/explain\?domain=goods&q=/,
  );
  const script = await callCli(['purge', 'goods', '--admin', url, '--reason', 'r', '--', '-минус']);
  assert.partialDeepStrictEqual(script.lines(), [{ domain: 'goods', text: '-минус', revision: 2, generation: 3 }]);
  assert.deepEqual(posted('/admin/purge')[1], { domain: 'goods', q: '-минус', reason: 'r' });
});

test('suppress hides documents, lists them, and shows them again', async (t) => {
  const { url, posted } = await adminService(t);
  const at = ['--admin', url];
  const hidden = await callCli(['suppress', 'goods', 'ad-1', 'ad-2', '--reason', 'banned', ...at], { answers: [] });
  assert.equal(hidden.out, 'goods: 2 documents hidden; 2 suppressed in all, revision 1\n');
  assert.deepEqual(posted('/admin/suppress'), [{ domain: 'goods', ids: ['ad-1', 'ad-2'], reason: 'banned' }]);
  const list = await callCli(['suppress', 'goods', '--list', ...at], { answers: [] });
  assert.match(
    list.out,
    /^id +since\nad-1 {2}2026-11-21T06:\d\d:\d\d\.\d{3}Z\nad-2 .*\n2 of at most 1024 suppressed\n$/,
  );
  const lifted = await callCli(['suppress', 'goods', 'ad-1', '--lift', ...at], { answers: [] });
  assert.equal(lifted.out, 'goods: 1 document may be seen again; 1 suppressed in all, revision 2\n');
});

test('popular lists the queries of one domain or of all', async (t) => {
  const { url } = await adminService(t);
  const one = await callCli(['popular', 'goods', '--limit', '2', '--admin', url], { answers: [] });
  assert.equal(one.out, 'goods (this process alone)\n1,200  q=кроссовки\n  600  q=iphone+13\n');
  const [all] = (await callCli(['popular', '--limit', '1', '--admin', url])).lines();
  const queries = [{ search: 'q=кроссовки', count: 1200 }];
  assert.deepEqual(all, {
    domains: ['goods', 'auto'].map((domain) => ({ domain, source: 'process', queries })),
  });
});

const EXPLAINED: Explanation = {
  domain: 'goods',
  rules: [{ rule: 'case', before: 'Диван', after: 'диван' }],
  ignored: ['utm_source'],
  canonical: 'goods@profile?q=диван',
  answerProfile: 'profile',
  key: 'abcdefghijklmnopqrstuv',
  storeName: 'sc1:goods:{abcdefghijklmnopqrstuv}',
  bucket: 4711,
  node: '127.0.0.1:6379',
  tiers: [
    { tier: 'l1', state: 'stale', change: { kind: 'changed', secondsAgo: 12, document: '123' } },
    {
      tier: 'l2',
      state: 'stale',
      bytes: 1800,
      coding: 'gzip',
      ageSeconds: 400,
      freshForSeconds: -100,
      generation: 3,
      change: { kind: 'entered', secondsAgo: 60 },
    },
  ],
  lastMiss: { reason: 'flushed', secondsAgo: 12 },
};

test('explain sends its parameters as a search would, and context headers as headers', async (t) => {
  const asked: SearchParameters[] = [];
  const explain = async (parameters: SearchParameters) => {
    asked.push(parameters);
    return EXPLAINED;
  };
  const { url } = await adminService(t, { explain });
  const words = ['explain', 'goods', 'Диван', 'page=2', 'filter=price:1..=', '--header', 'x-variant=b', '--admin', url];
  assert.deepEqual((await callCli(words)).lines(), [EXPLAINED]);
  assert.deepEqual(asked[0]?.pairs, [
    ['domain', 'goods'],
    ['q', 'Диван'],
    ['page', '2'],
    ['filter', 'price:1..='],
  ]);
  assert.equal(asked[0]?.header?.('x-variant'), 'b');
  const { out } = await callCli(words, { answers: [] });
  assert.match(out, /^canonical {3}goods@profile\?q=диван\n/);
  assert.match(out, /rule {8}case: "Диван" → "диван"\n/);
  assert.match(
    out,
    /ignored {5}utm_source\nlast miss {3}flushed, 12 s ago\n {2}l1 {2}stale {2}changed 12 s ago: document 123\n {2}l2 {2}stale /,
  );
  assert.match(
    out,
    /entered 1 min 00 s ago: a document that is not on the page, computed 6 min 40 s ago, stale since 1 min 40 s, 1\.8 KiB gzip, generation 3\n$/,
  );
});

test('halt names the drills that it ends and asks; its status is shown, and it is lifted', async (t) => {
  const { url, posted, operations } = await adminService(t);
  const at = ['--admin', url];
  const started = { plan: 'full-loss', domains: ['goods'], by: 'test', reason: 'r' };
  const { id } = await operations.drills.start(started);
  const no = await callCli(['halt', '--reason', 'incident', ...at], { answers: ['n'] });
  assert.deepEqual([no.code, posted('/admin/halt')], [3, []]);
  assert.match(no.err, new RegExp(`this ends ${id}`));
  assert.equal((await callCli(['halt', '--reason', 'incident', ...at])).code, 64, 'a script needs --yes');
  const yes = await callCli(['halt', '--reason', 'incident', ...at], { answers: ['yes'] });
  assert.match(yes.out, /^halted: every drill is ended and its cache restored/);
  assert.deepEqual(posted('/admin/halt'), [{ reason: 'incident' }]);
  const status = await callCli(['halt', '--status', ...at], { answers: [] });
  assert.match(
    status.out,
    /^halted\ndomain +since +by +reason\ngoods .* ana@desk from 127\.0\.0\.1 {2}incident\nauto /,
  );
  const refused = await callCli(['drill', 'run', 'canary', '--domain', 'goods', '--reason', 'r', '--yes', ...at]);
  assert.equal(refused.code, 3);
  assert.match(refused.err, /Drills are halted/);
  assert.deepEqual((await callCli(['halt', '--lift', '--reason', 'over', ...at])).lines(), [{ halted: false }]);
  assert.equal((await callCli(['halt', '--status', ...at], { answers: [] })).out, 'not halted\n');
});

test('text of users cannot move the cursor or colour the terminal', async (t) => {
  const { url, operations } = await adminService(t);
  await operations.domain('goods').flush.suppress(['\u001b[2Jgone\u202e']);
  const { out } = await callCli(['suppress', 'goods', '--list', '--admin', url], { answers: [] });
  assert.match(out, /^·\[2Jgone· /m);
});
