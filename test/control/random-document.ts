import fc from 'fast-check';
import { halt, lift, liftHalt, purge, raiseFloors, raiseFreshFloors, suppress } from '../../src/control/changes.ts';
import { type BucketRange, type ControlDocument, emptyDocument, type StoreRef } from '../../src/control/document.ts';
import { descendant } from '../../src/control/merge.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import { beginOverlay, changeOverlay, endOverlay } from '../../src/control/overlay.ts';
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

export type Step = (document: ControlDocument) => ControlDocument;

export const anyRange: fc.Arbitrary<BucketRange> = fc
  .tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 40 }))
  .map(([at, length]) => ({ from: at * 100, to: Math.min(10_000, (at + length) * 100) }));

const ranges = fc.array(anyRange, { minLength: 1, maxLength: 3 });
const atMs = fc.integer({ min: 0, max: 1_000_000 });
const id = fc.integer({ min: 0, max: 12 }).map((one) => `document ${one}`);
const drill = fc.constantFrom('drill-a', 'drill-b');
const overlay = fc.record({
  drill,
  owner: fc.constant('someone'),
  leaseMs: fc.constant(3000),
  mode: fc.constantFrom('refresh', 'drop', 'erase'),
  ranges: fc.array(anyRange, { maxLength: 2 }),
  blackout: fc.boolean(),
  cohorts: fc.array(ranges, { maxLength: 3 }),
});

export const storeRef = (name: string): StoreRef => ({ name, fingerprint: name.padEnd(16, '-') });
const [old, candidate, third] = ['old', 'candidate', 'third'].map(storeRef) as [StoreRef, StoreRef, StoreRef];
const shadowId = fc.constantFrom('shadow-a', 'shadow-b');
const cutOverId = fc.constantFrom('cut-over-a', 'cut-over-b');
const reads = fc.integer({ min: 1, max: 5 });
const fraction = fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100);
const cutOver = fc.record({
  id: cutOverId,
  from: fc.constantFrom(old, candidate),
  to: fc.constant(third),
  by: fc.constant('someone'),
  atMs,
});

/** Any change of a shadow or a cut-over. One step takes a cut-over to its end, which single steps reach too rarely. */
const anyPlacementStep: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(shadowId, fraction, reads, atMs, fc.integer({ min: 0, max: 1_000_000 })).map(
    ([of, share, copies, at, forMs]): Step =>
      (document) => {
        const shadow = { id: of, candidate, fraction: share, reads: copies, by: 'someone', atMs: at };
        return beginShadow(document, { ...shadow, untilMs: at + forMs }, at);
      },
  ),
  fc.tuple(shadowId, fraction).map(
    ([of, share]): Step =>
      (document) =>
        changeShadow(document, of, { fraction: share }),
  ),
  shadowId.map(
    (of): Step =>
      (document) =>
        endShadow(document, of),
  ),
  cutOver.map(
    (asked): Step =>
      (document) =>
        prepareCutOver(document, asked),
  ),
  fc.tuple(cutOverId, atMs).map(
    ([of, at]): Step =>
      (document) =>
        commitCutOver(document, of, at),
  ),
  cutOverId.map(
    (of): Step =>
      (document) =>
        cancelPrepared(document, of),
  ),
  fc.tuple(cutOverId, atMs).map(
    ([of, at]): Step =>
      (document) =>
        reverseCutOver(document, { id: of, by: 'someone', atMs: at }),
  ),
  fc.tuple(cutOver, fc.boolean()).map(
    ([asked, isSettled]): Step =>
      (document) => {
        const committed = commitCutOver(prepareCutOver(document, asked), asked.id, asked.atMs);
        return isSettled ? settle(committed, asked.id) : committed;
      },
  ),
  cutOverId.map(
    (of): Step =>
      (document) =>
        settle(document, of),
  ),
  fc.constant<Step>(clearPlacement),
);

/** Any change of an operator or a drill. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(ranges, atMs).map(
    ([on, at]): Step =>
      (document) =>
        raiseFloors(document, on, at),
  ),
  fc.tuple(ranges, atMs).map(
    ([on, at]): Step =>
      (document) =>
        raiseFreshFloors(document, on, at, `index ${at}`),
  ),
  fc.tuple(id, atMs).map(
    ([text, at]): Step =>
      (document) =>
        purge(document, text, at),
  ),
  fc.tuple(fc.array(id), atMs).map(
    ([ids, at]): Step =>
      (document) =>
        suppress(document, ids, at),
  ),
  fc.array(id).map(
    (ids): Step =>
      (document) =>
        lift(document, ids),
  ),
  overlay.map(
    (asked): Step =>
      (document) =>
        beginOverlay(document, asked as Parameters<typeof beginOverlay>[1]),
  ),
  fc.tuple(drill, ranges).map(
    ([of, on]): Step =>
      (document) =>
        changeOverlay(document, of, { ranges: on }),
  ),
  drill.map(
    (of): Step =>
      (document) =>
        endOverlay(document, of),
  ),
  atMs.map(
    (at): Step =>
      (document) =>
        halt(document, { reason: 'enough', by: 'someone', atMs: at }),
  ),
  fc.constant<Step>(liftHalt),
  { weight: 5, arbitrary: anyPlacementStep },
);

export const anySteps = fc.array(anyStep, { maxLength: 20 });

/** Applies the steps; a refused one changes nothing. Each change makes a descendant, stamped with `line` and its index. */
export function after(steps: readonly Step[], start: ControlDocument = emptyDocument, line = 'a'): ControlDocument {
  return steps.reduce((document, step, index) => {
    try {
      const next = step(document);
      return next === document ? document : descendant(next, document, `${line}${index}`);
    } catch (error) {
      if (error instanceof OperationError) return document;
      throw error;
    }
  }, start);
}
