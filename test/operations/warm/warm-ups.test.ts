import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numbered, warmHarness } from './harness.ts';

test('what is popular is computed once, most asked first, and then it is done', async (t) => {
  const scene = warmHarness(t, numbered(50));
  const { id, state, taken } = scene.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 100, top: 30 });
  assert.deepEqual([state, taken], ['waiting', 0]);
  await scene.pass(1000);
  assert.deepEqual(scene.asked, numbered(30));
  const { seconds, ...over } = scene.look(id);
  assert.deepEqual(over, {
    ...{ id, domain: 'goods', from: 'popular', state: 'done', taken: 30, settled: 30 },
    ...{ cached: 0, computed: 30, invalid: 0, failed: 0 },
  });
  assert.ok(seconds > 0.25 && seconds < 0.6, `${seconds} s`);
  assert.deepEqual(
    scene.events.map(({ kind, warmUp }) => [kind, warmUp.state]),
    [
      ['warm-up-started', 'waiting'],
      ['warm-up-ended', 'done'],
    ],
  );
});

test('no more engine calls a second than it was told', async (t) => {
  const scene = warmHarness(t, numbered(1000));
  scene.engineMs = 1;
  scene.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 40 });
  let before = 0;
  for (let second = 0; second < 5; second += 1) {
    await scene.pass(1000);
    const begun = scene.asked.length - before;
    before = scene.asked.length;
    assert.ok(begun >= 36 && begun <= 42, `${begun} in second ${second}`);
  }
});

test('what is in the cache already hardly holds it up, and is no free ride', async (t) => {
  const scene = warmHarness(t, numbered(1000));
  scene.answer = () => 'cached';
  const { id } = scene.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 20 });
  await scene.pass(1000);
  assert.ok(scene.asked.length > 60 && scene.asked.length <= 210, `${scene.asked.length}`);
  assert.equal(scene.look(id).cached, scene.asked.length);
});

test('people’s places are left alone, and half of what is idle', async (t) => {
  const scene = warmHarness(t, numbered(1000));
  scene.people = 8;
  const { id } = scene.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 10_000 });
  await scene.pass(500);
  assert.deepEqual([scene.asked.length, scene.look(id).state], [0, 'waiting']);
  scene.people = 0;
  await scene.pass(500);
  assert.deepEqual([scene.most(), scene.look(id).state], [4, 'running']);
  scene.people = 7;
  await scene.pass(20);
  const before = scene.asked.length;
  await scene.pass(300);
  assert.ok(scene.asked.length - before <= 16, 'one at a time, 20 ms each');
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
  assert.deepEqual(
    warmUps.list().map(({ domain, state }) => [domain, state]),
    [
      ['goods', 'waiting'],
      ['auto', 'waiting'],
      ['goods', 'stopped'],
    ],
  );
});

test('what cannot be asked is refused by its name', (t) => {
  const { warmUps, events } = warmHarness(t);
  const ask = { domain: 'goods', from: 'popular', maxPerSecond: 10 } as const;
  assert.throws(() => warmUps.start({ ...ask, domain: 'jobs' }), { code: 'unknown-domain', message: /goods, auto/ });
  for (const maxPerSecond of [0, 0.5, 10_001, Number.NaN]) {
    assert.throws(() => warmUps.start({ ...ask, maxPerSecond }), { parameter: 'maxPerSecond' });
  }
  for (const top of [0, 1.5, 10_001]) assert.throws(() => warmUps.start({ ...ask, top }), { parameter: 'top' });
  assert.throws(() => warmUps.start({ ...ask, from: 'queries', top: 5 }), { parameter: 'top' });
  assert.throws(() => warmUps.feed('nobody', ['x'], true), { code: 'unknown-warm-up' });
  assert.throws(() => warmUps.stop('nobody'), { code: 'unknown-warm-up' });
  assert.deepEqual([warmUps.list(), events], [[], []]);
});

test('the latest fifty are remembered, and the running ones whatever comes', (t) => {
  const { warmUps } = warmHarness(t);
  const { id: first } = warmUps.start({ domain: 'auto', from: 'queries', maxPerSecond: 10 });
  for (let place = 0; place < 60; place += 1) {
    warmUps.stop(warmUps.start({ domain: 'goods', from: 'queries', maxPerSecond: 10 }).id);
  }
  const all = warmUps.list();
  assert.deepEqual([all.length, all.at(-1)?.id, new Set(all.map(({ id }) => id)).size], [50, first, 50]);
});

test('when nobody can say what is popular, it stops and says why', async (t) => {
  const scene = warmHarness(t, new Error('the counters are away'));
  const { id } = scene.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 10 });
  await scene.pass(50);
  assert.equal(scene.look(id).state, 'stopped');
  const [, said] = scene.events;
  assert.ok(said?.kind === 'warm-up-ended' && said.detail?.includes('the counters are away'));
});

test('closing stops all of them at once, and nothing is asked any more', async (t) => {
  const scene = warmHarness(t, numbered(100));
  const { id } = scene.warmUps.start({ domain: 'goods', from: 'popular', maxPerSecond: 100 });
  await scene.pass(100);
  scene.warmUps.close();
  const { settled } = scene.look(id);
  const asked = scene.asked.length;
  await scene.pass(1000);
  assert.deepEqual([scene.look(id).state, scene.look(id).settled, scene.asked.length], ['stopped', settled, asked]);
});
