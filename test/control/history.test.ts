import assert from 'node:assert/strict';
import { test } from 'node:test';
import { halt, purge, suppress } from '../../src/control/changes.ts';
import { type ControlDocument, emptyDocument, MAX_LINE, MAX_PURGES } from '../../src/control/document.ts';
import { compareHistories, descendant, merge } from '../../src/control/merge.ts';
import { beginOverlay } from '../../src/control/overlay.ts';
import { pluck } from '../pluck.ts';
import { ASKED, createHarness } from './harness.ts';
import { after, type Step } from './random-document.ts';

const changes = (count: number, name: string): Step[] =>
  Array.from({ length: count }, (_, index) => (one) => suppress(one, [`${name}-${index % 20}`], 1));
const overlay = { ...ASKED, drill: 'd', ranges: [] };

test('older and newer are decided by ancestors, not by revisions', () => {
  const start = after(changes(3, 'c'));
  const left = after(changes(1, 'l'), start, 'l');
  const right = after(changes(9, 'r'), start, 'r');
  assert.equal(compareHistories(start, start), 'same');
  assert.equal(compareHistories(start, right), 'newer');
  assert.equal(compareHistories(right, start), 'older');
  assert.equal(compareHistories(left, right), 'diverged');
  assert.equal(compareHistories(right, left), 'diverged');
  assert.equal(compareHistories(emptyDocument, left), 'newer');
});

test('a new history is diverged and never newer, as long as its ancestors reach back to its start', () => {
  const known = after(changes(3, 'a'), emptyDocument, 'a');
  assert.equal(compareHistories(known, after(changes(MAX_LINE, 'b'), emptyDocument, 'b')), 'diverged');
});

test('a process that missed more changes than a document has ancestors follows the higher revision', () => {
  const start = after(changes(3, 'c'));
  const far = after(changes(2 * MAX_LINE, 'f'), start, 'f');
  assert.equal(far.line?.length, MAX_LINE);
  assert.equal(compareHistories(start, far), 'newer');
  assert.equal(compareHistories(far, start), 'older');
});

test('generations never fall: a higher revision with a lower generation is another history', () => {
  const start = after(changes(3, 'c'));
  const far = { ...after(changes(2 * MAX_LINE, 'f'), start, 'f'), generation: 2, suppressed: [] };
  assert.equal(compareHistories(start, far), 'diverged');
});

test('a drill goes on through a merge only when both documents hold it and neither is halted', () => {
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

test('a change whose reply was lost is made once, even if another process changed the document after it', async (t) => {
  const harness = createHarness(t);
  const [process, other] = [harness.join('process'), harness.join('other')];
  const { after: first } = await harness.settle(process.control.change((one) => suppress(one, ['first'], 1)));
  await harness.pass(1000);
  const change = process.control.change((one) => {
    process.storeIs('silent');
    return suppress(one, ['mine'], 1);
  });
  const builds = async (): Promise<void> => {
    const read = await harness.store.read('goods', undefined, 0);
    if (read.kind !== 'value' || !read.value.toString().includes('mine')) return builds();
    await other.control.change((one) => suppress(one, ['theirs'], 1));
    process.storeIs('up');
  };
  const [done] = await harness.settle(Promise.all([change, builds()]));
  assert.equal(done.after.revision, 2);
  await harness.pass(1000);
  const { revision, generation, suppressed } = process.control.document();
  assert.deepEqual([revision, generation, suppressed.length], [3, first.generation + 2, 3]);
  assert.deepEqual(other.control.document(), process.control.document());
});

test('a full list of purges has room again once the entries they affect have expired', async (t) => {
  const harness = createHarness(t);
  const { control } = harness.join('alone');
  const full: Step = (document) =>
    Array.from({ length: MAX_PURGES }, (_, index) => `text ${index}`).reduce(
      (one, text) => purge(one, text, 1),
      document,
    );
  await harness.settle(control.change(full));
  const { after: next } = await harness.settle(control.change((one) => purge(one, 'one more', 1)));
  assert.deepEqual(pluck(next.purges, 'text'), ['one more']);
  assert.equal(descendant(next, next, 'x').revision, next.revision + 1);
});
