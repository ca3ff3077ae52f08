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
  mode: fc.constantFrom('refresh' as const, 'drop' as const, 'erase' as const),
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

/** A step with arbitrary arguments. */
const step = <Args extends unknown[]>(
  apply: (document: ControlDocument, ...args: Args) => ControlDocument,
  ...args: { [Key in keyof Args]: fc.Arbitrary<Args[Key]> }
): fc.Arbitrary<Step> =>
  fc.tuple<Args>(...args).map(
    (given): Step =>
      (document) =>
        apply(document, ...given),
  );

const by = 'someone';

/** Any change of a shadow or a cut-over. One step takes a cut-over to its end, which single steps reach too rarely. */
const anyPlacementStep: fc.Arbitrary<Step> = fc.oneof(
  step(
    (document, of, share, copies, at, forMs) => {
      const shadow = { id: of, candidate, fraction: share, reads: copies, by, atMs: at };
      return beginShadow(document, { ...shadow, untilMs: at + forMs }, at);
    },
    shadowId,
    fraction,
    reads,
    atMs,
    fc.integer({ min: 0, max: 1_000_000 }),
  ),
  step((document, of, share) => changeShadow(document, of, { fraction: share }), shadowId, fraction),
  step(endShadow, shadowId),
  step(prepareCutOver, cutOver),
  step(commitCutOver, cutOverId, atMs),
  step(cancelPrepared, cutOverId),
  step((document, of, at) => reverseCutOver(document, { id: of, by, atMs: at }), cutOverId, atMs),
  step(
    (document, asked, isSettled) => {
      const committed = commitCutOver(prepareCutOver(document, asked), asked.id, asked.atMs);
      return isSettled ? settle(committed, asked.id) : committed;
    },
    cutOver,
    fc.boolean(),
  ),
  step(settle, cutOverId),
  fc.constant<Step>(clearPlacement),
);

/** Any change of an operator or a drill. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  step(raiseFloors, ranges, atMs),
  step((document, on, at) => raiseFreshFloors(document, on, at, `index ${at}`), ranges, atMs),
  step(purge, id, atMs),
  step(suppress, fc.array(id), atMs),
  step(lift, fc.array(id)),
  step(beginOverlay, overlay),
  step((document, of, on) => changeOverlay(document, of, { ranges: on }), drill, ranges),
  step(endOverlay, drill),
  step((document, at) => halt(document, { reason: 'enough', by, atMs: at }), atMs),
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
