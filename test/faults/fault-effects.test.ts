import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allEffects, faultEffect, grew, stateOf } from './fault-effects.ts';
import type { Harness } from './row.ts';

const noHarness = {} as Harness;

test('the evidence compares a reading before the fault with one at its end and shows both', async () => {
  let count = 1;
  const traceOf = await grew('things', () => [count, 5]).watch(noHarness);
  assert.deepEqual(await traceOf(), { found: false, evidence: 'things: [1,5] → [1,5]' });
  count = 2;
  assert.equal((await traceOf()).found, false, 'one of two did not grow');
  const counted = await grew('things', () => [count]).watch(noHarness);
  count = 3;
  assert.deepEqual(await counted(), { found: true, evidence: 'things: [2] → [3]' });
});

test('an empty reading and a failed reading are no evidence', async () => {
  const empty = await grew('things', () => []).watch(noHarness);
  assert.equal((await empty()).found, false);
  const failing = faultEffect(
    'things',
    () => Promise.reject(new Error('no server')),
    () => true,
  );
  assert.deepEqual(await (await failing.watch(noHarness))(), {
    found: false,
    evidence: 'things: could not be read: no server',
  });
});

test('two effects together are found when each is found', async () => {
  const says = (is: boolean) =>
    faultEffect(
      'it',
      () => is,
      () => is,
    );
  const both = await allEffects(says(true), says(true)).watch(noHarness);
  assert.deepEqual(await both(), { found: true, evidence: 'it: true → true; it: true → true' });
  const one = await allEffects(says(true), says(false)).watch(noHarness);
  assert.equal((await one()).found, false);
});

test('a running process is found as such, and a process that does not exist is gone', () => {
  assert.equal(stateOf(process.pid), 'runs');
  assert.equal(stateOf(2 ** 22 + 1), 'gone');
});
