import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suppress } from '../../src/control/changes.ts';
import { drill, isFlushed, LEASE_MS, states } from './rehearsal.ts';
import { createScene } from './scene.ts';

test('a store that was wiped counts renewals from nothing, which is no sign of life', async (t) => {
  const scene = createScene(t);
  const owner = scene.join('owner');
  const fleet = ['b', 'c', 'd', 'e'].map((name) => scene.join(name));
  const dying = await drill(scene, owner);
  await scene.pass(10_000);
  dying.dies();
  await scene.pass(1500);
  scene.wipe();
  const tookMs = await scene.until(() => !fleet.some(isFlushed));
  assert.ok(tookMs + 1500 <= LEASE_MS + 1000, `${tookMs} ms after the wipe`);
});

test('what operators change meanwhile is no sign of life of an owner', async (t) => {
  const scene = createScene(t);
  const [owner, operator, other] = [scene.join('owner'), scene.join('operator'), scene.join('other')];
  const dying = await drill(scene, owner);
  await scene.pass(2000);
  dying.dies();
  let tookMs = 0;
  for (; tookMs <= LEASE_MS + 1000 && (isFlushed(operator) || isFlushed(other)); tookMs += 250) {
    void operator.control.change((one) => suppress(one, [`sold-${tookMs}`], 1));
    await scene.pass(250);
  }
  assert.ok(!isFlushed(operator) && !isFlushed(other));
  for (const process of [operator, other]) assert.match(states(process), /^live (void|ended)$/, 'it was begun twice');
});

test('while the document cannot be read the drill may have been ended in it: renewals do not keep it', async (t) => {
  const scene = createScene(t);
  const [owner, other] = [scene.join('owner'), scene.join('other')];
  await drill(scene, owner);
  await scene.pass(2000);
  await scene.write({ tag: '99-later', value: Buffer.from('{"format":2}') });
  const tookMs = await scene.until(() => !isFlushed(other));
  assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
});
