import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../fakes/clock.ts';
import { adminHarness, testRefusals } from './harness.ts';

const START = { plan: 'canary', domains: ['goods'], reason: 'rehearsal' };

test('a drill is started, followed to its end and its report read', async (context) => {
  const clock = createFakeClock();
  const { post, get, entries } = adminHarness(context, { clock });
  const started = await post('/admin/drills', START);
  assert.deepEqual([started.status, started.json.state.kind], [201, 'running']);
  const { id } = started.json;
  assert.equal(started.headers['location'], `/admin/drills/${id}`);
  assert.match(started.json.by, /^operator from 127\.0\.0\.1$/);
  clock.advance(5000);
  const whole = (await get(`/admin/drills/${id}`)).json;
  assert.equal(whole.samples.length, 10);
  const rest = (await get(`/admin/drills/${id}?samples=8`)).json;
  assert.deepEqual(rest.samples, whole.samples.slice(8));
  assert.deepEqual((await get(`/admin/drills/${id}?samples=99`)).json.samples, []);
  clock.advance(60_000);
  const { drills } = (await get('/admin/drills')).json;
  assert.deepEqual([drills[0].id, drills[0].running, drills[0].verdict.kind], [id, false, 'passed']);
  const { status, headers, text } = await get(`/admin/drills/${id}/report`);
  assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8']);
  assert.match(String(headers['content-security-policy']), /default-src 'none'.*sandbox/);
  assert.match(text, /<h1>/);
  assert.deepEqual(
    entries.map(({ action, domain, reason, result }) => [action, domain, reason, result]),
    [['drill-start', 'goods', 'rehearsal', 'done']],
  );
});

test('a running drill is aborted and then resumed', async (context) => {
  const clock = createFakeClock();
  const { post, entries } = adminHarness(context, { clock });
  const { id } = (await post('/admin/drills', START)).json;
  clock.advance(4000);
  assert.deepEqual((await post(`/admin/drills/${id}/abort`)).json, { id });
  const over = await post(`/admin/drills/${id}/abort`, {});
  assert.deepEqual([over.status, over.json.code], [409, 'drill-over']);
  assert.equal((await post(`/admin/drills/${id}/resume`, {})).json.code, 'reason-required');
  const resumed = await post(`/admin/drills/${id}/resume`, { reason: 'once more' });
  assert.deepEqual([resumed.status, resumed.json.resumes], [201, id]);
  assert.deepEqual(
    entries.map(({ action, target, result }) => [action, target, result]),
    [
      ['drill-start', undefined, 'done'],
      ['drill-abort', id, 'done'],
      ['drill-abort', id, 'drill-over'],
      ['drill-resume', id, 'reason-required'],
      ['drill-resume', id, 'done'],
    ],
  );
});

test('plans are listed and previewed without any effect', async (context) => {
  const { post, get, entries } = adminHarness(context);
  const { plans } = (await get('/admin/plans')).json;
  assert.deepEqual([plans[0].name, plans[0].stages.length], ['canary', 1]);
  const { json } = await post('/admin/drills/preview', { plan: '1-5-25-100', domains: ['goods'] });
  assert.equal(json.domains[0].stages.length, 4);
  assert.equal(json.warnings.length, 1);
  assert.deepEqual((await get('/admin/drills')).json, { drills: [], unreadable: [] });
  assert.deepEqual(entries, []);
});

test('a custom plan is run with defaults for its missing members', async (context) => {
  const { post } = adminHarness(context);
  const plan = { name: 'mine', title: 'Mine', stages: [{ kind: 'fraction', fraction: 0.1, holdMs: 2000 }] };
  const { status, json } = await post('/admin/drills', { ...START, plan });
  assert.deepEqual([status, json.plan.name, json.plan.mode], [201, 'mine', 'drop']);
});

test('a halt stops every drill and refuses new ones until it is lifted', async (context) => {
  const { post, get, entries } = adminHarness(context);
  await post('/admin/drills', START);
  assert.equal((await post('/admin/halt', {})).json.code, 'reason-required');
  assert.deepEqual((await post('/admin/halt', { reason: 'incident' })).json, { halted: true });
  const { halted, domains } = (await get('/admin/halt')).json;
  assert.deepEqual([halted, domains.length, domains[0].reason], [true, 2, 'incident']);
  assert.equal((await get('/admin/drills')).json.drills[0].verdict.kind, 'aborted');
  const refused = await post('/admin/drills', START);
  assert.deepEqual([refused.status, refused.json.code], [409, 'halted']);
  assert.deepEqual((await post('/admin/halt/lift', { reason: 'over' })).json, { halted: false });
  assert.deepEqual(
    entries.slice(1).map(({ action, result }) => [action, result]),
    [
      ['halt', 'reason-required'],
      ['halt', 'done'],
      ['drill-start', 'halted'],
      ['halt-lift', 'done'],
    ],
  );
});

test('a domain has at most one drill at a time', async (context) => {
  const { post, entries } = adminHarness(context);
  await post('/admin/drills', START);
  const second = await post('/admin/drills', START);
  assert.deepEqual([second.status, second.json.code], [409, 'drill-running']);
  assert.equal((await post('/admin/drills', { ...START, domains: ['auto'] })).status, 201);
  assert.equal(entries[1]?.result, 'drill-running');
});

const stage = (fraction: number) => ({ kind: 'fraction', fraction, holdMs: 2000 });
const written = (...stages: object[]) => ({ ...START, plan: { name: 'mine', title: 'Mine', stages } });

testRefusals('/admin/drills', [
  ['no reason', '/admin/drills', { plan: 'canary', domains: ['goods'] }, 400, 'reason-required', '/reason'],
  ['an empty reason', '/admin/drills', { ...START, reason: ' ' }, 400, 'reason-required', '/reason'],
  ['a long reason', '/admin/drills', { ...START, reason: 'x'.repeat(501) }, 400, 'invalid-body', '/reason'],
  ['an unknown plan', '/admin/drills', { ...START, plan: 'nope' }, 404, 'unknown-plan', '/plan'],
  ['an unknown domain', '/admin/drills', { ...START, domains: ['nope'] }, 404, 'unknown-domain', '/domains'],
  [
    'two domains for one',
    '/admin/drills',
    { ...START, domains: ['goods', 'auto'] },
    400,
    'invalid-request',
    '/domains',
  ],
  ['a plan that is a number', '/admin/drills', { ...START, plan: 7 }, 400, 'invalid-plan', '/plan'],
  ['a plan without stages', '/admin/drills', written(), 400, 'invalid-plan', '/plan/stages'],
  ['a fraction out of range', '/admin/drills', written(stage(1.5)), 400, 'invalid-plan', '/plan/stages/0/fraction'],
  [
    'fractions that do not rise',
    '/admin/drills',
    written(stage(0.5), stage(0.2)),
    400,
    'invalid-plan',
    '/plan/stages/1/fraction',
  ],
]);

test('an invalid drill id does not reach the drills', async (context) => {
  const { get, post, operations } = adminHarness(context);
  const asked: string[] = [];
  const { journal } = operations.drills;
  const listening = (id: string) => {
    asked.push(id);
    return journal(id);
  };
  Object.assign(operations.drills, { journal: listening });
  for (const id of ['..%2F..%2Fetc%2Fpasswd', '.hidden', '%00', 'a%20b', 'x'.repeat(150)]) {
    const refused = await get(`/admin/drills/${id}`);
    assert.deepEqual([refused.status, refused.json.code], [404, 'unknown-drill'], id);
    assert.equal((await post(`/admin/drills/${id}/abort`)).json.code, 'unknown-drill');
  }
  assert.deepEqual(asked, []);
  assert.equal((await get('/admin/drills/nope')).json.code, 'unknown-drill');
  assert.deepEqual(asked, ['nope']);
});
