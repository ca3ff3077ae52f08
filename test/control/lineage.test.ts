import assert from 'node:assert/strict';
import { test } from 'node:test';
import { halt, purge, suppress } from '../../src/control/changes.ts';
import { type ControlDocument, emptyDocument, MAX_LINE, MAX_PURGES } from '../../src/control/document.ts';
import { descendant, lineageOf, merge } from '../../src/control/merge.ts';
import { beginOverlay, type OverlayAsked } from '../../src/control/overlay.ts';
import { after, type Step } from './random-document.ts';
import { createScene } from './scene.ts';

const changes = (count: number, name: string): Step[] =>
  Array.from({ length: count }, (_, index) => (one) => suppress(one, [`${name}-${index % 20}`], 1));
const overlay: OverlayAsked = {
  drill: 'd',
  owner: 'o',
  leaseMs: 3000,
  mode: 'drop',
  ranges: [],
  blackout: false,
  cohorts: [],
};

test('older and newer are told by descent, not by the number', () => {
  const start = after(changes(3, 'c'));
  const left = after(changes(1, 'l'), start, 'l');
  const right = after(changes(9, 'r'), start, 'r');
  assert.equal(lineageOf(start, start), 'same');
  assert.equal(lineageOf(start, right), 'newer');
  assert.equal(lineageOf(right, start), 'older');
  assert.equal(lineageOf(left, right), 'diverged');
  assert.equal(lineageOf(right, left), 'diverged');
  assert.equal(lineageOf(emptyDocument, left), 'newer');
});

test('a line that began anew is never taken for a newer one, however far it went, while that can be told', () => {
  const known = after(changes(3, 'a'), emptyDocument, 'a');
  assert.equal(lineageOf(known, after(changes(MAX_LINE, 'b'), emptyDocument, 'b')), 'diverged');
});

test('whoever was away for more changes than a line remembers follows the higher revision', () => {
  const start = after(changes(3, 'c'));
  const far = after(changes(2 * MAX_LINE, 'f'), start, 'f');
  assert.equal(far.line?.length, MAX_LINE);
  assert.equal(lineageOf(start, far), 'newer');
  assert.equal(lineageOf(far, start), 'older');
});

test('generations never fall: a higher revision that counts fewer is another line', () => {
  const start = after(changes(3, 'c'));
  const far = { ...after(changes(2 * MAX_LINE, 'f'), start, 'f'), generation: 2, suppressed: [] };
  assert.equal(lineageOf(start, far), 'diverged');
});

test('a drill goes on through a merge only when both lines know it, and neither is halted', () => {
  const plain = after(changes(1, 'c'));
  const drilling = after([(one) => beginOverlay(one, overlay)], plain, 'c');
  const both = merge(after(changes(1, 'l'), drilling, 'l'), after(changes(1, 'r'), drilling, 'r'), 'm');
  assert.equal(both.overlay?.drill, 'd');
  const one = merge(after(changes(2, 'l'), drilling, 'l'), after(changes(1, 'r'), plain, 'r'), 'm');
  assert.equal(one.overlay, undefined);
  const halted: Step = (document: ControlDocument) => halt(document, { reason: 'r', by: 'b', atMs: 1 });
  const stopped = merge(after(changes(1, 'l'), drilling, 'l'), after([halted], drilling, 'r'), 'm');
  assert.deepEqual([stopped.overlay, stopped.halted?.reason], [undefined, 'r']);
});

test('a change that others have built upon before its lost reply was looked for is made once', async (t) => {
  const scene = createScene(t);
  const [process, other] = [scene.join('process'), scene.join('other')];
  const { after: first } = await scene.settle(process.control.change((one) => suppress(one, ['first'], 1)));
  await scene.pass(1000);
  const change = process.control.change((one) => {
    process.meets('deaf');
    return suppress(one, ['mine'], 1);
  });
  const builds = async (): Promise<void> => {
    const read = await scene.store.read('goods', undefined, 0);
    if (read.kind !== 'value' || !read.value.toString().includes('mine')) return builds();
    await other.control.change((one) => suppress(one, ['theirs'], 1));
    process.meets('well');
  };
  const [done] = await scene.settle(Promise.all([change, builds()]));
  assert.equal(done.after.revision, 2);
  await scene.pass(1000);
  const { revision, generation, suppressed } = process.control.document();
  assert.deepEqual([revision, generation, suppressed.length], [3, first.generation + 2, 3]);
  assert.deepEqual(other.control.document(), process.control.document());
});

test('a full list has room again when what is in it was outlived', async (t) => {
  const scene = createScene(t);
  const { control } = scene.join('alone');
  const full: Step = (document) =>
    Array.from({ length: MAX_PURGES }, (_, index) => `text ${index}`).reduce(
      (one, text) => purge(one, text, 1),
      document,
    );
  await scene.settle(control.change(full));
  const { after: next } = await scene.settle(control.change((one) => purge(one, 'one more', 1)));
  assert.deepEqual(
    next.purges.map(({ text }) => text),
    ['one more'],
  );
  assert.equal(descendant(next, next, 'x').revision, next.revision + 1);
});
