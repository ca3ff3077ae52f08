import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bed } from './bed.ts';
import { all, felt, grew, stateOf } from './felt.ts';

const noBed = {} as Bed;

test('evidence compares a reading before with one at the end, and tells both', async () => {
  let count = 1;
  const traceOf = await grew('things', () => [count, 5]).watch(noBed);
  assert.deepEqual(await traceOf(), { felt: false, evidence: 'things: [1,5] → [1,5]' });
  count = 2;
  assert.equal((await traceOf()).felt, false, 'one of two did not grow');
  const counted = await grew('things', () => [count]).watch(noBed);
  count = 3;
  assert.deepEqual(await counted(), { felt: true, evidence: 'things: [2] → [3]' });
});

test('nothing to read and a reading that fails are no evidence', async () => {
  const empty = await grew('things', () => []).watch(noBed);
  assert.equal((await empty()).felt, false);
  const failing = felt(
    'things',
    () => Promise.reject(new Error('no server')),
    () => true,
  );
  assert.deepEqual(await (await failing.watch(noBed))(), {
    felt: false,
    evidence: 'things: could not be read: no server',
  });
});

test('two proofs are one proof when both are given', async () => {
  const says = (is: boolean) =>
    felt(
      'it',
      () => is,
      () => is,
    );
  const both = await all(says(true), says(true)).watch(noBed);
  assert.deepEqual(await both(), { felt: true, evidence: 'it: true → true; it: true → true' });
  const one = await all(says(true), says(false)).watch(noBed);
  assert.equal((await one()).felt, false);
});

test('a process runs, and one that there is not is gone', () => {
  assert.equal(stateOf(process.pid), 'runs');
  assert.equal(stateOf(2 ** 22 + 1), 'gone');
});
