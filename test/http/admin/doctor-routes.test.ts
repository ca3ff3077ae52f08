import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFakeClock } from '../../fakes/clock.ts';
import { createFakeOperations } from '../../fakes/operations.ts';
import { createFakeDoctor, FOREIGN_KEY } from '../../fakes/operations-doctor.ts';
import { adminHarness, TOKEN } from './harness.ts';

function doctorHarness(context: TestContext, token = TOKEN) {
  const clock = createFakeClock();
  const doctor = createFakeDoctor({ clock });
  return {
    ...adminHarness(context, { clock, token, operations: { ...createFakeOperations({ clock }), doctor } }),
    doctor,
  };
}

test('the standing findings are told with their counts and their history, and nothing is looked at', async (context) => {
  const { get, doctor } = doctorHarness(context);
  const { status, json } = await get('/admin/doctor');
  assert.equal(status, 200);
  assert.deepEqual(json.counts, { critical: 0, warning: 2, info: 0 });
  assert.deepEqual(json.standing.counts, json.counts);
  assert.deepEqual([json.history.length, json.history[0].change], [1, 'raised']);
  assert.deepEqual(doctor.asked, []);
});

test('before the first window has ended there are no standing findings and no counts', async (context) => {
  const { get, doctor } = doctorHarness(context);
  Object.assign(doctor, { standing: () => undefined, history: () => [] });
  assert.deepEqual((await get('/admin/doctor')).json, { history: [] });
});

test('an examination tells its report; its snapshots only when they are asked for, without foreign names of keys', async (context) => {
  const { get } = adminHarness(context);
  const plain = (await get('/admin/doctor/examination')).json;
  assert.deepEqual(Object.keys(plain), ['report']);
  const [finding] = plain.report.findings;
  assert.deepEqual([finding.check, finding.severity], ['store-big-keys', 'warning']);
  assert.ok(finding.evidence.includes(FOREIGN_KEY), 'the operator needs the name');
  assert.equal(finding.figures.largestBytes, 5 * 2 ** 20);
  assert.deepEqual(plain.report.acknowledged[0].acknowledged.reason, 'a warm start is wanted here');
  const whole = (await get('/admin/doctor/examination?facts=true')).json;
  assert.equal(whole.snapshots.length, 4);
  assert.ok(!JSON.stringify(whole.snapshots).includes(FOREIGN_KEY));
  assert.equal(whole.snapshots[0].stores[0].nodes.known[0].address, '10.0.0.7:6379');
});

test('the window is the one that is asked for, within its bounds; without one the doctor chooses', async (context) => {
  const { get, doctor } = doctorHarness(context);
  assert.equal((await get('/admin/doctor/examination?window=250')).json.report.windowSeconds, 0.25);
  await get('/admin/doctor/examination');
  assert.deepEqual(doctor.asked, [250, undefined]);
  for (const query of ['window=199', 'window=15001', 'window=1s', 'facts=yes', 'windows=1000', 'window=']) {
    const { status, json } = await get(`/admin/doctor/examination?${query}`);
    assert.deepEqual([status, json.code, json.parameter], [400, 'invalid-request', query.split('=')[0]], query);
  }
  assert.equal(doctor.asked.length, 2, 'a refused request examines nothing');
});

test('a HEAD of an examination is refused and examines nothing', async (context) => {
  const { server, doctor } = doctorHarness(context, '');
  const { statusCode } = await server.app.inject({ method: 'HEAD', url: '/admin/doctor/examination' });
  assert.deepEqual([statusCode, doctor.asked], [405, []]);
});

test('a change of a diagnostic setting is written to the audit with its reason and the nodes that refused', async (context) => {
  const { post, entries } = adminHarness(context);
  const { status, json } = await post('/admin/doctor/enable', { name: 'slowlog', reason: 'slow at noon' });
  assert.equal(status, 200);
  assert.deepEqual(
    json.nodes.map(({ node, refused }: Record<string, unknown>) => [node, refused]),
    [
      ['10.0.0.7:6379', undefined],
      ['10.0.0.8:6379', 'NOPERM this user has no permissions'],
    ],
  );
  assert.deepEqual(
    entries.map(({ action, reason, result, after }) => [action, reason, result, after]),
    [
      [
        ...['doctor-enable', 'slow at noon', 'done'],
        { enabled: 'slowlog', nodes: 2, refused: 1, refusedBy: ['10.0.0.8:6379'] },
      ],
    ],
  );
});

test('only the listed changes are accepted, and only with the token', async (context) => {
  const { post, server, doctor } = doctorHarness(context);
  for (const body of [{ name: 'debug' }, {}, { name: 'slowlog', value: 0 }, { name: 'CONFIG SET dir /' }]) {
    const { status, json } = await post('/admin/doctor/enable', body);
    assert.deepEqual([status, json.code], [400, 'invalid-body'], JSON.stringify(body));
  }
  const payload = { name: 'slowlog' };
  const bare = await server.app.inject({ method: 'POST', url: '/admin/doctor/enable', payload });
  assert.deepEqual([bare.statusCode, doctor.enabled], [401, []]);
});
