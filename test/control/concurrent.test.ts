import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suppress } from '../../src/control/changes.ts';
import { MAX_SUPPRESSED } from '../../src/control/document.ts';
import { decodeDocument, encodeDocument } from '../../src/control/document-codec.ts';
import { OperationRefused } from '../../src/control/operation-error.ts';
import { beginOverlay, endOverlay } from '../../src/control/overlay.ts';
import { seededRandom } from '../fakes/clock.ts';
import { createScene, type Weather } from './scene.ts';

test('of hundreds of changes by many processes none is lost and none made twice', async (t) => {
  const scene = createScene(t);
  const fleet = Array.from({ length: 6 }, (_, index) => scene.join(`process-${index}`));
  await scene.pass(1000);
  const changes = fleet.flatMap(({ control }, process) =>
    Array.from({ length: 50 }, (_, change) => control.change((one) => suppress(one, [`${process}-${change}`], 1))),
  );
  const done = await scene.settle(Promise.all(changes));
  const generations = done.map(({ after }) => after.generation);
  assert.equal(new Set(generations).size, 300);
  assert.equal(Math.max(...generations) - Math.min(...generations), 299);
  await scene.pass(1000);
  for (const { control } of fleet) {
    assert.deepEqual([control.document().revision, control.document().generation], [300, Math.max(...generations)]);
    assert.equal(new Set(control.document().suppressed.map(({ id }) => id)).size, 300);
  }
});

test('in bad weather what was said to be done is done, and what was refused may be; never twice', async (t) => {
  const scene = createScene(t);
  const fleet = Array.from({ length: 4 }, (_, index) => scene.join(`process-${index}`));
  const random = seededRandom(7);
  let isOver = false;
  const storm = async (): Promise<void> => {
    const weathers: readonly Weather[] = ['well', 'well', 'away', 'deaf'];
    while (!isOver) {
      for (const process of fleet) process.meets(weathers[Math.floor(random() * weathers.length)] ?? 'well');
      if (random() < 0.05) scene.wipe();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const process of fleet) process.meets('well');
  };
  void storm();
  const said: string[] = [];
  for (let change = 0; change < 60; change += 1) {
    const all = fleet.map(async ({ control }, process) => {
      const id = `${process}-${change}`;
      try {
        await control.change((one) => suppress(one, [id], 1));
        said.push(id);
      } catch (error) {
        assert.ok(error instanceof OperationRefused && error.code === 'control-unavailable', String(error));
      }
    });
    await scene.settle(Promise.all(all));
  }
  isOver = true;
  await scene.pass(2000);
  const [first] = fleet;
  assert.ok(first && said.length > 60, `only ${said.length} of 240 were made`);
  const held = first.control.document().suppressed.map(({ id }) => id);
  assert.deepEqual(
    said.filter((id) => !held.includes(id)),
    [],
  );
  assert.equal(new Set(held).size, held.length);
  for (const { control } of fleet) assert.deepEqual(control.document(), first.control.document());
  const encoded = encodeDocument(first.control.document());
  assert.equal(decodeDocument(encoded, Date.now()).kind, 'document');
});

test('of many who begin a drill at once one does', async (t) => {
  const scene = createScene(t);
  const fleet = Array.from({ length: 8 }, (_, index) => scene.join(`process-${index}`));
  await scene.pass(1000);
  const begin = (drill: string) => (process: (typeof fleet)[number]) =>
    process.control.change((one) =>
      beginOverlay(one, { drill, owner: drill, leaseMs: 3000, mode: 'drop', ranges: [], blackout: false, cohorts: [] }),
    );
  const all = await scene.settle(Promise.allSettled(fleet.map((process, index) => begin(`drill-${index}`)(process))));
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
  const winner = all.findIndex(({ status }) => status === 'fulfilled');
  await scene.settle(fleet[0]?.control.change((one) => endOverlay(one, `drill-${winner}`)) ?? Promise.reject());
  await scene.pass(1000);
  assert.ok(fleet.every(({ control }) => control.overlay() === undefined));
});

test('what is over a bound is refused with words, and nothing changes', async (t) => {
  const scene = createScene(t);
  const { control } = scene.join('alone');
  const ids = Array.from({ length: MAX_SUPPRESSED }, (_, index) => `id-${index}`);
  await scene.settle(control.change((one) => suppress(one, ids, 1)));
  await scene.settle(control.change((one) => suppress(one, ids, 1)));
  const before = control.document();
  const more = control.change((one) => suppress(one, ['one-more'], 1));
  await assert.rejects(scene.settle(more), { code: 'control-full' });
  const long = control.change((one) => ({ ...one, indexVersion: 'x'.repeat(200) }));
  await assert.rejects(scene.settle(long), { code: 'invalid-request', message: /indexVersion/ });
  assert.equal(control.document(), before);
});

test('reports of all are what each of them reads', async (t) => {
  const scene = createScene(t);
  const [a, b] = [scene.join('a').control, scene.join('b').control];
  await scene.settle(Promise.all([a.report('a', { calls: 1 }), b.report('b', [2]), a.report('a', { calls: 3 })]));
  await scene.settle(scene.store.report('goods', 'foreign', Buffer.from('{'), 1000, 0));
  const read = await scene.settle(b.reports());
  assert.deepEqual(
    read,
    new Map<string, unknown>([
      ['a', { calls: 3 }],
      ['b', [2]],
    ]),
  );
});
