import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf } from '../../pluck.ts';
import { numbered, warmHarness } from './harness.ts';

test('popular queries are computed once, the most popular first, and then the warm-up is done', async (t) => {
  const harness = warmHarness(t, numbered(50));
  const { id, state, taken } = harness.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 100, top: 30 });
  assert.deepEqual([state, taken], ['waiting', 0]);
  await harness.pass(1000);
  assert.deepEqual(harness.asked, numbered(30));
  const { seconds, ...over } = harness.look(id);
  assert.deepEqual(over, {
    ...{ id, domain: 'goods', from: 'popular', state: 'done', taken: 30, settled: 30 },
    ...{ cached: 0, computed: 30, invalid: 0, failed: 0 },
  });
  assert.ok(seconds > 0.25 && seconds < 0.6, `${seconds} s`);
  assert.deepEqual(
    harness.events.map(({ kind, warmUp }) => [kind, warmUp.state]),
    [
      ['warm-up-started', 'waiting'],
      ['warm-up-ended', 'done'],
    ],
  );
});

test('the rate of engine calls stays below the requested maximum', async (t) => {
  const harness = warmHarness(t, numbered(1000));
  harness.engineMs = 1;
  harness.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 40 });
  let before = 0;
  for (let second = 0; second < 5; second += 1) {
    await harness.pass(1000);
    const begun = harness.asked.length - before;
    before = harness.asked.length;
    assert.ok(begun >= 36 && begun <= 42, `${begun} in second ${second}`);
  }
});

test('cached queries cost a tenth of a computed one', async (t) => {
  const harness = warmHarness(t, numbered(1000));
  harness.answer = () => 'cached';
  const { id } = harness.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 20 });
  await harness.pass(1000);
  assert.ok(harness.asked.length > 60 && harness.asked.length <= 210, `${harness.asked.length}`);
  assert.equal(harness.look(id).cached, harness.asked.length);
});

test('a warm-up leaves the slots of searches alone, and half of the free ones', async (t) => {
  const harness = warmHarness(t, numbered(1000));
  harness.interactive = 8;
  const { id } = harness.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 10_000 });
  await harness.pass(500);
  assert.deepEqual([harness.asked.length, harness.look(id).state], [0, 'waiting']);
  harness.interactive = 0;
  await harness.pass(500);
  assert.deepEqual([harness.most(), harness.look(id).state], [4, 'running']);
  harness.interactive = 7;
  await harness.pass(20);
  const before = harness.asked.length;
  await harness.pass(300);
  assert.ok(harness.asked.length - before <= 16, 'one at a time, 20 ms each');
});

test('one warm-up per domain at a time', (t) => {
  const { warmUps } = warmHarness(t);
  const { id } = warmUps.start({ domain: 'goods', from: 'queries', maxPerSecond: 10 });
  assert.throws(() => warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 10 }), {
    code: 'warm-up-running',
    message: new RegExp(id),
  });
  warmUps.start({ domain: 'auto', from: 'queries', maxPerSecond: 10 });
  warmUps.stop(id);
  warmUps.start({ domain: 'goods', from: 'queries', maxPerSecond: 10 });
  assert.deepEqual(rowsOf(warmUps.list(), 'domain', 'state'), [
    ['goods', 'waiting'],
    ['auto', 'waiting'],
    ['goods', 'stopped'],
  ]);
});

test('an invalid request is refused with the parameter', (t) => {
  const { warmUps, events } = warmHarness(t);
  const ask = { domain: 'goods', from: 'popular', maxPerSecond: 10 } as const;
  assert.throws(() => warmUps.start({ ...ask, domain: 'jobs' }), { code: 'unknown-domain', message: /goods, auto/ });
  assert.throws(() => warmUps.start({ ...ask, from: 'queries', top: 5 }), { parameter: 'top' });
  assert.throws(() => warmUps.feed('nobody', ['x'], true), { code: 'unknown-warm-up' });
  assert.throws(() => warmUps.stop('nobody'), { code: 'unknown-warm-up' });
  assert.deepEqual([warmUps.list(), events], [[], []]);
});

test('the latest fifty warm-ups are remembered, and always the running ones', (t) => {
  const { warmUps } = warmHarness(t);
  const { id: first } = warmUps.start({ domain: 'auto', from: 'queries', maxPerSecond: 10 });
  for (let place = 0; place < 60; place += 1) {
    warmUps.stop(warmUps.start({ domain: 'goods', from: 'queries', maxPerSecond: 10 }).id);
  }
  const all = warmUps.list();
  assert.deepEqual([all.length, all.at(-1)?.id, new Set(all.map(({ id }) => id)).size], [50, first, 50]);
});

test('when popular queries cannot be read, the warm-up stops and says why', async (t) => {
  const harness = warmHarness(t, new Error('the counters are away'));
  const { id } = harness.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 10 });
  await harness.pass(50);
  assert.equal(harness.look(id).state, 'stopped');
  const [, said] = harness.events;
  assert.ok(said?.kind === 'warm-up-ended' && said.detail?.includes('the counters are away'));
});

test('close stops all warm-ups at once, and no query is begun afterwards', async (t) => {
  const harness = warmHarness(t, numbered(100));
  const { id } = harness.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 100 });
  await harness.pass(100);
  harness.warmUps.close();
  const { settled } = harness.look(id);
  const asked = harness.asked.length;
  await harness.pass(1000);
  assert.deepEqual(
    [harness.look(id).state, harness.look(id).settled, harness.asked.length],
    ['stopped', settled, asked],
  );
});
