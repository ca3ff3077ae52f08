import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../fakes/clock.ts';
import { plain } from '../../plain.ts';
import { adminHarness, testRefusals } from './harness.ts';

const START = { domain: 'auto', candidate: 'valkey', fraction: 0.25 };

test('a shadow is started, changed and stopped, and its report is read', async (context) => {
  const clock = createFakeClock();
  const { post, get, entries } = adminHarness(context, { clock });
  const started = await post('/admin/shadow', { ...START, reads: 2, hours: 0.5, reason: 'a trial' });
  assert.deepEqual([started.status, started.json.verdict.kind], [201, 'undecided']);
  assert.equal(started.headers['location'], '/admin/shadow/status?domain=auto');
  const { shadow } = started.json;
  assert.deepEqual([shadow.candidate.name, shadow.fraction, shadow.reads], ['valkey', 0.25, 2]);
  assert.equal(shadow.untilMs - shadow.atMs, 30 * 60_000);
  clock.advance(60_000);
  const changed = await post('/admin/shadow/change', { domain: 'auto', fraction: 0.5 });
  assert.deepEqual([changed.status, changed.json.shadow.fraction, changed.json.shadow.reads], [200, 0.5, 2]);
  const stopped = await post('/admin/shadow/stop', { domain: 'auto' });
  assert.deepEqual(stopped.json, { domain: 'auto', ended: 'shadow', report: shadow.id });
  const { reports } = (await get('/admin/shadow/reports')).json;
  assert.equal(reports[0].id, shadow.id);
  assert.equal(reports[0].samples, undefined);
  const report = (await get(`/admin/shadow/reports/${shadow.id}`)).json;
  assert.deepEqual([report.samples.length, report.changes.length], [30, 2]);
  const { candidate } = shadow;
  const kept = { shadow: shadow.id, candidate, reads: 2, untilMs: shadow.untilMs };
  assert.deepEqual(
    entries.map(({ action, domain, reason, result, before, after }) => [action, domain, reason, result, before, after]),
    [
      ['shadow-start', 'auto', 'a trial', 'done', undefined, { ...kept, fraction: 0.25 }],
      ['shadow-change', 'auto', undefined, 'done', { ...kept, fraction: 0.25 }, { ...kept, fraction: 0.5 }],
      ['shadow-stop', 'auto', undefined, 'done', { ...kept, fraction: 0.5 }, { ended: 'shadow', report: shadow.id }],
    ],
  );
});

test('without hours a shadow ends after a day, and each read is copied once', async (context) => {
  const { shadow } = (await adminHarness(context).post('/admin/shadow', START)).json;
  assert.deepEqual([shadow.untilMs - shadow.atMs, shadow.reads], [24 * 3_600_000, 1]);
});

test('every domain is listed with its stores by name and fingerprint', async (context) => {
  const { domains } = (await adminHarness(context).get('/admin/shadow')).json;
  assert.deepEqual(
    domains.map(({ domain, active, shadow }: Record<string, Record<string, unknown>>) => [
      domain,
      active?.['name'],
      shadow?.['fraction'],
    ]),
    [
      ['goods', 'main', 0.1],
      ['auto', 'main', undefined],
    ],
  );
  assert.deepEqual(Object.keys(domains[0].candidates[0]), ['name', 'fingerprint']);
});

test('the verdict covers ten minutes, or the time that is asked for', async (context) => {
  const { get } = adminHarness(context, { clock: createFakeClock() });
  for (const [more, seconds, verdict] of [
    ['', 600, 'cut-over'],
    ['&for=60', 60, 'cut-over'],
    ['&for=86400', 720, 'undecided'],
  ] as const) {
    const { json } = await get(`/admin/shadow/status?domain=goods${more}`);
    assert.deepEqual([json.figures.seconds, json.verdict.kind], [seconds, verdict], more);
  }
  const idle = (await get('/admin/shadow/status?domain=auto')).json;
  assert.deepEqual([idle.shadow, idle.figures, idle.verdict], [undefined, undefined, undefined]);
});

test('samples that the client has already are left out, and their number is told', async (context) => {
  const clock = createFakeClock();
  const { get } = adminHarness(context, { clock });
  const whole = (await get('/admin/shadow/samples?domain=goods')).json;
  assert.deepEqual([whole.total, whole.samples.length], [360, 360]);
  clock.advance(4000);
  const rest = (await get('/admin/shadow/samples?domain=goods&from=360')).json;
  assert.deepEqual([rest.total, rest.samples.length, rest.shadow], [362, 2, whole.shadow]);
  const none = (await get('/admin/shadow/samples?domain=auto')).json;
  assert.deepEqual(none, { domain: 'auto', total: 0, samples: [] });
});

test('a cut-over moves the domain, and back returns it; the audit has both stores and the reason', async (context) => {
  const { post, get, entries } = adminHarness(context, { clock: createFakeClock() });
  const moved = await post('/admin/shadow/cut-over', { domain: 'goods', reason: 'Valkey is ready' });
  assert.deepEqual([moved.status, moved.json.from.name, moved.json.to.name], [200, 'main', 'valkey']);
  const status = (await get('/admin/shadow/status?domain=goods')).json;
  assert.deepEqual([status.active.name, status.placement.phase], ['valkey', 'committed']);
  assert.equal(status.configuration, moved.json.configuration);
  const returned = await post('/admin/shadow/back', { domain: 'goods', reason: 'not yet' });
  assert.deepEqual([returned.status, returned.json.to.name], [200, 'main']);
  const { from, to, report, preparedMs } = moved.json;
  assert.deepEqual(
    plain(entries).map(({ action, domain, reason, result, before, after }) => [
      action,
      domain,
      reason,
      result,
      before,
      after,
    ]),
    [
      [
        ...['cut-over', 'goods', 'Valkey is ready', 'done', { active: from }],
        { active: to, preparedMs, report, force: false },
      ],
      ['cut-over-back', 'goods', 'not yet', 'done', { active: to }, { active: from, preparedMs }],
    ],
  );
});

test('a cut-over without a favourable verdict needs force', async (context) => {
  const { post, get, entries } = adminHarness(context);
  await post('/admin/shadow', { ...START, candidate: 'keydb' });
  const ask = { domain: 'auto', reason: 'now' };
  const refused = await post('/admin/shadow/cut-over', ask);
  assert.deepEqual([refused.status, refused.json.code], [409, 'no-verdict']);
  assert.equal((await get('/admin/shadow/status?domain=auto')).json.active.name, 'main');
  assert.equal((await post('/admin/shadow/cut-over', { ...ask, force: true })).status, 200);
  assert.deepEqual(
    entries.slice(1).map(({ action, result }) => [action, result]),
    [
      ['cut-over', 'no-verdict'],
      ['cut-over', 'done'],
    ],
  );
  assert.partialDeepStrictEqual(entries[2]?.after, { force: true });
});

test('the figures, the addresses and the credentials of a store are not in the audit', async (context) => {
  const { post, operations, entries } = adminHarness(context);
  const { shadows } = operations;
  const { cutOver } = shadows;
  const talkative: typeof cutOver = async (request, caller) => {
    const moved = await cutOver(request, caller);
    return { ...moved, to: Object.assign({}, moved.to, { url: 'redis://user:secret@10.0.0.1' }) };
  };
  Object.assign(shadows, { cutOver: talkative });
  await post('/admin/shadow/cut-over', { domain: 'goods', force: true, reason: 'now' });
  assert.equal(entries[0]?.result, 'done');
  assert.doesNotMatch(JSON.stringify(entries), /secret|10\.0\.0\.1/);
});

testRefusals('/admin/shadow', [
  ['no domain', '/admin/shadow', { candidate: 'valkey', fraction: 0.1 }, 400, 'invalid-body', '/domain'],
  ['an unknown domain', '/admin/shadow', { ...START, domain: 'nope' }, 404, 'unknown-domain', '/domain'],
  ['no candidate', '/admin/shadow', { domain: 'auto', fraction: 0.1 }, 400, 'invalid-body', '/candidate'],
  ['an unknown candidate', '/admin/shadow', { ...START, candidate: 'nope' }, 404, 'unknown-candidate', '/candidate'],
  ['no fraction', '/admin/shadow', { domain: 'auto', candidate: 'valkey' }, 400, 'invalid-fraction', '/fraction'],
  ['a fraction of zero', '/admin/shadow', { ...START, fraction: 0 }, 400, 'invalid-fraction', '/fraction'],
  ['a fraction above one', '/admin/shadow', { ...START, fraction: 1.1 }, 400, 'invalid-fraction', '/fraction'],
  ['six copies of a read', '/admin/shadow', { ...START, reads: 6 }, 400, 'invalid-body', '/reads'],
  ['half a copy', '/admin/shadow', { ...START, reads: 1.5 }, 400, 'invalid-body', '/reads'],
  ['a life of seconds', '/admin/shadow', { ...START, hours: 0.01 }, 400, 'invalid-body', '/hours'],
  ['a life of months', '/admin/shadow', { ...START, hours: 721 }, 400, 'invalid-body', '/hours'],
  ['a member too many', '/admin/shadow', { ...START, password: 'x' }, 400, 'invalid-body', '/password'],
  ['a running shadow', '/admin/shadow', { ...START, domain: 'goods' }, 409, 'shadow-running', undefined],
  ['nothing to change', '/admin/shadow/change', { domain: 'goods' }, 400, 'invalid-body', '/fraction'],
  ['no shadow', '/admin/shadow/change', { domain: 'auto', reads: 2 }, 409, 'no-shadow', undefined],
  ['null', '/admin/shadow/change', { domain: 'goods', reads: null }, 400, 'invalid-body', '/reads'],
  ['nothing to end', '/admin/shadow/stop', { domain: 'auto' }, 409, 'no-shadow', undefined],
  ['no reason', '/admin/shadow/cut-over', { domain: 'goods' }, 400, 'reason-required', '/reason'],
  [
    'force and no reason',
    '/admin/shadow/cut-over',
    { domain: 'goods', force: true },
    400,
    'reason-required',
    '/reason',
  ],
  ['an empty reason', '/admin/shadow/cut-over', { domain: 'goods', reason: ' ' }, 400, 'reason-required', '/reason'],
  [
    'force as a word',
    '/admin/shadow/cut-over',
    { domain: 'goods', reason: 'x', force: 'yes' },
    400,
    'invalid-body',
    '/force',
  ],
  ['a short time', '/admin/shadow/cut-over', { domain: 'goods', reason: 'x', for: 9 }, 400, 'invalid-body', '/for'],
  ['no shadow', '/admin/shadow/cut-over', { domain: 'auto', reason: 'x' }, 409, 'no-shadow', undefined],
  ['no reason', '/admin/shadow/back', { domain: 'goods' }, 400, 'reason-required', '/reason'],
  ['no cut-over before', '/admin/shadow/back', { domain: 'goods', reason: 'x' }, 409, 'no-cut-over', undefined],
]);

test('an invalid query is refused with the name of its parameter', async (context) => {
  const { get } = adminHarness(context);
  for (const [query, code, parameter] of [
    ['status', 'invalid-request', 'domain'],
    ['status?domain=nope', 'unknown-domain', 'domain'],
    ['status?domain=goods&for=9', 'invalid-request', 'for'],
    ['status?domain=goods&for=86401', 'invalid-request', 'for'],
    ['status?domain=goods&for=10m', 'invalid-request', 'for'],
    ['status?domain=goods&since=5', 'invalid-request', 'since'],
    ['samples?domain=nope', 'unknown-domain', 'domain'],
    ['samples?domain=goods&from=-1', 'invalid-request', 'from'],
  ] as const) {
    const { json } = await get(`/admin/shadow/${query}`);
    assert.deepEqual([json.code, json.parameter], [code, parameter], query);
  }
});

test('the page of a report is sandboxed, and an invalid id does not reach the reports', async (context) => {
  const { get, operations } = adminHarness(context);
  const [{ id }] = (await get('/admin/shadow/reports')).json.reports;
  const { status, headers, text } = await get(`/admin/shadow/reports/${id}/report`);
  assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8']);
  assert.match(String(headers['content-security-policy']), /default-src 'none'.*sandbox/);
  assert.match(text, /<h1>/);
  const asked: string[] = [];
  const { report } = operations.shadows;
  const listening = (asking: string) => {
    asked.push(asking);
    return report(asking);
  };
  Object.assign(operations.shadows, { report: listening });
  for (const bad of ['..%2F..%2Fetc%2Fpasswd', '.hidden', '%00', 'a%20b', 'x'.repeat(150)]) {
    const refused = await get(`/admin/shadow/reports/${bad}`);
    assert.deepEqual([refused.status, refused.json.code], [404, 'unknown-report'], bad);
  }
  assert.deepEqual(asked, []);
  assert.equal((await get('/admin/shadow/reports/nope')).json.code, 'unknown-report');
  assert.equal((await get('/admin/shadow/reports/nope/report')).json.code, 'unknown-report');
  assert.deepEqual(asked, ['nope']);
});
