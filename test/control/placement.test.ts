import assert from 'node:assert/strict';
import { test } from 'node:test';
import { halt, liftHalt, suppress } from '../../src/control/changes.ts';
import { summaryOf } from '../../src/control/control.ts';
import { type ControlDocument, emptyDocument } from '../../src/control/document.ts';
import { beginOverlay, endOverlay } from '../../src/control/overlay.ts';
import {
  beginShadow,
  cancelPrepared,
  changeShadow,
  clearPlacement,
  commitCutOver,
  endShadow,
  prepareCutOver,
  reverseCutOver,
  settle,
} from '../../src/control/placement.ts';
import { plain } from '../plain.ts';
import { ASKED, createHarness } from './harness.ts';
import { storeRef } from './random-document.ts';

const [OLD, NEW] = [storeRef('old'), storeRef('new')];
const SHADOW = { id: 's', candidate: NEW, fraction: 0.1, reads: 3, by: 'ann', atMs: 10, untilMs: 1000 };
const CUT_OVER = { id: 'c', from: OLD, to: NEW, by: 'ann', atMs: 20 };
const shadowed = beginShadow(emptyDocument, SHADOW, 10);
const prepared = prepareCutOver(shadowed, CUT_OVER);
const committed = commitCutOver(prepared, 'c', 30);
const settled = settle(committed, 'c');
const drilled = beginOverlay(emptyDocument, ASKED);
const stop = (document: ControlDocument): ControlDocument => halt(document, { reason: 'enough', by: 'bob', atMs: 40 });

test('a domain has one shadow: a second is refused with the name of the first, until the first is over', () => {
  assert.equal(shadowed.shadow, SHADOW);
  const second = { ...SHADOW, id: 't', atMs: 500, untilMs: 2000 };
  assert.throws(() => beginShadow(shadowed, second, 999), { code: 'shadow-running', message: /new.*ann/ });
  assert.equal(beginShadow(shadowed, second, 1000).shadow, second);
});

test('fraction and reads of the running shadow can be changed, each alone', () => {
  assert.deepEqual(changeShadow(shadowed, 's', { fraction: 0.5 }).shadow, { ...SHADOW, fraction: 0.5 });
  assert.deepEqual(changeShadow(shadowed, 's', { reads: 5 }).shadow, { ...SHADOW, reads: 5 });
  for (const document of [emptyDocument, beginShadow(emptyDocument, { ...SHADOW, id: 't' }, 10)]) {
    assert.throws(() => changeShadow(document, 's', { reads: 5 }), { code: 'no-shadow', message: /shadow s / });
  }
});

test('the end of a shadow leaves the document as it was, and the end of another one changes nothing', () => {
  assert.deepEqual(endShadow(shadowed, 's'), emptyDocument);
  assert.equal(endShadow(shadowed, 't'), shadowed);
  assert.equal(endShadow(emptyDocument, 's'), emptyDocument);
});

test('a commit swaps the stores and ends the shadow, the way back swaps them again, and only the active one is left at last', () => {
  assert.deepEqual(plain(prepared.placement), {
    id: 'c',
    phase: 'prepared',
    active: OLD,
    other: NEW,
    by: 'ann',
    atMs: 20,
  });
  assert.equal(prepared.shadow, SHADOW);
  assert.deepEqual(committed.placement, { id: 'c', phase: 'committed', active: NEW, other: OLD, by: 'ann', atMs: 30 });
  assert.equal(committed.shadow, undefined);
  const back = reverseCutOver(committed, { id: 'd', by: 'bob', atMs: 40 });
  const returned = { id: 'd', phase: 'committed', active: OLD, other: NEW, by: 'bob', atMs: 40, reversed: true };
  assert.deepEqual(back.placement, returned);
  const again = () => reverseCutOver(back, { id: 'e', by: 'bob', atMs: 50 });
  assert.throws(again, { code: 'no-cut-over' }, 'a repeated call does not lead forward again');
  assert.deepEqual(settle(back, 'd').placement, { id: 'd', phase: 'settled', active: OLD, by: 'bob', atMs: 40 });
  assert.equal(settle(settled, 'c'), settled, 'a second time changes nothing');
  assert.deepEqual(clearPlacement(settled), emptyDocument);
});

test('a cancelled preparation leaves the placement before it: none, or the settled one', () => {
  assert.deepEqual(cancelPrepared(prepared, 'c'), shadowed);
  const next = { id: 'd', from: NEW, to: storeRef('third'), by: 'bob', atMs: 50 };
  const again = prepareCutOver(settled, next);
  const cancelled = cancelPrepared(again, 'd').placement;
  assert.deepEqual([cancelled?.phase, cancelled?.active, cancelled?.other], ['settled', NEW, undefined]);
  assert.equal(commitCutOver(again, 'd', 60).placement?.settledBefore, undefined);
  for (const document of [prepared, committed, emptyDocument]) assert.equal(cancelPrepared(document, 'd'), document);
  assert.equal(cancelPrepared(committed, 'c'), committed);
});

test('a cut-over from a store that has not been active since the last cut-over is refused', () => {
  assert.throws(() => prepareCutOver(settled, CUT_OVER), { code: 'cut-over-behind', message: /new holds.*not old/ });
});

test('a step of a cut-over that is not the next one is refused', () => {
  const reversal = { id: 'd', by: 'bob', atMs: 40 };
  const refused: readonly (readonly [string, () => unknown])[] = [
    ['commit without a preparation', () => commitCutOver(emptyDocument, 'c', 30)],
    ['commit of another cut-over', () => commitCutOver(prepared, 'd', 30)],
    ['commit for the second time', () => commitCutOver(committed, 'c', 30)],
    ['back without a cut-over', () => reverseCutOver(emptyDocument, reversal)],
    ['back before the commit', () => reverseCutOver(prepared, reversal)],
    ['back after the end', () => reverseCutOver(settled, reversal)],
    ['end before the commit', () => settle(prepared, 'c')],
    ['end of another cut-over', () => settle(committed, 'd')],
    ['end without a cut-over', () => settle(emptyDocument, 'c')],
  ];
  for (const [name, step] of refused) assert.throws(step, { code: 'no-cut-over' }, name);
  for (const document of [emptyDocument, prepared, committed]) assert.equal(clearPlacement(document), document);
});

test('during a cut-over neither a shadow nor a second cut-over begins; after its end both do', () => {
  for (const document of [endShadow(prepared, 's'), committed]) {
    const code = 'cut-over-running';
    assert.throws(() => beginShadow(document, SHADOW, 10), { code, message: /ann.*(old|new).*(old|new)/ });
    assert.throws(() => prepareCutOver(document, { ...CUT_OVER, id: 'd' }), { code });
  }
  assert.equal(beginShadow(settled, SHADOW, 10).shadow, SHADOW);
  assert.equal(prepareCutOver(settled, { ...CUT_OVER, from: NEW, to: OLD }).placement?.phase, 'prepared');
});

test('no step of a cut-over is made while a drill runs, and a shadow may begin', () => {
  const { overlay } = drilled;
  assert.ok(overlay);
  for (const step of [
    () => prepareCutOver(drilled, CUT_OVER),
    () => commitCutOver({ ...prepared, overlay }, 'c', 30),
    () => reverseCutOver({ ...committed, overlay }, { id: 'd', by: 'bob', atMs: 40 }),
  ]) {
    assert.throws(step, { code: 'drill-running', message: /rehearsal/ });
  }
  assert.equal(beginShadow(drilled, SHADOW, 10).shadow, SHADOW);
  assert.equal(prepareCutOver(endOverlay(drilled, ASKED.drill), CUT_OVER).placement?.phase, 'prepared');
});

test('a halt ends the shadow and cancels a prepared cut-over, keeps a committed one, and lets none begin', () => {
  const halted = stop(prepared);
  assert.deepEqual([halted.shadow, halted.placement], [undefined, undefined]);
  assert.equal(stop(prepareCutOver(settled, { ...CUT_OVER, from: NEW, to: OLD })).placement?.phase, 'settled');
  assert.equal(stop(committed).placement, committed.placement);
  assert.equal(stop(settled).placement, settled.placement);
  assert.equal(reverseCutOver(stop(committed), { id: 'd', by: 'bob', atMs: 50 }).placement?.active, OLD);
  for (const step of [() => beginShadow(halted, SHADOW, 10), () => prepareCutOver(halted, CUT_OVER)]) {
    assert.throws(step, { code: 'halted', message: /bob: enough/ });
  }
  assert.equal(beginShadow(liftHalt(halted), SHADOW, 10).shadow, SHADOW);
});

test('the summary names the candidate and the stores, without their fingerprints', () => {
  const state = { revision: 1, generation: 1, heardMsAgo: 0, shared: true, standing: 'ok' } as const;
  const summary = (document: ControlDocument) =>
    summaryOf({ document: () => document, overlay: () => undefined, state: () => state });
  assert.deepEqual(summary(prepared).shadow, { candidate: 'new', fraction: 0.1, reads: 3 });
  assert.deepEqual(summary(prepared).placement, { phase: 'prepared', active: 'old', other: 'new' });
  assert.deepEqual(plain(summary(settled).placement), { phase: 'settled', active: 'new' });
  const empty = summary(emptyDocument);
  assert.deepEqual([empty.revision, empty.placement, empty.shadow], [1, undefined, undefined]);
});

test('a fleet follows shadow and placement, over a wiped store and with clocks that are days apart', async (t) => {
  const harness = createHarness(t);
  const [first, other, ahead] = [harness.join('first'), harness.join('other'), harness.join('ahead', 3 * 86_400_000)];
  await harness.pass(1000);
  const nowMs = 1_800_000_000_000 + 3 * 86_400_000;
  const shadow = { ...SHADOW, atMs: nowMs, untilMs: nowMs + 30 * 86_400_000 };
  await harness.settle(ahead.control.change((one) => beginShadow(one, shadow, nowMs)));
  await harness.settle(ahead.control.change((one) => prepareCutOver(one, { ...CUT_OVER, atMs: nowMs })));
  await harness.pass(15_000);
  for (const { control } of [first, other]) {
    assert.deepEqual([control.document().shadow?.id, control.document().placement?.phase], ['s', 'prepared']);
  }
  await harness.settle(first.control.change((one) => commitCutOver(one, 'c', nowMs)));
  await harness.pass(1000);
  harness.wipe();
  const late = harness.join('late');
  await harness.settle(late.control.change((one) => suppress(one, ['sold'], 1)));
  await harness.pass(15_000);
  for (const { control } of [first, other, ahead, late]) {
    assert.deepEqual([control.document().placement?.phase, control.document().placement?.active], ['committed', NEW]);
  }
  for (const { events } of [first, other, ahead, late]) {
    assert.ok(!events.some(({ kind }) => kind === 'control-corrupt'), JSON.stringify(events));
  }
});
