import fc from 'fast-check';
import { halt, lift, liftHalt, purge, raiseFloors, raiseFreshFloors, suppress } from '../../src/control/changes.ts';
import { type BucketRange, type ControlDocument, emptyDocument } from '../../src/control/document.ts';
import { descendant } from '../../src/control/merge.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import { beginOverlay, changeOverlay, endOverlay } from '../../src/control/overlay.ts';

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
