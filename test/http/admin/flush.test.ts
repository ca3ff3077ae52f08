import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminHarness, testRefusals } from './harness.ts';

test('a flush raises the floor of its range and reports it', async (context) => {
  const { post, get, entries } = adminHarness(context);
  const { status, json } = await post('/admin/flush', { domain: 'goods', mode: 'drop', fraction: 0.25, from: 100 });
  assert.equal(status, 200);
  assert.deepEqual(json, {
    ...{ domain: 'goods', mode: 'drop', ranges: [{ from: 100, to: 2600 }], revision: 1, generation: 2 },
    affected: {
      ...{ memory: 9000, store: 48_210, exact: true },
      note: '9000 pages in the memory of this process and 48210 in the store: misses from now on.',
      watch: [
        'serpcache_misses_total{domain="goods",reason="flushed"}',
        'serpcache_engine_calls_total{domain="goods"}',
      ],
    },
  });
  const none = { ranges: 0, purges: 0, suppressed: 0 };
  assert.partialDeepStrictEqual(entries, [
    {
      ...{ action: 'flush', domain: 'goods', result: 'done' },
      before: { revision: 0, generation: 1, ...none },
      after: { revision: 1, generation: 2, mode: 'drop', fraction: 0.25, ranges: [{ from: 100, to: 2600 }] },
    },
  ]);
  const state = await get('/admin/flush?domain=goods');
  assert.equal(state.json.document.ranges[0].floor, 2);
  assert.equal(state.json.document.heardMsAgo, 0);
});

test('without a fraction everything is flushed', async (context) => {
  const { json } = await adminHarness(context).post('/admin/flush', { domain: 'goods', mode: 'refresh' });
  assert.deepEqual(json.ranges, [{ from: 0, to: 10_000 }]);
});

test('an erasure needs a reason and shows its progress', async (context) => {
  const { post, get } = adminHarness(context);
  for (const reason of [undefined, '   ']) {
    const refused = await post('/admin/flush', { domain: 'goods', mode: 'erase', ...(reason ? { reason } : {}) });
    assert.deepEqual([refused.status, refused.json.code], [400, 'reason-required']);
  }
  const done = await post('/admin/flush', { domain: 'goods', mode: 'erase', reason: 'a new schema' });
  assert.equal(done.json.erasure.state, 'done');
  assert.equal((await get('/admin/flush?domain=goods')).json.erasure.nodes[0].removed, 48_210);
});

test('a preview changes nothing and leaves no line', async (context) => {
  const { post, get, entries } = adminHarness(context);
  const { status, json } = await post('/admin/flush/preview', { domain: 'goods', mode: 'drop', fraction: 0.5 });
  assert.deepEqual([status, json.fraction, json.nodes.length], [200, 0.5, 2]);
  assert.equal((await get('/admin/flush?domain=goods')).json.document.revision, 0);
  assert.deepEqual(entries, []);
});

test('a purge answers with the canonical text of the query', async (context) => {
  const { post, get, entries } = adminHarness(context);
  const { json } = await post('/admin/purge', { domain: 'goods', q: '  КРОССОВКИ   nike', reason: 'banned' });
  assert.deepEqual(json, {
    ...{ domain: 'goods', text: 'кроссовки nike', revision: 1, generation: 2 },
    affected: {
      ...{ memory: 2, firstPageInStore: true, known: true },
      note: '2 pages in the memory of this process; the store holds its first page, further pages there are not counted.',
      watch: [
        'serpcache_misses_total{domain="goods",reason="flushed"}',
        `GET /admin/explain?domain=goods&q=${encodeURIComponent('кроссовки')}+nike`,
      ],
    },
  });
  assert.equal((await get('/admin/flush?domain=goods')).json.document.purges[0].text, 'кроссовки nike');
  assert.equal(entries[0]?.reason, 'banned');
  const refused = await post('/admin/purge', { domain: 'goods', q: '   ' });
  assert.deepEqual([refused.status, refused.json.code, refused.json.parameter], [400, 'invalid-query', '/q']);
});

test('a suppressed document is listed until it is lifted', async (context) => {
  const { post, get } = adminHarness(context);
  const { json } = await post('/admin/suppress', { domain: 'goods', ids: ['a', 'b'] });
  assert.deepEqual([json.suppressed, json.revision], [2, 1]);
  const listed = (await get('/admin/suppressed?domain=goods')).json;
  assert.deepEqual([listed.max, listed.suppressed.map(({ id }: { id: string }) => id)], [1024, ['a', 'b']]);
  assert.equal((await post('/admin/unsuppress', { domain: 'goods', ids: ['a'] })).json.suppressed, 1);
});

test('a full list refuses further documents, and nothing is changed', async (context) => {
  const { post, get, entries } = adminHarness(context);
  const ids = Array.from({ length: 1024 }, (_, i) => `${'x'.repeat(120)}${i}`);
  assert.equal((await post('/admin/suppress', { domain: 'goods', ids })).status, 200);
  const refused = await post('/admin/suppress', { domain: 'goods', ids: ['one more'] });
  assert.deepEqual([refused.status, refused.json.code, refused.json.parameter], [409, 'control-full', '/ids']);
  assert.equal((await get('/admin/suppressed?domain=goods')).json.suppressed.length, 1024);
  assert.equal(entries.at(-1)?.result, 'control-full');
  for (let i = 0; i < 32; i += 1) await post('/admin/flush', { domain: 'auto', mode: 'drop', fraction: 0.01 });
  const full = await post('/admin/flush', { domain: 'auto', mode: 'drop', fraction: 0.01 });
  assert.deepEqual([full.status, full.json.code], [409, 'control-full']);
});

const flush = { domain: 'goods', mode: 'drop' };

testRefusals('/admin/flush?domain=goods', [
  ['an unknown domain', '/admin/flush', { ...flush, domain: 'nope' }, 404, 'unknown-domain', '/domain'],
  ['no domain', '/admin/flush', { mode: 'drop' }, 400, 'invalid-body', '/domain'],
  ['an unknown mode', '/admin/flush', { ...flush, mode: 'smash' }, 400, 'invalid-body', '/mode'],
  ['a fraction of zero', '/admin/flush', { ...flush, fraction: 0 }, 400, 'invalid-fraction', '/fraction'],
  ['a fraction above one', '/admin/flush', { ...flush, fraction: 1.01 }, 400, 'invalid-fraction', '/fraction'],
  ['a fraction in words', '/admin/flush', { ...flush, fraction: '1' }, 400, 'invalid-fraction', '/fraction'],
  ['a bucket too far', '/admin/flush', { ...flush, from: 10_000 }, 400, 'invalid-body', '/from'],
  ['an unknown field', '/admin/flush', { ...flush, fracton: 0.5 }, 400, 'invalid-body', '/fracton'],
  [
    'a long index version',
    '/admin/flush',
    { ...flush, indexVersion: 'x'.repeat(129) },
    400,
    'invalid-body',
    '/indexVersion',
  ],
  ['a list', '/admin/flush', [], 400, 'invalid-body', undefined],
  [
    'a store that is shared',
    '/admin/flush',
    { ...flush, mode: 'erase', by: 'flushall', reason: 'x' },
    409,
    'not-dedicated',
    '/by',
  ],
  ['no query', '/admin/purge', { domain: 'goods' }, 400, 'invalid-body', '/q'],
  ['no ids', '/admin/suppress', { domain: 'goods', ids: [] }, 400, 'invalid-body', '/ids'],
  ['an id that is not a string', '/admin/suppress', { domain: 'goods', ids: ['a', 2] }, 400, 'invalid-body', '/ids/1'],
  [
    'too many ids',
    '/admin/suppress',
    { domain: 'goods', ids: Array.from({ length: 1025 }, String) },
    400,
    'invalid-body',
    '/ids',
  ],
]);

test('a refusal names the allowed values', async (context) => {
  const { post } = adminHarness(context);
  const detail = async (body: object): Promise<string> => (await post('/admin/flush', body)).json.detail;
  assert.match(await detail({ ...flush, fraction: 2 }), /above 0, at most 1/);
  assert.match(await detail({ ...flush, mode: 'smash' }), /"smash"; allowed: refresh, drop or erase/);
  assert.match(
    await detail({ ...flush, bogus: 1 }),
    /^\/bogus: \*\*\*; allowed: no such field; known here: domain, mode, fraction, from/,
  );
  assert.match(await detail({ ...flush, fracton: 1 }), /^\/fracton: .* did you mean fraction\?/);
  assert.match(await detail({ ...flush, domain: 'nope' }), /goods, auto/);
  assert.match(await detail([]), /^The body: a list of 0; allowed: a mapping of domain, mode/);
});
