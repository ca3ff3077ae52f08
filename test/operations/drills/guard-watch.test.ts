import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGuardWatch } from '../../../src/operations/drills/guards.ts';
import { planOf } from './rig.ts';

const { guards } = planOf({
  // biome-ignore lint/suspicious/noThenProperty: a word of the plan, and never awaited.
  guards: [{ figure: 'errorRate', max: 0.1, forMs: 2000, then: 'hold' }],
});

/** Looks every half second at what it is told. */
function looks(values: readonly (number | undefined)[]) {
  const watch = createGuardWatch(guards);
  return values.map((value, n) => watch.check(n * 500, () => value)[0]);
}

test('a guard is breached when it was broken for its whole time', () => {
  const states = looks([0.5, 0.5, 0.5, 0.5, 0.5]);
  assert.deepEqual(
    states.map((state) => state?.breached),
    [false, false, false, false, true],
  );
});

test('two short breaks do not add up', () => {
  const states = looks([0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0]);
  assert.ok(states.every((state) => state?.breached === false && state.turned === undefined));
});

test('a breached guard holds again when that is seen, not when nothing is', () => {
  const states = looks([0.5, 0.5, 0.5, 0.5, 0.5, undefined, undefined, 0]).slice(4);
  assert.deepEqual(
    states.map((state) => [state?.broken, state?.turned]),
    [
      [true, 'breached'],
      [true, undefined],
      [true, undefined],
      [false, 'holds'],
    ],
  );
});

test('what was never told breaks nothing', () => {
  const states = looks([undefined, 0.5, undefined, undefined, undefined, undefined, undefined]);
  assert.deepEqual(
    states.map((state) => state?.broken),
    [false, true, false, false, false, false, false],
  );
});
