import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numbered, type WarmHarness, warmHarness } from './harness.ts';

const start = ({ warmUps }: WarmHarness, maxPerSecond = 1000): string =>
  warmUps.start({ domain: 'goods', from: 'queries', maxPerSecond }).id;

test('queries that are fed are taken until the last, then it is done', async (t) => {
  const scene = warmHarness(t);
  const id = start(scene);
  assert.equal(scene.warmUps.feed(id, numbered(10), false).taken, 10);
  await scene.pass(1000);
  assert.deepEqual([scene.look(id).settled, scene.look(id).state], [10, 'waiting']);
  const fed = scene.warmUps.feed(id, numbered(5, 'more'), true);
  assert.deepEqual([fed.taken, fed.warmUp.taken, fed.warmUp.state], [5, 15, 'running']);
  await scene.pass(1000);
  assert.deepEqual([scene.look(id).state, scene.look(id).computed], ['done', 15]);
  assert.deepEqual(scene.warmUps.feed(id, ['late'], true).taken, 0);
});

test('it takes what it has room for, and the last is only the last when it was taken', async (t) => {
  const scene = warmHarness(t);
  const id = start(scene);
  const many = numbered(3000);
  assert.equal(scene.warmUps.feed(id, many, true).taken, 2000);
  assert.equal(scene.warmUps.feed(id, many.slice(2000), true).taken, 0);
  await scene.pass(1000);
  const { settled } = scene.look(id);
  assert.equal(scene.warmUps.feed(id, many.slice(2000), true).taken, settled);
  while (scene.look(id).taken < 3000) {
    await scene.pass(500);
    scene.warmUps.feed(id, many.slice(scene.look(id).taken), true);
  }
  await scene.pass(15_000);
  assert.deepEqual([scene.look(id).state, scene.look(id).settled], ['done', 3000]);
  assert.deepEqual(scene.asked.toSorted(), many.toSorted());
});

test('nothing is fed after the last, nor to one that is not fed', (t) => {
  const scene = warmHarness(t, numbered(10));
  const id = start(scene);
  scene.warmUps.feed(id, ['one'], true);
  assert.throws(() => scene.warmUps.feed(id, ['two'], true), { code: 'invalid-request' });
  assert.equal(scene.warmUps.feed(id, [], true).taken, 0);
  const popular = scene.warmUps.start({ domain: 'auto', from: 'popular', maxPerSecond: 1 });
  assert.throws(() => scene.warmUps.feed(popular.id, ['x'], false), { code: 'invalid-request' });
});

test('nothing at all but the last is done at once', async (t) => {
  const scene = warmHarness(t);
  const id = start(scene);
  scene.warmUps.feed(id, [], true);
  await scene.pass(50);
  assert.deepEqual([scene.look(id).state, scene.look(id).taken], ['done', 0]);
});

test('what is no search is counted and asked of nobody', async (t) => {
  const scene = warmHarness(t);
  const id = start(scene);
  scene.warmUps.feed(id, ['one', 'what?', 'x'.repeat(5000), 'two'], true);
  await scene.pass(500);
  assert.deepEqual(scene.asked, ['one', 'two']);
  const { state, settled, computed, invalid } = scene.look(id);
  assert.deepEqual([state, settled, computed, invalid], ['done', 4, 2, 2]);
});

test('only what was settled without a gap counts, so that a file can be resumed there', async (t) => {
  const scene = warmHarness(t);
  const id = start(scene);
  scene.answer = (line) => (line === 'query 3' ? 'refused' : 'computed');
  scene.warmUps.feed(id, numbered(20), true);
  await scene.pass(1500);
  assert.ok(scene.asked.length >= 15, 'the others went on');
  assert.deepEqual([scene.look(id).settled, scene.look(id).computed, scene.look(id).failed], [3, 3, 0]);
  await scene.pass(1500);
  const { state, settled, computed, failed } = scene.look(id);
  assert.deepEqual([state, settled, computed, failed], ['done', 20, 19, 1]);
});

test('what was shed is tried once more later, and then it has failed', async (t) => {
  const scene = warmHarness(t);
  const refusals = new Map([
    ['query 1', 1],
    ['query 2', 9],
  ]);
  scene.answer = (line) => {
    const left = refusals.get(line) ?? 0;
    refusals.set(line, left - 1);
    return left > 0 ? 'refused' : 'computed';
  };
  const id = start(scene);
  scene.warmUps.feed(id, numbered(4), true);
  await scene.pass(6000);
  const times = (line: string): number => scene.asked.filter((each) => each === line).length;
  assert.deepEqual(numbered(4).map(times), [1, 2, 2, 1]);
  const { state, computed, failed } = scene.look(id);
  assert.deepEqual([state, computed, failed], ['done', 3, 1]);
});

test('an engine that refuses everything is asked ever less', async (t) => {
  const scene = warmHarness(t);
  scene.answer = () => 'refused';
  const id = start(scene);
  scene.warmUps.feed(id, numbered(500), true);
  await scene.pass(2000);
  assert.equal(scene.look(id).state, 'waiting');
  await scene.pass(18_000);
  assert.ok(scene.asked.length < 30, `${scene.asked.length} in 20 s`);
  scene.answer = () => 'computed';
  await scene.pass(20_000);
  const { state, settled, failed } = scene.look(id);
  assert.deepEqual([state, settled], ['done', 500]);
  assert.ok(failed < 30, `${failed} given up`);
});

test('one that nobody feeds any more stops by itself after five minutes', async (t) => {
  const scene = warmHarness(t);
  const id = start(scene);
  scene.warmUps.feed(id, numbered(3), false);
  await scene.pass(299_000);
  assert.equal(scene.look(id).state, 'waiting');
  scene.warmUps.feed(id, [], false);
  await scene.pass(299_000);
  assert.equal(scene.look(id).state, 'waiting');
  await scene.pass(1500);
  assert.equal(scene.look(id).state, 'stopped');
  const said = scene.events.at(-1);
  assert.ok(said?.kind === 'warm-up-ended' && /5 minutes/.test(said.detail ?? ''));
});

test('one that is slow is not taken for one that nobody feeds', async (t) => {
  const scene = warmHarness(t);
  scene.people = 8;
  const id = start(scene);
  scene.warmUps.feed(id, numbered(3), false);
  await scene.pass(301_000);
  assert.deepEqual([scene.look(id).state, scene.asked.length], ['waiting', 0]);
  scene.people = 0;
  await scene.pass(1000);
  assert.equal(scene.look(id).settled, 3);
});
