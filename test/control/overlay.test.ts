import assert from 'node:assert/strict';
import { test } from 'node:test';
import { halt } from '../../src/control/changes.ts';
import { beginOverlay, changeOverlay, endOverlay } from '../../src/control/overlay.ts';
import { ASKED, drill, isFlushed, LEASE_MS, states, WHOLE } from './rehearsal.ts';
import { createScene } from './scene.ts';

test('a drill that is renewed lives everywhere, far beyond its lease, and its end restores everything', async (t) => {
  const scene = createScene(t);
  const fleet = ['owner', 'b', 'c', 'd'].map((name, index) => scene.join(name, index * 3_600_000 - 3_600_000));
  const [owner] = fleet;
  assert.ok(owner);
  await scene.pass(1000);
  await drill(scene, owner);
  assert.ok(isFlushed(owner), 'at once in the process that began it');
  assert.ok((await scene.until(() => fleet.every(isFlushed))) < 800);
  for (let turn = 0; turn < 40; turn += 1) {
    await scene.pass(500);
    assert.ok(fleet.every(isFlushed));
  }
  await scene.settle(owner.control.change((document) => endOverlay(document, 'rehearsal')));
  assert.ok(!isFlushed(owner));
  assert.ok((await scene.until(() => !fleet.some(isFlushed))) < 800);
  assert.deepEqual(fleet.map(states), ['live ended', 'live ended', 'live ended', 'live ended']);
});

for (const skewMs of [0, 5000, 3_600_000]) {
  test(`followers whose owner died go back by themselves within the lease and a second, clocks wrong by ${skewMs} ms`, async (t) => {
    const scene = createScene(t);
    const owner = scene.join('owner', skewMs);
    const fleet = [scene.join('b', -skewMs), scene.join('c', skewMs), scene.join('d', 0)];
    const dying = await drill(scene, owner);
    await scene.pass(10_240);
    assert.ok(fleet.every(isFlushed));
    dying.dies();
    const tookMs = await scene.until(() => !fleet.some(isFlushed));
    assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
    assert.ok(tookMs >= LEASE_MS - 1000, `${tookMs} ms: no follower gives an owner less than its lease`);
    assert.ok((await scene.until(() => !isFlushed(owner))) < 1000, 'so does the owner, which is only cut off');
    assert.deepEqual(fleet.map(states), ['live void', 'live void', 'live void']);
    await scene.pass(1000);
    assert.ok(
      fleet.every(({ control }) => control.document().overlay === undefined),
      'nobody took it away',
    );
    const late = scene.join('late');
    await scene.pass(2000);
    assert.equal(states(late), '', 'a newcomer has revived it');
  });
}

test('a newcomer gives a drill it has never seen renewed one lease and no more', async (t) => {
  const scene = createScene(t);
  const dying = await drill(scene, scene.join('owner'));
  await scene.pass(1000);
  dying.dies();
  await scene.pass(20_000);
  const late = scene.join('late');
  await scene.until(() => isFlushed(late));
  const tookMs = await scene.until(() => !isFlushed(late));
  assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
  await scene.pass(1000);
  const read = await scene.settle(scene.store.read('goods', undefined, 0));
  assert.ok(read.kind === 'value' && !read.value.toString().includes('rehearsal'));
});

test('a newcomer joins a drill whose owner lives', async (t) => {
  const scene = createScene(t);
  await drill(scene, scene.join('owner'));
  await scene.pass(5000);
  const late = scene.join('late');
  await scene.pass(10 * LEASE_MS);
  assert.ok(isFlushed(late));
  assert.equal(states(late), 'live');
});

test('a follower that is cut off goes back by itself and joins again, and ends the drill for nobody else', async (t) => {
  const scene = createScene(t);
  const owner = scene.join('owner');
  const [cut, other] = [scene.join('cut'), scene.join('other')];
  await drill(scene, owner);
  await scene.pass(2000);
  cut.meets('away');
  const tookMs = await scene.until(() => !isFlushed(cut));
  assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
  await scene.pass(10_000);
  assert.ok(isFlushed(other) && isFlushed(owner));
  cut.meets('well');
  assert.ok((await scene.until(() => isFlushed(cut))) <= 1500);
  await scene.pass(10_000);
  assert.deepEqual([owner, cut, other].map(isFlushed), [true, true, true]);
  assert.equal(states(cut), 'live void live');
});

test('an owner that was cut off for its lease finds its drill over', async (t) => {
  const scene = createScene(t);
  const owner = scene.join('owner');
  const other = scene.join('other');
  await drill(scene, owner);
  await scene.pass(2000);
  owner.meets('away');
  await scene.until(() => other.control.document().overlay === undefined);
  owner.meets('well');
  const widening = owner.control.change((document) => changeOverlay(document, 'rehearsal', { ranges: WHOLE }));
  await assert.rejects(scene.settle(widening), { code: 'drill-over' });
  assert.ok(!isFlushed(owner));
});

test('whoever halts ends the drill, and no other begins', async (t) => {
  const scene = createScene(t);
  const [owner, operator] = [scene.join('owner'), scene.join('operator')];
  await drill(scene, owner);
  await scene.pass(1000);
  const second = operator.control.change((document) => beginOverlay(document, { ...ASKED, drill: 'second' }));
  await assert.rejects(scene.settle(second), { code: 'drill-running', message: /rehearsal/ });
  await scene.settle(operator.control.change((one) => halt(one, { reason: 'enough', by: 'somebody', atMs: 1 })));
  assert.ok((await scene.until(() => !isFlushed(owner))) < 800);
  const third = owner.control.change((document) => beginOverlay(document, ASKED));
  await assert.rejects(scene.settle(third), { code: 'halted', message: /somebody.*enough/ });
});
