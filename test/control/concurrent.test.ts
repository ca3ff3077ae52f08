import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../loadtest/random.ts';
import { suppress } from '../../src/control/changes.ts';
import { MAX_SUPPRESSED } from '../../src/control/document.ts';
import { decodeDocument, encodeDocument } from '../../src/control/document-codec.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import { beginOverlay, endOverlay } from '../../src/control/overlay.ts';
import { plain } from '../plain.ts';
import { assertNone } from '../pluck.ts';
import { createHarness, type StoreCondition } from './harness.ts';

test('a hundred concurrent changes by many processes are each made once', async (t) => {
  const harness = createHarness(t);
  const fleet = Array.from({ length: 6 }, (_, index) => harness.join(`process-${index}`));
  await harness.pass(1000);
  const changes = fleet.flatMap(({ control }, process) =>
    Array.from({ length: 20 }, (_, change) => control.change((one) => suppress(one, [`${process}-${change}`], 1))),
  );
  const done = await harness.settle(Promise.all(changes));
  const generations = done.map(({ after }) => after.generation);
  assert.equal(new Set(generations).size, 120);
  assert.equal(Math.max(...generations) - Math.min(...generations), 119);
  await harness.pass(1000);
  for (const { control } of fleet) {
    assert.deepEqual([control.document().revision, control.document().generation], [120, Math.max(...generations)]);
    assert.equal(new Set(control.document().suppressed.map(({ id }) => id)).size, 120);
  }
});

test('with an unreliable store a confirmed change is made, a refused one may be, and none is made twice', async (t) => {
  const harness = createHarness(t);
  const fleet = Array.from({ length: 4 }, (_, index) => harness.join(`process-${index}`));
  const random = seededRandom(7);
  let isOver = false;
  const disturb = async (): Promise<void> => {
    const conditions: readonly StoreCondition[] = ['up', 'up', 'down', 'silent'];
    while (!isOver) {
      for (const process of fleet) process.storeIs(conditions[Math.floor(random() * conditions.length)] ?? 'up');
      if (random() < 0.05) harness.wipe();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const process of fleet) process.storeIs('up');
  };
  void disturb();
  const confirmed: string[] = [];
  for (let change = 0; change < 60; change += 1) {
    const all = fleet.map(async ({ control }, process) => {
      const id = `${process}-${change}`;
      try {
        await control.change((one) => suppress(one, [id], 1));
        confirmed.push(id);
      } catch (error) {
        assert.ok(error instanceof OperationError && error.code === 'control-unavailable', String(error));
      }
    });
    await harness.settle(Promise.all(all));
  }
  isOver = true;
  await harness.pass(2000);
  const [first] = fleet;
  assert.ok(first && confirmed.length > 60, `only ${confirmed.length} of 240 were made`);
  const held = first.control.document().suppressed.map(({ id }) => id);
  assertNone(confirmed, (id) => !held.includes(id));
  assert.equal(new Set(held).size, held.length);
  for (const { control } of fleet) assert.deepEqual(plain(control.document()), plain(first.control.document()));
  const encoded = encodeDocument(first.control.document());
  assert.equal(decodeDocument(encoded, Date.now()).kind, 'document');
});

test('when several processes begin a drill at the same time, one succeeds', async (t) => {
  const harness = createHarness(t);
  const fleet = Array.from({ length: 8 }, (_, index) => harness.join(`process-${index}`));
  await harness.pass(1000);
  const begin = (drill: string) => (process: (typeof fleet)[number]) =>
    process.control.change((one) =>
      beginOverlay(one, { drill, owner: drill, leaseMs: 3000, mode: 'drop', ranges: [], blackout: false, cohorts: [] }),
    );
  const all = await harness.settle(Promise.allSettled(fleet.map((process, index) => begin(`drill-${index}`)(process))));
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
  const winner = all.findIndex(({ status }) => status === 'fulfilled');
  await harness.settle(fleet[0]?.control.change((one) => endOverlay(one, `drill-${winner}`)) ?? Promise.reject());
  await harness.pass(1000);
  assert.ok(fleet.every(({ control }) => control.overlay() === undefined));
});

test('a change beyond a bound is refused with its reason, and nothing changes', async (t) => {
  const harness = createHarness(t);
  const { control } = harness.join('alone');
  const ids = Array.from({ length: MAX_SUPPRESSED }, (_, index) => `id-${index}`);
  await harness.settle(control.change((one) => suppress(one, ids, 1)));
  await harness.settle(control.change((one) => suppress(one, ids, 1)));
  const before = control.document();
  const more = control.change((one) => suppress(one, ['one-more'], 1));
  await assert.rejects(harness.settle(more), { code: 'control-full' });
  const long = control.change((one) => ({ ...one, indexVersion: 'x'.repeat(200) }));
  await assert.rejects(harness.settle(long), { code: 'invalid-request', message: /indexVersion/ });
  assert.equal(control.document(), before);
});

test('each process reads the latest report of every process', async (t) => {
  const harness = createHarness(t);
  const [a, b] = [harness.join('a').control, harness.join('b').control];
  await harness.settle(Promise.all([a.report('a', { calls: 1 }), b.report('b', [2]), a.report('a', { calls: 3 })]));
  await harness.settle(harness.store.report('goods', 'foreign', Buffer.from('{'), 1000, 0));
  const read = await harness.settle(b.reports());
  assert.deepEqual(
    read,
    new Map<string, unknown>([
      ['a', { calls: 3 }],
      ['b', [2]],
    ]),
  );
});
